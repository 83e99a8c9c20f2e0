"""Several API processes give one caller what one process would, but for a burst of each at first contact."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
import sqlalchemy as sa

from ipucloud.api.limits import RateLimiter
from ipucloud.api.shared_limits import SHARE_SECONDS, SharedLimits
from ipucloud.db.engine import Database
from ipucloud.identity.limits import KEPT_SECONDS, sweep
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

RATE, BURST, CALLER = 10.0, 40, "caller"


class ManualClock:
    """A clock that is set by hand."""

    at = 0.0

    def monotonic(self) -> float:
        return self.at


def limiters(clock: ManualClock, number: int = 3) -> list[RateLimiter]:
    """That of each process."""
    return [RateLimiter("token", RATE, BURST, clock) for _ in range(number)]  # type: ignore[arg-type]  # all it is asked


def allowed(each: RateLimiter, number: int = 1000, caller: str = CALLER) -> int:
    """How many of so many requests are served."""
    return sum(each.take(caller) >= 0 for _ in range(number))


async def share(db: Database, processes: Sequence[RateLimiter]) -> None:
    for each in processes:
        await SharedLimits([each]).share(db)


async def test_a_caller_gets_the_sustained_rate_once_however_many_processes_serve_it(db: Database) -> None:
    clock = ManualClock()
    processes = limiters(clock)
    assert sum(map(allowed, processes)) == 3 * BURST, "none has met the caller before"
    await share(db, processes)
    served, seconds = 0, 60
    for _ in range(int(seconds / SHARE_SECONDS)):
        clock.at += SHARE_SECONDS
        served += sum(map(allowed, processes))
        await share(db, processes)
    at_once = 3 * RATE * SHARE_SECONDS
    assert RATE * seconds / 2 < served <= RATE * seconds + at_once


async def test_a_caller_with_little_use_costs_no_statement_and_others_do_not_matter(db: Database) -> None:
    clock = ManualClock()
    one, other = limiters(clock, 2)
    allowed(one, BURST // 8)
    await share(db, [one, other])
    async with db.read() as connection:
        assert (await connection.execute(sa.text("SELECT count(*) FROM rate_limits"))).scalar_one() == 0
    allowed(one)
    allowed(other, BURST // 2)
    allowed(other, BURST // 2, "somebody else")
    await share(db, [one, other])
    assert allowed(other, caller="somebody else") == BURST // 2


async def test_what_was_long_ago_does_not_count(db: Database) -> None:
    clock = ManualClock()
    one, other = limiters(clock, 2)
    for _ in range(20):
        allowed(one), allowed(other, 10)
        await share(db, [one, other])
        clock.at += 1
    clock.at += BURST / RATE
    assert allowed(one, 10) == 10
    await share(db, [one])
    assert allowed(one) == BURST - 10


async def test_without_a_database_each_process_counts_for_itself(scratch_down: Database) -> None:
    clock = ManualClock()
    [one] = limiters(clock, 1)
    assert allowed(one) == BURST
    await share(scratch_down, [one])
    clock.at += 1
    assert allowed(one) == RATE


async def test_callers_who_are_gone_are_forgotten(db: Database, database: Scratch) -> None:
    [one] = limiters(ManualClock(), 1)
    allowed(one)
    await share(db, [one])
    async with db.read() as connection:
        now = (await connection.execute(sa.text("SELECT app_now()"))).scalar_one()
        try:
            for later, rows in ((KEPT_SECONDS - 60, 1), (KEPT_SECONDS + 60, 0)):
                stop_clock(database.owner_url, now + timedelta(seconds=later))
                await sweep(db)
                assert (await connection.execute(sa.text("SELECT count(*) FROM rate_limits"))).scalar_one() == rows
        finally:
            start_clock(database.owner_url)


@pytest.fixture
async def scratch_down() -> Database:
    """A database that does not answer."""
    return Database("postgresql://nobody@127.0.0.1:9/none", pool_size=1, pool_timeout=1.0, application="test")
