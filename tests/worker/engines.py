"""Engines for tests: a reconciler whose every part a test can script, and what is in the work table."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import SystemClock
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.platform_work import PlatformWork
from ipucloud.reconcile.reconciler import Reconciler, WorkItem
from ipucloud.reconcile.wake import PLATFORM, wake
from ipucloud.reconcile.watch import DatabaseWatch
from tests.support.postgres import Database as Scratch
from tests.support.world import at_work

IDLE = "run_at IS NULL AND lease_owner IS NULL"
WAITS = "run_at IS NOT NULL AND lease_owner IS NULL AND fence > 0"
"""Of a work item: nothing is to be done; it was reconciled, and is due later."""


class NoJitter(random.Random):
    """Draws the shortest wait, so that a test need not wait for a backoff."""

    def uniform(self, a: float, b: float) -> float:
        return 0.0


class Scripted:
    """Reconciles work items of kind `test`; keeps every pass, and marks every applied one in the database."""

    kind = "test"

    def __init__(self, act: Callable[[WorkItem], Awaitable[Outcome]] | None = None) -> None:
        self._act = act
        self.passes: list[WorkItem] = []

    async def load(self, connection: Statements, item: WorkItem) -> str:
        return item.key

    async def act(self, item: WorkItem, inputs: str) -> Outcome:
        self.passes.append(item)
        return await self._act(item) if self._act else Done()

    async def reconciled(self, times: int) -> bool:
        """Whether there were so many passes."""
        return len(self.passes) >= times

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: str, result: Outcome) -> Outcome:
        await connection.execute(
            sa.text(
                "INSERT INTO pod_runs (id, region, machine_type, gw_group, number)"
                " VALUES (gen_random_uuid(), :key, :fence, '', 0) ON CONFLICT DO NOTHING"
            ),
            {"key": inputs, "fence": str(item.fence)},
        )
        return result


class Held(Scripted):
    """Each of its passes ends when it may go on, and is `running` until then."""

    def __init__(self) -> None:
        super().__init__(self._hold)
        self.running, self.go_on = asyncio.Event(), asyncio.Event()

    async def _hold(self, item: WorkItem) -> Outcome:
        self.running.set()
        await self.go_on.wait()
        return Done()


@dataclass(frozen=True)
class WorkRow:
    run_at: datetime | None
    lease_owner: int | None
    fence: int
    attempt: int
    last_error: str | None
    parked_at: datetime | None


class Bench:
    """A database with the operations a test needs of it."""

    def __init__(self, url: str) -> None:
        self.database = Database(url, pool_size=4)

    async def wake(self, key: str, project_id: UUID = PLATFORM) -> None:
        async with self.database.begin() as connection:
            await wake(connection, kind="test", key=key, project_id=project_id)

    async def row(self, key: str) -> WorkRow:
        columns = ", ".join(WorkRow.__dataclass_fields__)
        async with self.database.read() as connection:
            result = await connection.execute(sa.text(f"SELECT {columns} FROM work WHERE key = :key"), {"key": key})  # noqa: S608
            return WorkRow(*result.one())

    async def holds(self, key: str, condition: str) -> bool:
        """Whether this SQL is true of the work item."""
        statement = sa.text(f"SELECT {condition} FROM work WHERE key = :key")  # noqa: S608
        async with self.database.read() as connection:
            return bool((await connection.execute(statement, {"key": key})).scalar_one_or_none())

    async def applied(self, key: str) -> list[int]:
        """The fences under which results for `key` were accepted."""
        async with self.database.read() as connection:
            result = await connection.execute(
                sa.text("SELECT machine_type FROM pod_runs WHERE region = :key"), {"key": key}
            )
            return sorted(int(fence) for fence in result.scalars())

    async def execute(self, statement: str, **values: object) -> None:
        async with self.database.begin() as connection:
            await connection.execute(sa.text(statement), values)

    @asynccontextmanager
    async def engine(
        self,
        reconciler: Reconciler[Any, Any],
        *,
        slots: int = 8,
        lease: float = 600.0,
        drain: float = 5.0,
        watch: DatabaseWatch | None = None,
        platform_work: PlatformWork = MappingProxyType({}),
    ) -> AsyncIterator[Engine]:
        """A running engine, stopped and drained at the end; `watch` runs beside it."""
        database = Database(self.database.url, pool_size=4)
        settings = EngineSettings(slots=slots, lease=lease, poll=0.05, reap=0.05, drain=drain)
        engine = Engine(
            database,
            [reconciler],
            clock=SystemClock(),
            settings=settings,
            draw=NoJitter(),
            platform_work=platform_work,
            watch=watch,
        )
        watching = asyncio.create_task(watch.run()) if watch is not None else None
        try:
            async with at_work(engine):
                yield engine
        finally:
            if watching is not None:
                watching.cancel()
            await database.close()


@pytest.fixture
async def bench(database: Scratch) -> AsyncIterator[Bench]:
    bench = Bench(database.app_url)
    yield bench
    await bench.database.close()
