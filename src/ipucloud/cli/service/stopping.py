"""Ctrl-C and SIGTERM: both end a command in order, at whatever moment they come."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

REPEAT_SECONDS = 15.0
"""More than tidying up takes. A cancellation can be lost: until Python 3.12 by `asyncio.wait_for`, when what it waits
for comes at the same moment."""
STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt, as SIGINT does, while the block lasts."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_until_stopped(main: Coroutine[Any, Any, Result]) -> Result:
    """Run `main`, which SIGINT and SIGTERM cancel; a second one, or a quarter of a minute, cancels its tidying up.

    Raises KeyboardInterrupt when it was stopped.
    """

    async def stoppable() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None:
            raise AssertionError("a coroutine runs in a task")
        for number in STOPS:
            loop.add_signal_handler(number, _stop, task, loop)
        return await main

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _stop(task: asyncio.Task[Any], loop: asyncio.AbstractEventLoop) -> None:
    task.cancel()
    loop.call_later(REPEAT_SECONDS, _stop, task, loop)
