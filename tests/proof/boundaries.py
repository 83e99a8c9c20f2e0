"""Holding a cluster's work at a boundary: between two steps, before a step acts, and before its result is written."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs, Isolation
from ipucloud.clusters.reconciler import ClusterReconciler
from ipucloud.db.engine import Database
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.sealing import read_keys
from ipucloud.operations.results import StepResult
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.connect import SiteClients
from tests.support.world import SECRETS_KEY, SiteWorld, at_work


class Moment(StrEnum):
    """`between`: the step before is committed and nothing of this one is read. `loaded`: its inputs are read, nothing
    was asked of the site. `acted`: the site has answered, nothing is written."""

    BETWEEN = "between"
    LOADED = "loaded"
    ACTED = "acted"


Boundary = tuple[str, Moment]


@dataclass
class Watched:
    """The reconciler of production; at its boundaries it waits for what a test wants done there, once each."""

    inner: ClusterReconciler
    plans: dict[UUID, dict[Boundary, Callable[[], Awaitable[None]]]]
    kind: str = ClusterReconciler.kind

    async def load(self, connection: Statements, item: WorkItem) -> ClusterInputs | Outcome:
        row = await self.inner.load(connection, item)
        if isinstance(row, ClusterInputs) and await self._reach(row, Moment.BETWEEN):
            return await self.inner.load(connection, item)
        return row

    async def act(self, item: WorkItem, inputs: ClusterInputs) -> StepResult:
        await self._reach(inputs, Moment.LOADED)
        result = await self.inner.act(item, inputs)
        await self._reach(inputs, Moment.ACTED)
        return result

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: ClusterInputs, result: StepResult
    ) -> Outcome:
        return await self.inner.apply(connection, item, inputs, result)

    async def _reach(self, inputs: ClusterInputs, moment: Moment) -> bool:
        plan = self.plans.get(inputs.id, {}).pop((inputs.operation.step.name, moment), None)
        if plan is None:
            return False
        await plan()
        return True


@asynccontextmanager
async def watched_worker(
    world: SiteWorld, plans: dict[UUID, dict[Boundary, Callable[[], Awaitable[None]]]]
) -> AsyncIterator[None]:
    """A worker that reconciles clusters, and nothing else, through `Watched`."""
    settings = world.settings
    database = Database(world.database.url, pool_size=16, pool_timeout=30.0)
    sites = SiteClients.of(settings)
    inner = ClusterReconciler(
        sites,
        poll_interval=settings.site_poll_interval,
        request_life=settings.request_life,
        validated=False,
        attempts=settings.step_attempts,
        draw=random.Random(1),  # noqa: S311  # jitter
        isolation=Isolation.usual(settings.isolation_after, settings.isolation_limit),
        power_limit=settings.power_limit,
        keys=read_keys(SECRETS_KEY),
    )
    reconcilers: list[Any] = [Watched(inner, plans)]
    engine = Engine(database, reconcilers, clock=SystemClock(), settings=EngineSettings(poll=0.05))
    try:
        async with at_work(engine):
            yield
    finally:
        await sites.close()
        await database.close()
