"""SIGTERM and SIGINT: the first one asks a process to stop, a second one ends it at once. SIGHUP: it reads files again.

The handlers are Python's own, not an event loop's: they run between any two instructions of the main thread and when a
system call is interrupted. A loop that is blocked, or has not started, does not delay them.

All are installed from the start: a SIGHUP during start-up does not end the process, as it would by default.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import NoReturn, TypeAlias

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
Stop: TypeAlias = Callable[[], object]

_NO_DESCRIPTOR = -1
_ALL_SIGNALS = 4096
"""Bytes to read at once: one for each signal that has arrived."""


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


@contextmanager
def in_loop(stop: Stop) -> Iterator[Stop]:
    """While the block lasts, a signal handler may call the result, which has the running event loop call `stop`.

    A handler runs when the interpreter executes its next instruction. A loop that has just begun to wait, or whose
    thread was not the one that was interrupted, executes none: signals therefore wake it through a socket, unless it
    has one of its own, as uvloop's has.
    """
    loop = asyncio.get_running_loop()
    receiver, sender = socket.socketpair()
    with receiver, sender:
        receiver.setblocking(False)
        sender.setblocking(False)
        before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        if before != _NO_DESCRIPTOR:
            signal.set_wakeup_fd(before)
        loop.add_reader(receiver, receiver.recv, _ALL_SIGNALS)
        try:
            yield partial(loop.call_soon_threadsafe, stop)
        finally:
            loop.remove_reader(receiver)
            if before == _NO_DESCRIPTOR:
                signal.set_wakeup_fd(before)


def interrupt() -> NoReturn:
    """A `stop` for code without an event loop. Raises KeyboardInterrupt."""
    raise KeyboardInterrupt


Reload: TypeAlias = Callable[[], object]


class ReloadSignal:
    """SIGHUP as this process receives it."""

    def __init__(self) -> None:
        self._early = False
        self._reload: Reload | None = None

    @contextmanager
    def calling(self, reload: Reload) -> Iterator[None]:
        """While the block lasts, each signal calls `reload`; at once if one has already arrived.

        The call runs in the main thread and may interrupt any code there.
        """
        self._reload = reload
        try:
            if self._early:
                reload()
            yield
        finally:
            self._reload = None

    def receive(self, _number: int, _frame: FrameType | None = None) -> None:
        if self._reload is None:
            self._early = True
        else:
            self._reload()


@contextmanager
def reload_signal() -> Iterator[ReloadSignal]:
    """Receive SIGHUP while the block lasts."""
    received = ReloadSignal()
    before = signal.signal(signal.SIGHUP, received.receive)
    try:
        yield received
    finally:
        signal.signal(signal.SIGHUP, before)
