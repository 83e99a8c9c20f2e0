"""The engine's guarantees: nothing is lost, nothing counts twice, nobody waits for ever."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from functools import partial

import pytest
import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import LeaseLost, Periodic, PeriodicTasks, WorkItem
from ipucloud.reconcile.wake import wake
from ipucloud.site.ports import SiteUnknown
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE, until
from tests.worker.engines import IDLE, Bench, Held, Scripted

pytestmark = pytest.mark.anyio


async def test_a_woken_object_is_reconciled_once_and_then_idle(bench: Bench) -> None:
    reconciler = Scripted()
    async with bench.engine(reconciler):
        await bench.wake("a")
        await until(lambda: bench.holds("a", IDLE), "the pass ended")
    assert len(reconciler.passes) == 1
    assert await bench.applied("a") == [1]


async def test_a_wake_during_a_pass_leads_to_another_pass(bench: Bench) -> None:
    reconciler = Held()
    async with bench.engine(reconciler):
        await bench.wake("a")
        await reconciler.running.wait()
        await bench.wake("a")
        reconciler.go_on.set()
        await until(lambda: reconciler.reconciled(2), "the second pass")
        await until(lambda: bench.holds("a", IDLE), "the second pass ended")


async def test_a_wait_is_cut_short_by_a_wake(bench: Bench) -> None:
    async def act(item: WorkItem) -> Outcome:
        return Wait("nothing to see", recheck=3600)

    reconciler = Scripted(act)
    async with bench.engine(reconciler):
        await bench.wake("a")
        await until(lambda: reconciler.reconciled(1), "the first pass")
        await until(lambda: bench.holds("a", "lease_owner IS NULL"), "the first pass ended")
        await bench.wake("a")
        await until(lambda: reconciler.reconciled(2), "the pass after the wake")


async def test_progress_is_followed_by_another_pass_under_the_same_fence(bench: Bench) -> None:
    async def act(item: WorkItem) -> Outcome:
        return Go() if len(reconciler.passes) == 1 else Wait("enough", recheck=3600)

    reconciler = Scripted(act)
    async with bench.engine(reconciler):
        await bench.wake("a")
        await until(lambda: reconciler.reconciled(2), "the second pass")
    assert {item.fence for item in reconciler.passes} == {1}


async def test_a_result_made_under_a_lost_lease_is_dropped(bench: Bench) -> None:
    """A worker that was thought dead comes back with its result after another one has done the work."""
    frozen = Held()
    # With one slot the frozen worker cannot take its own lost work item again.
    async with bench.engine(frozen, slots=1):
        await bench.wake("a")
        await frozen.running.wait()
        await bench.execute("UPDATE work SET lease_owner = NULL, lease_until = NULL, run_at = app_now()")
        async with bench.engine(Scripted()) as _:
            await until(lambda: _applied(bench, "a", [2]), "the second worker's result")
        frozen.go_on.set()
        await until(lambda: bench.holds("a", IDLE), "the zombie ended")
    assert 1 not in await bench.applied("a")


async def test_no_call_may_start_when_the_lease_has_no_time_left(bench: Bench) -> None:
    refused = asyncio.Event()

    async def act(item: WorkItem) -> Outcome:
        item.deadline = item.clock.monotonic()
        try:
            item.remaining()
        finally:
            refused.set()
        return Done()

    async with bench.engine(Scripted(act)):
        await bench.wake("a")
        await refused.wait()
    assert await bench.applied("a") == []


async def test_a_killed_worker_is_replaced_long_before_its_lease_ends(bench: Bench, database: Scratch) -> None:
    process = await _hanging_worker(database)
    await bench.wake("a")
    await _line(process, b"running")
    process.send_signal(signal.SIGKILL)
    await process.wait()
    async with bench.engine(Scripted()):
        await until(lambda: _applied(bench, "a", [2]), "another worker took over, with ten minutes of lease left")


async def test_a_frozen_worker_is_replaced_when_its_lease_ends(bench: Bench, database: Scratch) -> None:
    process = await _hanging_worker(database)
    await bench.wake("a")
    await _line(process, b"running")
    os.kill(process.pid, signal.SIGSTOP)
    try:
        await bench.execute("UPDATE work SET lease_until = app_now() - interval '1 second'")
        async with bench.engine(Scripted()):
            await until(lambda: _applied(bench, "a", [2]), "another worker took over")
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()


async def test_a_locked_work_item_of_a_frozen_worker_keeps_no_other_from_being_freed(bench: Bench) -> None:
    """A worker that freezes inside its transaction holds its work item's row until the database ends its session."""
    for key in ("locked", "free"):
        await bench.wake(key)
    await bench.execute("UPDATE work SET lease_owner = 1, lease_until = app_now() - interval '1 second'")
    async with bench.database.begin() as frozen:
        await frozen.execute(sa.text("SELECT FROM work WHERE key = 'locked' FOR UPDATE"))
        async with bench.engine(Scripted()):
            await until(lambda: _applied(bench, "free", [1]), "the other work item was freed and reconciled")
    assert await bench.applied("locked") == []


