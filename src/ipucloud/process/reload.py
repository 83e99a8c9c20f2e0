"""SIGHUP: a running process reads its files again.

The handler is installed from the start, like those of `signals`: a signal during start-up does not end the process, as
it would by default.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

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
