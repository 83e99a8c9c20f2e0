"""How a worker shares itself out among controllers, so that one which does not answer holds up nobody else's."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ipucloud.kernel.clock import Clock
from ipucloud.reconcile.outcomes import backoff
from ipucloud.site.ports import VipuAddress

MAX_CONCURRENT = 4
"""Looks at one controller at the same time; a worker has more slots than that for everybody else."""


@dataclass
class _Line:
    looking: int = 0
    failures: int = 0
    closed_until: float = 0.0


class Controllers:
    """What this worker has seen of each controller. Nothing here is shared, and nothing has to be.

    `pause`: seconds for which nobody asks again after a first failure, and at most for a turn.
    """

    def __init__(self, clock: Clock, draw: random.Random, *, pause: float) -> None:
        self._clock = clock
        self._draw = draw
        self._pause = pause
        self._lines: dict[VipuAddress, _Line] = {}

    def wait_for(self, address: VipuAddress) -> float | None:
        """Seconds after which to try again; None: now. One that fails is tried by one look at a time, ever later."""
        line = self._lines.setdefault(address, _Line())
        left = line.closed_until - self._clock.monotonic()
        if left > 0:
            return left + self._draw.uniform(0, self._pause)
        if line.looking >= (1 if line.failures else MAX_CONCURRENT):
            return self._draw.uniform(self._pause / 2, self._pause)
        return None

    @contextmanager
    def looking(self, address: VipuAddress) -> Iterator[None]:
        """Around a look."""
        line = self._lines.setdefault(address, _Line())
        line.looking += 1
        try:
            yield
        finally:
            line.looking -= 1

    def answered(self, address: VipuAddress) -> None:
        line = self._lines.setdefault(address, _Line())
        line.failures, line.closed_until = 0, 0.0

    def failed(self, address: VipuAddress) -> float:
        """Seconds for which nobody should ask it again."""
        line = self._lines.setdefault(address, _Line())
        line.failures += 1
        pause = backoff(line.failures, self._draw, first=self._pause)
        line.closed_until = self._clock.monotonic() + pause
        return pause
