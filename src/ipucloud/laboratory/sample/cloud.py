"""A project's requests, and a worker that carries them out, under whatever the database's clock shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.catalogue.queries import Catalogue
from ipucloud.cli.service.failures import CommandError
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.operations.create import create
from ipucloud.clusters.operations.delete import delete
from ipucloud.clusters.operations.resume import resume
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import clear, report
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.clock import SystemClock
from ipucloud.laboratory.sample.story import KEY_NAME, Use
from ipucloud.operations.store import Accepted
from ipucloud.reconcile.engine import Engine
from ipucloud.site.ports import Sites
from ipucloud.worker.main import engine_settings
from ipucloud.worker.reconcilers import Work

Result = TypeVar("Result")

OPERATION_SECONDS = 120.0
"""Of a simulated site that takes no time: more than any operation needs, on a busy machine too."""
POLL_SECONDS = 0.05


class _Finished(NamedTuple):
    state: str
    detail: str | None


_STATE = Query(
    "SELECT state, error->>'detail' AS detail FROM operations WHERE id = :id AND finished_at IS NOT NULL", _Finished
)

_MACHINE = Query(
    "SELECT machines.id FROM allocations JOIN machines ON machines.id = machine_id"
    " WHERE cluster_id = :cluster_id AND freed_at IS NULL ORDER BY ordinal LIMIT 1",
    UUID,
)


class SampleError(CommandError):
    """The sample cannot be made; the data are as they were."""


@dataclass(frozen=True)
class Cloud:
    """What the project `actor` may ask for. Each method returns when the operation has succeeded."""

    database: Database
    sites: Sites
    settings: Settings
    catalogue: Catalogue
    actor: Actor

    async def create(self, use: Use) -> UUID:
        flavor = self.catalogue.find_flavor(use.flavor)
        images = self.catalogue.images
        if flavor is None or not images:
            raise SampleError(f"The sample needs the flavor {use.flavor}, which this catalogue does not have.")
        body = ClusterCreate(
            name=use.name,
            region=flavor.regions[0],
            flavor=use.flavor,
            image=images[0].name,
            ssh_keys=[KEY_NAME],
            tags=dict(use.tags),
        )
        accepted = await self._succeeds(
            lambda connection: create(connection, self.actor, body, catalogue=self.catalogue, settings=self.settings)
        )
        return accepted.target_id

    async def delete(self, cluster: UUID) -> None:
        await self._succeeds(
            lambda connection: delete(connection, self.actor, cluster, if_match=None, settings=self.settings)
        )

    async def suspend(self, cluster: UUID) -> None:
        await self._succeeds(
            lambda connection: suspend(connection, self.actor, cluster, if_match=None, settings=self.settings)
        )

    async def resume(self, cluster: UUID) -> None:
        await self._succeeds(
            lambda connection: resume(connection, self.actor, cluster, if_match=None, settings=self.settings)
        )

    async def fail(self, cluster: UUID, detail: str) -> UUID:
        """A machine of the cluster fails, as observation reports it; returns the report."""

        async def work(connection: AsyncConnection) -> UUID:
            await lock_cluster(connection, project_id=self.actor.project_id, cluster_id=cluster)
            report_id = await report(
                connection,
                kind="machine",
                object_id=await _MACHINE.one(connection, {"cluster_id": cluster}),
                source=Source.BMC,
                code=Code.BMC_CRITICAL,
                detail=detail,
                cluster_id=cluster,
            )
            await apply_reports(connection, project_id=self.actor.project_id, cluster_id=cluster)
            return report_id

        return await self.database.transact(work)

    async def work_again(self, cluster: UUID, report_id: UUID) -> None:
        """The machine that the report is about works again."""

        async def work(connection: AsyncConnection) -> None:
            await lock_cluster(connection, project_id=self.actor.project_id, cluster_id=cluster)
            await clear(connection, report_id=report_id)
            await apply_reports(connection, project_id=self.actor.project_id, cluster_id=cluster)

        await self.database.transact(work)

    async def finished(self, operation: UUID) -> None:
        """Work until the operation has succeeded. Raises SampleError."""
        try:
            async with self._worker(), asyncio.timeout(OPERATION_SECONDS):
                row = await self._end_of(operation)
        except TimeoutError:
            raise SampleError(f"An operation of the sample did not finish in {OPERATION_SECONDS:.0f} s.") from None
        if row.state != "succeeded":
            raise SampleError(f"An operation of the sample {row.state}: {row.detail}")

    async def _end_of(self, operation: UUID) -> _Finished:
        while True:
            async with self.database.read() as connection:
                row = await _STATE.one_or_none(connection, {"id": operation})
            if row is not None:
                return row
            await asyncio.sleep(POLL_SECONDS)

    async def _succeeds(self, request: Callable[[AsyncConnection], Awaitable[Accepted]]) -> Accepted:
        accepted = await self.database.transact(request)
        await self.finished(accepted.operation_id)
        return accepted

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[None]:
        """A worker without periodic tasks. It has no lease at the end: the clock is moved next."""
        clock, settings = SystemClock(), self.settings
        catalogue = CurrentCatalogue(settings.catalogue)
        engine = Engine(
            self.database,
            Work(self.database, self.sites, settings, clock, catalogue).reconcilers(),
            clock=clock,
            settings=engine_settings(settings),
        )
        running = asyncio.create_task(engine.run())
        try:
            yield
        finally:
            engine.stop()
            await running
