"""The rate of a process's calls to its site."""

from __future__ import annotations

import math

from ipucloud.kernel.clock import Clock, SystemClock

BURST_SECONDS = 0.25
"""Seconds of unused calls that may be made at once before calls wait."""


class Pace:
    """A token bucket: `turn` returns when the caller may send one call, in order of arrival.

    Without it, a worker with ten thousand due work items would send them all at once to a site that has just recovered
    from an outage. `per_second` infinite: no waiting.
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
