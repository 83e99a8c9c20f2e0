"""How many calls a second one process makes to its site."""

from __future__ import annotations

import math

from ipucloud.kernel.clock import Clock, SystemClock

BURST_SECONDS = 0.25
"""Calls of so much time may come at once, before others wait."""


class Pace:
    """A token bucket: `turn` returns when the caller may send one call, in the order in which they came.

    Without it a worker that comes back to ten thousand tickets would meet a site that comes back from an outage with
    all of them at once. `per_second` infinite: nobody waits.
    """

    def __init__(self, per_second: float = math.inf, clock: Clock | None = None) -> None:
        self._apart = 1 / per_second
        self._burst = max(self._apart, BURST_SECONDS)
        self._clock = clock or SystemClock()
        self._next = -math.inf

    async def turn(self) -> None:
        """Wait until a call may be sent."""
        if self._apart == 0:
            return
        now = self._clock.monotonic()
        mine = max(self._next, now - self._burst + self._apart)
        self._next = mine + self._apart
        if mine > now:
            await self._clock.sleep(mine - now)
