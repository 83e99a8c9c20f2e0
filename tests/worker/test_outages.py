"""What is not the object's failure never parks it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import Periodic, PeriodicTasks, WorkItem
from ipucloud.reconcile.wake import wake
from ipucloud.site.ports import SiteUnknown
from tests.support.postgres import Database as Scratch
from tests.support.waiting import until
from tests.worker.engines import Bench, Scripted

pytestmark = pytest.mark.anyio

MORE_THAN_PARKS = 8


@pytest.fixture
async def bench(database: Scratch) -> AsyncIterator[Bench]:
    engine_bench = Bench(database.app_url)
    yield engine_bench
    await engine_bench.database.close()


async def test_a_database_that_does_not_answer_parks_nothing(bench: Bench) -> None:
    async def act(item: WorkItem) -> Outcome:
        if len(reconciler.passes) <= MORE_THAN_PARKS:
            await bench.execute("UPDATE work SET wake_seq = wake_seq + 1")  # no need to sit the backoff out
            raise Problem(UNAVAILABLE, "The database does not answer.")
        return Done()

    async def applied() -> bool:
        return await bench.applied("a") == [MORE_THAN_PARKS + 1]

    reconciler = Scripted(act)
    async with bench.engine(reconciler):
        await bench.wake("a")
        await until(applied, "reconciled until the database answered")


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
