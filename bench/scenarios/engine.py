"""The engine with nothing to do per object, against its own claim and finish statements replayed by the driver."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection

from bench.databases import opened
from bench.driver import Connection, connect, execute
from bench.finding import Finding, at_least
from bench.rounds import alternate
from bench.stage import Stage
from ipucloud.db.driver import query
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.ids import new_id
from ipucloud.reconcile import statements
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.reconcile.wake import PLATFORM
from tests.support.postgres import Database as Scratch
from tests.support.world import at_work

PROJECTS = 5
CONNECTIONS = 8
SETTINGS = EngineSettings()


@dataclass(frozen=True, slots=True)
class Size:
    items: int = 3000


SMALLEST = Size(items=20)


class Nothing:
    """A reconciler that finds every object as it should be."""

    kind = "bench"

    def __init__(self, expected: int) -> None:
        self._left = expected
        self.finished = asyncio.Event()

    async def load(self, connection: Statements, item: WorkItem) -> Outcome:
        self._left -= 1
        if self._left == 0:
            self.finished.set()
        return Done()

    async def act(self, item: WorkItem, inputs: None) -> None:
        raise AssertionError("there is nothing to act on")

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: None, result: None) -> Outcome:
        raise AssertionError("there is nothing to apply")


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls:
        sides = {
            "engine": lambda: asyncio.run(_engine(urls, size.items)),
            "driver": lambda: asyncio.run(_driver(urls, size.items)),
        }
        rates = alternate(sides, stage.rounds)
    return [
        Finding(
            "work items, over claim + finish by the driver",
            rates.ratio("engine", "driver"),
            goal=at_least(0.5),
            numbers=rates.numbers("engine", "driver"),
        )
    ]


async def _engine(urls: Scratch, items: int) -> float:
    await _fill(urls, items)
    nothing = Nothing(items)
    async with opened(urls.app_url, pool_size=CONNECTIONS) as database:
        engine = Engine(database, [nothing], clock=SystemClock(), settings=SETTINGS)
        started = time.perf_counter()
        async with at_work(engine):
            await nothing.finished.wait()
            elapsed = time.perf_counter() - started
    return items / elapsed


async def _driver(urls: Scratch, items: int) -> float:
    """The same statements on as many connections, each taking the next thing to do; claims are as large as can be."""
    await _fill(urls, items)
    connections = [await connect(urls.app_url) for _ in range(CONNECTIONS)]
    claimed: deque[tuple[str, str, int]] = deque()
    claiming = asyncio.Lock()
    started = time.perf_counter()
    await asyncio.gather(*(_claim_and_finish(connection, claimed, claiming) for connection in connections))
    elapsed = time.perf_counter() - started
    for connection in connections:
        await connection.close()
    return items / elapsed


async def _claim_and_finish(
    connection: Connection, claimed: deque[tuple[str, str, int]], claiming: asyncio.Lock
) -> None:
    claim, finish = query(statements.CLAIM.statement), query(statements.FINISH)
    owner = 2**61
    order = {"first_project": PLATFORM, "kinds": ["bench"], "n": SETTINGS.slots, "owner": owner, "lease": 30.0}
    order["suspects"] = 1
    done = {"owner": owner, "wait": None, "attempt": 0, "error": None, "parked": False}
    while True:
        async with claiming:
            if not claimed:
                cursor = await execute(connection, claim, order)
                claimed.extend((row[0], row[1], row[3]) for row in await cursor.fetchall())
            if not claimed:
                return
            kind, key, fence = claimed.popleft()
        await execute(connection, finish, done | {"kind": kind, "key": key, "fence": fence})


async def _fill(urls: Scratch, items: int) -> None:
    """Start from a fresh table with every work item due."""
    async with await psycopg.AsyncConnection.connect(urls.superuser_url, autocommit=True) as connection:
        await connection.execute("TRUNCATE work")
        await connection.execute(
            """
            INSERT INTO work (kind, key, project_id, run_at)
            SELECT 'bench', number::text, (%(projects)s::uuid[])[1 + number %% %(count)s], app_now()
              FROM generate_series(1, %(items)s) AS number
            """,
            {"projects": [new_id() for _ in range(PROJECTS)], "count": PROJECTS, "items": items},
        )
        await connection.execute("ANALYZE work")
        await connection.execute("CHECKPOINT")