async def test_a_locked_work_item_keeps_no_other_lease_from_being_renewed(bench: Bench) -> None:
    """A request that wakes an object, and then takes its time, holds the row of an item being reconciled."""
    reconciler = Held()
    for key in ("locked", "free"):
        await bench.wake(key)
    async with bench.engine(reconciler, lease=3.0):
        await until(lambda: _leased_for(bench, "locked", 0.0), "both are reconciled")
        async with bench.database.begin() as slow:
            await slow.execute(sa.text("SELECT FROM work WHERE key = 'locked' FOR UPDATE"))
            first = (await bench.row("free")).fence
            for _ in range(2):
                await until(lambda: _leased_for(bench, "free", 2.6), "the other lease was renewed")
                await until(lambda: _leased_for(bench, "free", 0.0, 2.4), "time went by")
        reconciler.go_on.set()
        await until(lambda: bench.holds("free", IDLE), "the pass ended")
    assert await bench.applied("free") == [first]


async def test_a_lease_that_was_not_given_back_ends_although_its_worker_goes_on(bench: Bench) -> None:
    busy, go_on = asyncio.Event(), asyncio.Event()

    async def act(item: WorkItem) -> Outcome:
        if item.key == "long":
            busy.set()
            await go_on.wait()
        elif item.fence == 1:
            raise LeaseLost(item.key)
        return Done()

    async with bench.engine(Scripted(act), lease=0.5):
        await bench.wake("long")
        await busy.wait()
        await bench.wake("a")
        await until(lambda: bench.holds("a", IDLE), "the item was claimed again, and its pass ended")
        go_on.set()
        await until(lambda: bench.holds("long", IDLE), "the long pass ended")
    assert await bench.applied("a") == [2]


async def test_a_reconciler_that_raises_is_retried_then_parked_with_the_error_until_woken(bench: Bench) -> None:
    async def act(item: WorkItem) -> Outcome:
        if len(reconciler.passes) <= 5:
            raise ValueError("out of order")
        return Done()

    reconciler = Scripted(act)
    async with bench.engine(reconciler):
        await bench.wake("a")
        await until(lambda: bench.holds("a", "parked_at IS NOT NULL"), "parked")
        row = await bench.row("a")
        assert len(reconciler.passes) == 5
        assert row.run_at is None
        assert row.last_error is not None
        await bench.wake("a")
        await until(lambda: _applied(bench, "a", [7]), "taken up again")


async def test_an_object_that_kills_its_workers_is_parked_without_another_pass(bench: Bench) -> None:
    await bench.wake("a")
    await bench.execute("UPDATE work SET attempt = 5")
    reconciler = Scripted()
    async with bench.engine(reconciler):
        await until(lambda: bench.holds("a", "parked_at IS NOT NULL"), "parked")
    assert reconciler.passes == []


async def test_one_raising_object_does_not_hold_up_the_others(bench: Bench) -> None:
    async def act(item: WorkItem) -> Outcome:
        if item.key == "bad":
            raise ValueError("out of order")
        return Done()

    await bench.wake("bad")
    for number in range(20):
        await bench.wake(f"good-{number}")
    async with bench.engine(Scripted(act), slots=2):
        for number in range(20):
            await until(partial(bench.holds, f"good-{number}", IDLE), "the others were served")


