"""Holding a cluster's work at a boundary: between two steps, before a step acts, and before its result is written;
and trials, each with a request at one boundary of its cluster's operation."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs, Isolation
from ipucloud.clusters.reconciler import ClusterReconciler
from ipucloud.db.engine import Database
from ipucloud.db.statements import Statements
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.sealing import read_keys
from ipucloud.operations.results import StepResult
from ipucloud.operations.store import Accepted
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.site.connect import SiteClients
from tests.proof.operators import clear_reports
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


@dataclass
class Trial:
    """One cluster, and what is requested at which boundary of an operation on it."""

    world: SiteWorld
    step: str
    moment: Moment
    request: str
    operation: Accepted
    done: bool = field(default=False, init=False)

    def __str__(self) -> str:
        return f"{self.request} {self.moment} {self.step}"

    @property
    def cluster(self) -> UUID:
        return self.operation.target_id

    async def act(self) -> None:
        self.done = True
        if self.request == "delete":
            await self.world.delete(self.cluster)
        else:
            await self.ask()

    async def ask(self) -> None:
        """For all but a delete."""
        assert await self.world.cancel(self.operation)

    async def wrong(self) -> Sequence[str]:
        """What is not as it should be, once the operation has ended, and a delete of the cluster."""
        ended = await self.world.finished(self.operation)
        for deletion in await self.world.column(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.delete'", id=self.cluster
        ):
            await self.world.succeeded(deletion)
        cluster = await self.world.one("SELECT * FROM clusters WHERE id = :id", id=self.cluster)
        billed = await self.world.column(
            "SELECT quantity FROM usage_intervals WHERE resource_id = :id ORDER BY started_at", id=self.cluster
        )
        end = (ended.state, (ended.error or {}).get("code"), cluster.state)
        wrong = [] if self.done else [f"{self}: it was never reached"]
        return wrong + [f"{self}: {each}" for each in await self.judge(end, cluster, billed)]

    async def judge(self, end: tuple[str, str | None, str], cluster: Any, billed: Sequence[int]) -> Sequence[str]:
        """`end`: the operation's state and error, and the cluster's state; `billed`: the machines of each interval."""
        raise NotImplementedError


def differs(actual: object, expected: object) -> list[str]:
    return [] if actual == expected else [f"{actual}, not {expected}"]


async def in_use(world: SiteWorld, flavors: Sequence[str]) -> list[UUID]:
    """A cluster of each flavor."""
    creations = [await world.create(f"c{number}", flavor) for number, flavor in enumerate(flavors)]
    async with watched_worker(world, {}):
        for each in creations:
            await world.succeeded(each)
    return [each.target_id for each in creations]


async def uncounted(world: SiteWorld) -> list[str]:
    """What is held but not counted by the quota, or the other way round."""
    used = await world.value("SELECT coalesce(sum(used), 0) FROM quotas")
    held = await world.value("SELECT count(machine_id) FROM allocations WHERE freed_at IS NULL")
    return [] if used == held else [f"the quota says {used}, and {held} machines are held"]


async def side_by_side(world: SiteWorld, trials: Sequence[Trial], *codes: Code) -> list[str]:
    """What is wrong in any of them; nothing is left of them then, and no report with these codes."""
    plans: dict[UUID, dict[Boundary, Callable[[], Awaitable[None]]]] = {
        trial.cluster: {(trial.step, trial.moment): trial.act} for trial in trials
    }
    async with watched_worker(world, plans):
        wrong = [line for lines in await asyncio.gather(*(trial.wrong() for trial in trials)) for line in lines]
        wrong += await uncounted(world)
        world.clear_faults()
        await world.delete_all()
    await world.assert_nothing_left()
    await clear_reports(world, *codes)
    return wrong


async def host_of(world: SiteWorld, cluster: UUID) -> dict[str, Any]:
    """The host of the cluster's only server, as the site shows it."""
    name = await world.value(
        "SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id WHERE a.cluster_id = :id", id=cluster
    )
    host: dict[str, Any] = world.http.get(f"/v1/hosts/{name}").json()
    return host


def trouble(world: SiteWorld, what: str, call: str, host: str) -> None:
    """The next such call to a host is `lost`, which is its answer, or `refused`; or there is no trouble."""
    if what == "lost":
        world.fault(call=call, target=host, action="drop_answer", times=1)
    elif what == "refused":
        world.fault(call=call, target=host, action="status", status=422, times=1)


def all_right(wrong: Sequence[str]) -> None:
    if wrong:
        pytest.fail("\n".join(wrong))
