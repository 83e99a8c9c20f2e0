"""The queue under strain: items that kill their workers, a project with ten thousand of them, a rush on the site."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ipucloud.kernel.ids import new_id
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import WorkItem
from tests.proof.poisoned import PROGRAM
from tests.support.database_proxy import database_proxy
from tests.support.postgres import Database as Scratch
from tests.support.selection import Figures
from tests.support.site import running_site
from tests.support.waiting import PATIENCE, until
from tests.support.world import open_site_world
from tests.worker.engines import Bench, Scripted

pytestmark = pytest.mark.anyio

FILL = """
    INSERT INTO work (kind, key, project_id, run_at)
    SELECT 'test', :prefix || number, :project, app_now() FROM generate_series(1, :count) AS number
"""

ODD = """
    INSERT INTO work (kind, key, project_id, run_at, last_error)
    VALUES (:kind, :key, :project, app_now() - interval '100 years', repeat('☠', 1000000))
"""
ODD_WORK_ITEMS = (
    ("cluster", "not-a-uuid"),
    ("cluster", ""),
    ("cluster", "00000000-0000-4000-8000-000000000000"),
    ("periodic", "a task of tomorrow"),
    ("a kind of tomorrow", "{" * 2000),
)


async def count(bench: Bench, where: str) -> int:
    async with bench.database.begin() as connection:
        result = await connection.exec_driver_sql(f"SELECT count(*) FROM work WHERE {where}")  # noqa: S608
        return int(result.scalar_one())


class Supervised:
    """A worker process that is started again whenever it ends, as a service manager does."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stopping = False
        self.deaths = 0

    async def run(self) -> None:
        while not self._stopping:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", PROGRAM, self._url, stdout=subprocess.DEVNULL
            )
            self._process = process
            self.deaths += await process.wait() == -signal.SIGKILL

    async def stop(self) -> None:
        self._stopping = True
        self._process.terminate()


@asynccontextmanager
async def supervised(workers: Sequence[Supervised]) -> AsyncIterator[None]:
    """They run while the block does."""
    running = asyncio.gather(*(each.run() for each in workers))
    try:
        yield
    finally:
        for each in workers:
            await each.stop()
        await running


async def test_poison_takes_nobody_with_it(bench: Bench, database: Scratch, full: bool, figures: Figures) -> None:
    """Some work items raise, some kill their process; they are parked after five tries, and every other is served."""
    others, poison = (1000, 3) if full else (200, 1)
    project = new_id()
    workers = [Supervised(database.app_url) for _ in range(2)]
    async with supervised(workers):
        await bench.execute(FILL, prefix="calm-good-", project=project, count=others)
        calm = await seconds_until_served(bench)
        halves = others // 2
        for prefix, number in (("a-good-", halves), ("dies-", poison), ("raises-", poison), ("b-good-", halves)):
            await bench.execute(FILL, prefix=prefix, project=project, count=number)
        beside_poison = await seconds_until_served(bench)
        await until(lambda: _all_parked(bench, 2 * poison), "those that raise and kill are parked")
    assert await count(bench, "parked_at IS NOT NULL AND position('good' IN key) > 0") == 0
    assert await count(bench, "parked_at IS NOT NULL AND last_error IS NOT NULL") == 2 * poison
    # Two that kill may have been reconciled together: then one death counts for both.
    assert 5 <= sum(each.deaths for each in workers) <= 5 * poison
    figures(
        work_items=others,
        poison=2 * poison,
        deaths=sum(each.deaths for each in workers),
        seconds_for_the_others=round(beside_poison, 2),
        seconds_without_poison=round(calm, 2),
    )


async def _all_parked(bench: Bench, number: int) -> bool:
    return await count(bench, "parked_at IS NOT NULL") == number and await count(bench, "run_at IS NOT NULL") == 0


async def _all_met(bench: Bench) -> bool:
    return await _none(bench, "kind IN ('cluster', 'periodic') AND octet_length(last_error) > 100000 AND attempt = 0")


