"""Waiting for something that another process does."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Return as soon as the condition holds; fail with `what` when it does not within a generous time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {seconds:g} s: {what}")
        time.sleep(0.01)
