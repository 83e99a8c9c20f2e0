"""The database's clock is set back or forward by a day: nothing waits for longer than it may, and nothing is parked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import structlog

from ipucloud.db.engine import Database
from ipucloud.kernel.clock import SystemClock
from ipucloud.reconcile import metrics
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import Periodic, PeriodicTasks, WorkItem
from ipucloud.reconcile.watch import DatabaseWatch
from tests.support.postgres import Database as Scratch
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world
from tests.support.world.clock import shift_clock
from tests.worker.engines import IDLE, WAITS, Bench, Held, Scripted

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}
WORLD = open_site_world

HOUR = 3600.0
WORK_ITEMS = {"periodic": {"hourly": HOUR}}
OUT_OF_ORDER = {
    "cluster_times_in_order",
    "operation_times_in_order",
    "finished_step_has_its_time",
    "allocation_times_in_order",
}
"""The rules that tell an operator that the clock was set back while something was under way."""


class Hourly:
    """A periodic task that counts its runs."""

    def __init__(self, bench: Bench) -> None:
        self.runs = 0
        self.tasks = PeriodicTasks(bench.database, [Periodic("hourly", interval=HOUR, run=self._run)])

    async def _run(self, _: Database) -> None:
        self.runs += 1

    async def ran(self, times: int) -> bool:
        return self.runs >= times


async def test_a_running_worker_notices_that_the_clock_was_set_back(bench: Bench, database: Scratch) -> None:
    hourly = Hourly(bench)
    watch = DatabaseWatch(bench.database, SystemClock())
    async with bench.engine(hourly.tasks, watch=watch, platform_work=WORK_ITEMS):
        await until(lambda: bench.holds("hourly", WAITS), "the task ran, and waits for its next turn")
        shift_clock(database.owner_url, "-1 day")
        await until(lambda: hourly.ran(2), "the task ran again at once, and not in 25 hours")
        await until(lambda: bench.holds("hourly", WAITS), "it waits for its next turn")
    # Within its interval, by the clock as it is now.
    assert await _seconds_until_due(bench, "hourly") <= HOUR


async def test_a_worker_that_starts_notices_that_the_clock_was_set_back(bench: Bench, database: Scratch) -> None:
    hourly = Hourly(bench)
    async with bench.engine(hourly.tasks, platform_work=WORK_ITEMS):
        await until(lambda: bench.holds("hourly", WAITS), "the task ran")
    shift_clock(database.owner_url, "-1 day")
    async with bench.engine(hourly.tasks, platform_work=WORK_ITEMS):
        await until(lambda: hourly.ran(2), "the task ran again")


async def test_a_restart_alone_makes_nothing_due(bench: Bench, database: Scratch) -> None:
    hourly = Hourly(bench)
    async with bench.engine(hourly.tasks, platform_work=WORK_ITEMS):
        await until(lambda: bench.holds("hourly", WAITS), "the task ran")
    async with bench.engine(hourly.tasks, platform_work=WORK_ITEMS):
        await bench.execute(
            "INSERT INTO work (kind, key, project_id, run_at)"
            " VALUES ('periodic', 'other', gen_random_uuid(), app_now())"
        )
        await until(lambda: bench.holds("other", WAITS), "the worker works")
    assert hourly.runs == 1


async def test_what_is_polled_is_reconciled_again(bench: Bench, database: Scratch) -> None:
    async def act(item: WorkItem) -> Outcome:
        return Wait("the site is slow", recheck=60.0)

    reconciler = Scripted(act)
    async with bench.engine(reconciler, watch=DatabaseWatch(bench.database, SystemClock())):
        await bench.wake("a")
        await until(lambda: bench.holds("a", WAITS), "the first pass ended")
        shift_clock(database.owner_url, "-1 day")
        await until(lambda: reconciler.reconciled(2), "the next pass")
    assert await _seconds_until_due(bench, "a") <= 60.0


async def test_the_lease_of_a_frozen_worker_ends_as_soon_as_any_other(bench: Bench, database: Scratch) -> None:
    """It holds its advisory lock, so nobody knows that it is gone but by the lease."""
    lease, frozen = 30.0, Held()
    async with bench.engine(frozen, lease=lease, drain=0.05, watch=DatabaseWatch(bench.database, SystemClock())):
        await bench.wake("a")
        await frozen.running.wait()
        await bench.execute("UPDATE work SET lease_until = lease_until + interval '1 day'")
        shift_clock(database.owner_url, "-1 day")
        short = f"lease_until - app_now() <= interval '{lease} seconds'"
        await until(lambda: bench.holds("a", short), "the lease was shortened")


async def test_a_clock_that_is_set_forward_parks_nothing(bench: Bench, database: Scratch) -> None:
    """Every lease has ended at once: what is under way is begun again, and only one result counts."""
    running, go_on = asyncio.Event(), asyncio.Event()

    async def act(item: WorkItem) -> Outcome:
        running.set()
        if len(reconciler.passes) == 1:
            await go_on.wait()
        return Done()

    reconciler = Scripted(act)
    async with bench.engine(reconciler, watch=DatabaseWatch(bench.database, SystemClock())):
        await bench.wake("a")
        await running.wait()
        shift_clock(database.owner_url, "1 day")
        await until(lambda: bench.holds("a", IDLE), "somebody else did it")
        go_on.set()
    row = await bench.row("a")
    assert (row.attempt, row.parked_at, row.last_error) == (0, None, None)
    assert await bench.applied("a") == [2]


async def test_clocks_that_are_apart_are_reported_once(bench: Bench, database: Scratch) -> None:
    watch = DatabaseWatch(bench.database, SystemClock())
    with structlog.testing.capture_logs() as lines:
        shift_clock(database.owner_url, "10 minutes")
        for _ in range(3):
            await watch.check()
        assert metrics.CLOCK_SKEW._value.get() == pytest.approx(600, abs=60)
        shift_clock(database.owner_url, "0 seconds")
        await watch.check()
    events = [line["event"] for line in lines if line["event"].startswith("clocks_")]
    assert events == ["clocks_apart", "clocks_together"]


async def test_released_machines_come_back_after_the_clock_was_set_back(database: Scratch, world: SiteWorld) -> None:
    """Their quarantine is counted again: not a day longer, and not shorter than a request can live."""
    world.broken_on_purpose |= OUT_OF_ORDER
    waits = "SELECT lease_owner IS NULL AND run_at > app_now() + interval '1 minute' FROM work WHERE kind = 'cluster'"
    creation = await world.create(flavor="m2000-pod16")
    async with world.worker():
        await world.finished(creation.operation_id)
    operation = await world.delete(creation.target_id)
    async with world.worker(request_life=HOUR):
        await world.reached(operation, "verify_clean")
        await until(lambda: world.value(waits), "it waits for the end of its quarantine")
    shift_clock(database.owner_url, "-1 day")
    async with world.worker():
        await world.succeeded(operation)
    assert await world.value("SELECT count(*) FROM allocations WHERE freed_at IS NULL OR released_at > app_now()") == 0


async def test_a_create_is_held_by_its_deadline_alone_when_the_clock_is_set_forward(
    database: Scratch, world: SiteWorld
) -> None:
    async with world.worker():
        kept = await world.build("kept", "m2000-pod16")
    creation = await world.create("late", "m2000-pod16")
    shift_clock(database.owner_url, "1 day")
    async with world.worker():
        ended = await world.finished(creation.operation_id)
    assert (ended.state, ended.error["code"]) == ("failed", "deadline_exceeded")
    assert await world.value("SELECT state FROM clusters WHERE id = :id", id=kept) == "active"
    assert await world.value("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0


async def _seconds_until_due(bench: Bench, key: str) -> float:
    row = await bench.row(key)
    assert row.run_at is not None
    shifted = datetime.now(UTC) - timedelta(days=1)
    return (row.run_at - shifted).total_seconds()