async def seconds_until_served(bench: Bench) -> float:
    """Until no good work item is left."""
    begun = time.monotonic()
    await until(lambda: _none(bench, "run_at IS NOT NULL AND position('good' IN key) > 0"), "all are served")
    return time.monotonic() - begun


async def _none(bench: Bench, where: str) -> bool:
    return await count(bench, where) == 0


async def test_rows_that_nobody_understands_hold_up_nobody(database: Scratch, tmp_path: Path) -> None:
    """Whatever the schema lets in: the worker goes on with the rest, its periodic tasks too."""
    with running_site(tmp_path / "site", machines=4) as site:
        async with open_site_world(database, site) as world:
            bench = Bench(database.app_url)
            for kind, key in ODD_WORK_ITEMS:
                await bench.execute(ODD, kind=kind, key=key, project=world.project.id)
            async with world.worker():
                accepted = await world.create("even", "m2000-pod4")
                await until(lambda: _all_met(bench), "the worker has met every odd work item")
                await until(lambda: _none(bench, "kind = 'cluster' AND run_at IS NOT NULL"), "nothing is due")
            assert await world.value("SELECT state FROM clusters WHERE id = :id", id=accepted.target_id) == "active"
            assert await count(bench, "kind = 'periodic' AND last_error IS NOT NULL") == 0
            await bench.execute("DELETE FROM work WHERE key = ANY (:keys)", keys=[key for _, key in ODD_WORK_ITEMS])
            await bench.database.close()


async def test_outages_park_nothing(bench: Bench, database: Scratch) -> None:
    """A pass that takes longer than the database lives is interrupted again and again: that is nobody's failure."""
    looking, outages = asyncio.Event(), 8

    async def act(item: WorkItem) -> Outcome:
        looking.set()
        await asyncio.sleep(PATIENCE if len(reconciler.passes) <= outages else 0)
        return Done()

    reconciler = Scripted(act)
    with database_proxy(database.app_url) as (line, url):
        async with Bench(url).engine(reconciler):
            await bench.wake("slow")
            for _ in range(outages):
                async with asyncio.timeout(PATIENCE):
                    await looking.wait()
                looking.clear()
                line.cut()
            await until(lambda: _done(bench, "slow"), "the pass came to its end")
    row = await bench.row("slow")
    assert (row.attempt, row.parked_at) == (0, None)
    assert len(reconciler.passes) > outages


async def _done(bench: Bench, key: str) -> bool:
    return bool(await bench.applied(key))


async def test_a_noisy_project_holds_up_nobody(bench: Bench, full: bool, figures: Figures) -> None:
    crowd = 9_999 if full else 1_500
    noisy, quiet = sorted([new_id(), new_id()])
    await bench.execute(FILL, prefix="noisy-", project=noisy, count=crowd)
    begun = time.monotonic()
    at: dict[str, Any] = {}

    async def act(item: WorkItem) -> Outcome:
        if item.key == "quiet":
            at["seconds"], at["served"] = time.monotonic() - at["asked"], len(first.passes) + len(second.passes)
        return Done()

    first, second = Scripted(act), Scripted(act)
    async with AsyncExitStack() as stack:
        for reconciler in (first, second):
            await stack.enter_async_context(bench.engine(reconciler, slots=32))
        await until(lambda: _served(first, second, 100), "the backlog is being served")
        at["asked"], before = time.monotonic(), len(first.passes) + len(second.passes)
        await bench.wake("quiet", quiet)
        await until(lambda: _none(bench, "run_at IS NOT NULL"), "the backlog is served")
    assert at["served"] - before < 400, "the single work item waited for the crowd"
    assert await count(bench, "parked_at IS NOT NULL") == 0
    figures(
        backlog=crowd,
        per_second=round(crowd / (time.monotonic() - begun)),
        quiet_after_work_items=at["served"] - before,
        quiet_after_seconds=round(at["seconds"], 3),
    )


async def _served(first: Scripted, second: Scripted, number: int) -> bool:
    return len(first.passes) + len(second.passes) >= number
