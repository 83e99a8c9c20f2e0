"""Commands that Ctrl-C and SIGTERM end in order, at whatever moment they come."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ipucloud.process.signals import StopSignals, in_loop, interrupt, stop_signals

Result = TypeVar("Result")

REPEAT_SECONDS = 15.0
"""More than tidying up takes. A cancellation can be lost: until Python 3.12 by `asyncio.wait_for`, when what it waits
for comes at the same moment."""


@contextmanager
def interruptible() -> Iterator[StopSignals]:
    """While the block lasts, the first stop signal raises KeyboardInterrupt; a second one ends the process at once."""
    with stop_signals() as signals, signals.calling(interrupt):
        yield signals


def run_until_stopped(signals: StopSignals, main: Coroutine[Any, Any, Result]) -> Result:
    """Run `main`, which the first stop signal cancels; its tidying up is cancelled after a quarter of a minute.

    Raises KeyboardInterrupt when it was stopped.
    """

    async def stoppable() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None:
            raise AssertionError("a coroutine runs in a task")
        with in_loop(lambda: _stop(task, loop)) as stop, signals.calling(stop):
            return await main

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _stop(task: asyncio.Task[Any], loop: asyncio.AbstractEventLoop) -> None:
    task.cancel()
    loop.call_later(REPEAT_SECONDS, _stop, task, loop)
