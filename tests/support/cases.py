"""Many small cases in one test, which names all that fail at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

_REASON = 400
"""The longest reason that is printed: one line a case."""

Case = Callable[[object], AbstractContextManager[None]]


@contextmanager
def all_cases() -> Iterator[Case]:
    """Gives what a case is entered by, with its name: `with case(name): assert …`. The next case is tried either way.

    Raises AssertionError at the end, from the first failure, with a line for each; also when no case was entered.
    """
    failures: list[tuple[str, BaseException]] = []
    entered = 0

    @contextmanager
    def case(name: object) -> Iterator[None]:
        nonlocal entered
        entered += 1
        try:
            yield
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  # of whatever kind: it is raised again
            failures.append((str(name), failure))

    yield case
    assert entered, "there was no case to try"
    if failures:
        lines = [f"  {name}: {_reason(failure)}" for name, failure in failures]
        raise AssertionError("\n".join([f"{len(failures)} of {entered} cases failed:", *lines])) from failures[0][1]


def _reason(failure: BaseException) -> str:
    text = " ".join(str(failure).split())[:_REASON]
    return text if isinstance(failure, AssertionError) and text else f"{type(failure).__name__}: {text}"
