"""Waiting for what others do: as long as it takes on a machine with much else to do."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

PATIENCE = 180.0
"""Seconds after which something is taken for what never happens. No test waits so long unless it fails."""


def eventually(
    condition: Callable[[], object], what: str = "what the test waits for", seconds: float = PATIENCE
) -> None:
    """Return as soon as the condition holds; fail with `what` when it never does."""
    deadline, pauses = time.monotonic() + seconds, _pauses()
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {seconds:g} s: {what}")
        time.sleep(next(pauses))


async def until(condition: Callable[[], Awaitable[object]], what: str = "what the test waits for") -> None:
    """`eventually`, for a condition that is awaited."""
    pauses = _pauses()
    try:
        async with asyncio.timeout(PATIENCE):
            while not await condition():
                await asyncio.sleep(next(pauses))
    except TimeoutError:
        raise AssertionError(f"did not happen within {PATIENCE:g} s: {what}") from None


async def for_a_process(seconds: float) -> None:
    """Let a process that the test started go on for so long, where nothing tells that it is time."""
    await asyncio.sleep(seconds)


def _pauses() -> Iterator[float]:
    """Seconds between questions: each takes processor time from those whose work is waited for."""
    pause = 0.01
    while True:
        yield pause
        pause = min(pause * 1.25, 0.05)
