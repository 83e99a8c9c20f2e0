"""SIGTERM and SIGINT: the first one asks a process to stop, a second one ends it at once.

The handlers are Python's own, not an event loop's: they run between any two instructions of the main thread and when a
system call is interrupted. A loop that is blocked, or has not started, does not delay them.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import NoReturn, TypeAlias

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
Stop: TypeAlias = Callable[[], object]


class StopSignals:
    """The stop signals of this process. `first` is the first one received, None if there was none."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self._stop: Stop | None = None

    @contextmanager
    def calling(self, stop: Stop) -> Iterator[None]:
        """While the block lasts, the first signal calls `stop`; at once if it has already arrived.

        The call runs in the main thread and may interrupt any code there. It may happen twice.
        """
        before, self._stop = self._stop, stop
        try:
            if self.first is not None:
                stop()
            yield
        finally:
            self._stop = before

    def receive(self, number: int, _frame: FrameType | None = None) -> None:
        if self.first is not None:
            os._exit(128 + number)
        self.first = signal.Signals(number)
        if self._stop is not None:
            self._stop()


@contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Record this process's stop signals while the block lasts; a second one ends it with status 128 + its number.

    Ending at once loses nothing that a killed process would not lose.
    """
    received = StopSignals()
    with ExitStack() as handlers:
        for number in STOP_SIGNALS:
            handlers.callback(signal.signal, number, signal.signal(number, received.receive))
        yield received


def in_loop(stop: Stop) -> Stop:
    """`stop`, called by the running event loop at its next turn."""
    return partial(asyncio.get_running_loop().call_soon_threadsafe, stop)


def interrupt() -> NoReturn:
    """A `stop` for code without an event loop. Raises KeyboardInterrupt."""
    raise KeyboardInterrupt
