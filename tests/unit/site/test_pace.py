"""Calls to a site keep their pace, whatever comes at once."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime

import pytest

from ipucloud.site.calls import BURST_SECONDS, Pace

pytestmark = pytest.mark.anyio


class StoppedClock:
    """Time passes only where somebody sleeps: each sleeper wakes at its own instant."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.woken: list[float] = []

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.woken.append(self.seconds + seconds)


async def instants(pace: Pace, clock: StoppedClock, number: int) -> list[float]:
    """When each of so many callers, who come at once, may call."""
    clock.woken = []
    await asyncio.gather(*(pace.turn() for _ in range(number)))
    return [clock.seconds] * (number - len(clock.woken)) + clock.woken


@pytest.mark.parametrize("per_second", [0.5, 20.0, 1000.0])
async def test_a_crowd_is_spread(per_second: float) -> None:
    clock = StoppedClock()
    at = await instants(Pace(per_second, clock), clock, 2000)
    assert at == sorted(at)
    for start in (0.0, 0.3, 1.0, 4.0):
        inside = sum(start <= instant < start + 5 for instant in at)
        assert inside <= per_second * (5 + BURST_SECONDS) + 1


async def test_a_pause_earns_no_more_than_a_burst() -> None:
    clock = StoppedClock()
    pace = Pace(16.0, clock)
    await instants(pace, clock, 100)
    clock.seconds = 3600.0
    at = await instants(pace, clock, 100)
    assert sum(instant <= 3600.0 for instant in at) == 16.0 * BURST_SECONDS


async def test_no_limit_means_no_wait() -> None:
    clock = StoppedClock()
    assert await instants(Pace(math.inf, clock), clock, 50) == [0.0] * 50