async def test_projects_take_turns(bench: Bench) -> None:
    crowd, single = sorted([new_id(), new_id()])
    for number in range(200):
        await bench.wake(f"crowd-{number}", crowd)
    await bench.wake("single", single)
    reconciler = Scripted()
    async with bench.engine(reconciler, slots=4):
        await until(lambda: bench.holds("single", IDLE), "the project with one work item was served")
        served = [item.key for item in reconciler.passes].index("single")
    assert served < 20


async def test_draining_hands_back_what_does_not_end(bench: Bench) -> None:
    reconciler = Held()
    await bench.wake("a")
    async with bench.engine(reconciler, drain=0.05):
        await reconciler.running.wait()
    row = await bench.row("a")
    assert (row.lease_owner, row.attempt) == (None, 0)
    assert row.run_at is not None
    assert await bench.applied("a") == []


async def test_draining_lets_a_pass_end(bench: Bench) -> None:
    reconciler = Held()
    await bench.wake("a")
    async with bench.engine(reconciler) as engine:
        await reconciler.running.wait()
        engine.stop()
        reconciler.go_on.set()
    assert await bench.applied("a") == [1]


async def test_a_worker_outlives_its_database_connections(bench: Bench, database: Scratch) -> None:
    reconciler = Scripted()
    async with bench.engine(reconciler):
        await bench.wake("before")
        await until(lambda: bench.holds("before", IDLE), "served before")
        superuser = sa.create_engine(database.superuser_url.replace("postgresql:", "postgresql+psycopg:"))
        with superuser.connect() as connection:
            connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        superuser.dispose()
        await bench.database.close()
        await bench.wake("after")
        await until(lambda: bench.holds("after", IDLE), "served after")


async def test_work_of_an_unknown_kind_is_left_for_a_newer_worker(bench: Bench) -> None:
    await bench.execute(
        "INSERT INTO work (kind, key, project_id, run_at) VALUES ('future', 'f', :p, app_now())", p=new_id()
    )
    async with bench.engine(Scripted()):
        await bench.wake("a")
        await until(lambda: bench.holds("a", IDLE), "the known kind was served")
    assert (await bench.row("f")).fence == 0


MORE_THAN_PARKS = 8


async def test_a_database_that_does_not_answer_parks_nothing(bench: Bench) -> None:
    async def act(item: WorkItem) -> Outcome:
        if len(reconciler.passes) <= MORE_THAN_PARKS:
            await bench.execute("UPDATE work SET wake_seq = wake_seq + 1")  # no need to sit the backoff out
            raise Problem(UNAVAILABLE, "The database does not answer.")
        return Done()

    reconciler = Scripted(act)
    async with bench.engine(reconciler):
        await bench.wake("a")
        await until(lambda: _applied(bench, "a", [MORE_THAN_PARKS + 1]), "reconciled until the database answered")


async def test_a_periodic_task_is_tried_for_ever(bench: Bench) -> None:
    """Nobody would wake it: a site that is away for an hour must not end the inventory's synchronisation."""
    runs = 0

    async def run(database: Database) -> None:
        nonlocal runs
        runs += 1
        raise SiteUnknown("the site does not answer") if runs % 2 else ValueError("out of order")

    async def enough() -> bool:
        return runs > MORE_THAN_PARKS

    tasks = PeriodicTasks(bench.database, [Periodic("sync", interval=0.01, run=run)])
    async with bench.engine(tasks):
        async with bench.database.begin() as connection:
            await wake(connection, kind=tasks.kind, key="sync")
        await until(enough, "the task is tried again and again")
    assert (await bench.row("sync")).parked_at is None


async def _hanging_worker(database: Scratch) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.worker.hanging_worker", database.app_url, stderr=asyncio.subprocess.PIPE
    )


async def _line(process: asyncio.subprocess.Process, expected: bytes) -> None:
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while (await process.stderr.readline()).strip() != expected:
            pass


async def _leased_for(bench: Bench, key: str, least: float, most: float = 60.0) -> bool:
    """Whether the work item's lease ends between so many seconds from now."""
    remaining = "extract(epoch FROM lease_until - app_now())"
    return await bench.holds(key, f"{remaining} > {least} AND {remaining} < {most}")


async def _applied(bench: Bench, key: str, fences: list[int]) -> bool:
    return await bench.applied(key) == fences
