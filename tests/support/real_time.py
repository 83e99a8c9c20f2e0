"""A test that waits for real time fails: it says what it waits for (`waiting`), or is given its time.

Only sleeps of tests themselves count, and only those that end by themselves. `waiting.for_a_process` is for the few
that must let a process which they started go on for a while.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support import waiting

TESTS = str(Path(__file__).parents[1])
LONGEST = 0.2
"""Seconds of a pause between two questions."""
_TO_SLEEP, _TO_SLEEP_ASYNC = time.sleep, asyncio.sleep
_slept: list[str] = []


def _sleep(seconds: float) -> None:
    _TO_SLEEP(seconds)
    _note(seconds, _caller())


async def _sleep_from(caller: str | None, delay: float, result: Any) -> Any:
    answer = await _TO_SLEEP_ASYNC(delay, result)
    _note(delay, caller)
    return answer


def _sleep_async(delay: float, result: Any = None) -> Any:
    return _sleep_from(_caller(), delay, result)


def _caller() -> str | None:
    """Where a test sleeps; None when it is not a test that does."""
    frame = sys._getframe(2)
    path = frame.f_code.co_filename
    return f"{path}:{frame.f_lineno}" if path.startswith(TESTS) and path != waiting.__file__ else None


def _note(seconds: float, caller: str | None) -> None:
    if caller is not None and seconds > LONGEST:
        _slept.append(f"{seconds:g} s at {caller}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    _slept.clear()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "sleep", _sleep)
        patched.setattr(asyncio, "sleep", _sleep_async)
        answer = yield
    assert not _slept, f"the test waits for real time: {'; '.join(_slept)}"
    return answer
