"""How a worker divides its slots among controllers, so that an unresponsive one delays only its own clusters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ipucloud.kernel.clock import Clock
from ipucloud.reconcile.outcomes import backoff
from ipucloud.site.ports import VipuAddress

MAX_CONCURRENT = 4
"""Reconcile passes at one controller at the same time; a worker has more slots than that."""


@dataclass
class _Line:
    running: int = 0
    failures: int = 0
    closed_until: float = 0.0


class Controllers:
    """This worker's recent failures per controller. The state is local and need not be shared.

    `pause`: seconds without calls after a first failure, and the longest wait for a slot.
    """

    def __init__(self, clock: Clock, draw: random.Random, *, pause: float) -> None:
        self._clock = clock
        self._draw = draw
        self._pause = pause
        self._lines: dict[VipuAddress, _Line] = {}

    def wait_for(self, address: VipuAddress) -> float | None:
        """Seconds to wait before a call; None: none. A failing controller is tried by one pass at a time."""
        line = self._lines.setdefault(address, _Line())
        remaining = line.closed_until - self._clock.monotonic()
        if remaining > 0:
            return remaining + self._draw.uniform(0, self._pause)
        if line.running >= (1 if line.failures else MAX_CONCURRENT):
            return self._draw.uniform(self._pause / 2, self._pause)
        return None

    @contextmanager
    def pass_at(self, address: VipuAddress) -> Iterator[None]:
        """Around a pass."""
        line = self._lines.setdefault(address, _Line())
        line.running += 1
        try:
            yield
        finally:
            line.running -= 1

    def answered(self, address: VipuAddress) -> None:
        line = self._lines.setdefault(address, _Line())
        line.failures, line.closed_until = 0, 0.0

    def failed(self, address: VipuAddress) -> float:
        """Seconds during which no pass should call it."""
        line = self._lines.setdefault(address, _Line())
        line.failures += 1
        pause = backoff(line.failures, self._draw, first=self._pause)
        line.closed_until = self._clock.monotonic() + pause
        return pause
