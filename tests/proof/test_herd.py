"""Everything is due at once when a site comes back: the workers keep their pace, and nothing is lost to the rush."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa
from prometheus_client import REGISTRY

from ipucloud.kernel.failpoints import arm
from ipucloud.site.calls import BURST_SECONDS
from tests.support.postgres import Database as Scratch
from tests.support.selection import Figures
from tests.support.site import running_site
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

WINDOW = 5.0
FILL = """
    INSERT INTO work (kind, key, project_id, run_at)
    SELECT 'cluster', gen_random_uuid(), :project, app_now() FROM generate_series(1, :count)
"""
"""Work items of clusters that are no more: nothing is to be done about them, but a worker has to reconcile them."""

FORGET = "DELETE FROM work WHERE kind = 'cluster' AND NOT EXISTS (SELECT FROM clusters c WHERE c.id::text = work.key)"
PROGRESS = """
    SELECT (SELECT count(*) FROM operations WHERE finished_at IS NULL) AS open,
           (SELECT count(*) FROM work WHERE kind = 'cluster' AND run_at IS NOT NULL
               AND NOT EXISTS (SELECT FROM clusters c WHERE c.id::text = work.key)) AS backlog,
           (SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND backend_type = 'client backend') AS connections
"""
POOL, PRESENCE = 2 * 4, 1
"""Connections of a worker: so many for transactions, as many for single statements, and one that holds its leases."""


@contextmanager
def calls_to_the_site() -> Iterator[list[float]]:
    """When this process called the site."""
    at: list[float] = []
    arm(lambda point: at.append(time.monotonic()) if point.startswith("site.before") else None)
    try:
        yield at
    finally:
        arm(None)


@dataclass
class Observations:
    """What the database shows, observation by observation."""

    backlog: list[int] = field(default_factory=list)
    connections: int = 0

    async def observe(self, world: SiteWorld) -> bool:
        """Whether something is left to be done."""
        row = await world.one(PROGRESS)
        self.backlog.append(row.backlog)
        self.connections = max(self.connections, row.connections)
        return bool(row.open or row.backlog)


def most_in_a_window(at: Sequence[float]) -> int:
    return max(index - bisect_left(at, instant - WINDOW) + 1 for index, instant in enumerate(at))


def busiest_second(at: Sequence[float]) -> int:
    return max(Counter(int(instant) for instant in at).values())


def stale_results() -> float:
    return REGISTRY.get_sample_value("stale_writes_rejected_total") or 0.0


async def test_a_site_that_comes_back_is_not_run_over(
    database: Scratch, tmp_path: Path, full: bool, figures: Figures
) -> None:
    clusters, backlog, workers, rate = (60, 10_000, 8, 2.5) if full else (12, 300, 2, 20.0)
    observations = Observations()
    with running_site(tmp_path / "site", machines=64) as site:
        async with open_site_world(database, site) as world, AsyncExitStack() as stack:
            creations = [await world.create(f"c{number}", "m2000-pod4") for number in range(clusters)]
            async with world.database.begin() as connection:
                await connection.execute(sa.text(FILL), {"project": world.project.id, "count": backlog})
            await asyncio.to_thread(site.stop)
            stale = stale_results()
            for _ in range(workers):
                await stack.enter_async_context(world.worker(site_calls_per_second=rate))
            with calls_to_the_site() as at:
                await asyncio.to_thread(site.start)
                await stack.enter_async_context(asyncio.timeout(600 if full else 120))
                while await observations.observe(world):
                    await asyncio.sleep(0.1)
            assert {(await world.finished(each)).state for each in creations} == {"succeeded"}
            async with world.database.begin() as connection:
                await connection.exec_driver_sql(FORGET)
            busiest_window = most_in_a_window(sorted(at))
            # A machine that stops for a moment lets late calls catch up with the early ones: twice is the most.
            assert busiest_window <= 2 * workers * rate * (WINDOW + BURST_SECONDS)
            assert stale_results() == stale, "a lease was lost to waiting"
            assert observations.connections <= workers * (POOL + PRESENCE) + POOL
            assert observations.backlog == sorted(observations.backlog, reverse=True)
    figures(
        clusters=clusters,
        backlog=backlog,
        calls=len(at),
        allowed_in_5_seconds=workers * rate * WINDOW,
        most_in_5_seconds=busiest_window,
        busiest_second=busiest_second(at),
        connections=observations.connections,
    )
