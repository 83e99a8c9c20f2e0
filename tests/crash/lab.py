"""A world in which processes are killed: one site without delays, one warm process to fork from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from uuid import UUID

import httpx
import psycopg

from ipucloud.api.app import create_app
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.failpoints import Trap
from ipucloud.operations.store import Accepted
from ipucloud.reconcile.engine import Engine
from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Site
from ipucloud.worker.main import assemble
from ipucloud.worker.sweep import SIGHTINGS, sweep_leftovers
from tests.crash.victims import TemplateProcess, Victim
from tests.support.plain import NOBODY
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE, until
from tests.support.world import CALL_SECONDS, SiteWorld, at_work, opened

FLAVOR = "m2000-pod8"
MAX_KEPT = 4
"""Clusters kept for trials that begin with one; a POD8 has two machines, and the site sixteen."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
SETTINGS: dict[str, Any] = {
    "site_poll_interval": 0.01,
    "request_life": 0.05,
    "poll_seconds": 0.05,
    "reap_seconds": 0.03,
    "drain_seconds": 5.0,
    "worker_internal_port": 0,
    "internal_port": 0,
    "log_format": "console",
    "webhook_interval": 2 * 86_400.0,  # a dispatch that is a day away is no sign of a clock that was set back
}
# Victims run a second engine, for webhooks. It would meet traps that are laid for the first one; what it does is tested
# in tests/worker.
_NO_MESSAGES = """
    INSERT INTO work (kind, key, project_id, run_at)
    VALUES ('webhook.dispatch', 'events', '00000000-0000-0000-0000-000000000000', app_now() + interval '1 day')
"""


class Lab(SiteWorld):
    """`active` and `suspended`: clusters that earlier trials left so.

    `caller` sends requests to victims, `second_api` to an API that lives.
    """

    def __init__(
        self, scratch: Scratch, site: RunningSite, template: TemplateProcess, folder: Path, **changes: Any
    ) -> None:
        super().__init__(scratch, site, **(SETTINGS | changes))
        self.template = template
        self.folder = folder
        self.active: list[UUID] = []
        self.suspended: list[UUID] = []
        self.caller: httpx.AsyncClient
        self.second_api: httpx.AsyncClient
        self._patient = SiteClients.of(self.settings.model_copy(update={"site_call_timeout": PATIENCE}))
        self._numbers = count(1)

    async def close(self) -> None:
        await self._patient.close()
        await super().close()

    def fresh(self) -> str:
        return f"c{next(self._numbers)}"

    @property
    def base(self) -> str:
        """The project's path in the API."""
        return f"/v1/projects/{self.project.slug}"

    async def create_fresh(self) -> Accepted:
        """A cluster of which nobody has heard."""
        return await self.create(self.fresh(), FLAVOR)

    async def cut_waiting(self, statement: str) -> None:
        """Wait until a session of this database waits for a lock with a statement like this one, and cancel that."""
        async with await psycopg.AsyncConnection.connect(self.scratch.superuser_url, autocommit=True) as connection:

            async def cut() -> bool:
                cursor = await connection.execute(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = %s AND wait_event_type = 'Lock' AND query ILIKE %s",
                    [self.scratch.name, f"%{statement}%"],
                )
                return cursor.rowcount > 0

            await until(cut, "a statement waits for a lock")

    async def victim(
        self, *traps: Trap, role: Literal["worker", "api"] = "worker", changes: Mapping[str, Any] = NOTHING
    ) -> Victim:
        """A process with these traps; its log is kept until the lab's folder goes."""
        settings = self.settings.model_copy(update=changes)
        return await self.template.fork(role, settings, self.folder / f"{self.fresh()}.log", traps)

    def survivor(self, **changes: Any) -> AbstractAsyncContextManager[Engine]:
        """A worker of this process, on connections that outlive it; `changes` are settings of its own."""
        settings = self.settings.model_copy(update=changes)
        engine, _ = assemble(self.database, self.sites, settings, SystemClock())
        return at_work(engine)

    async def last_success(self, cluster: UUID) -> UUID:
        """The operation on the cluster that succeeded last."""
        operation: UUID = await self.value(
            "SELECT id FROM operations WHERE cluster_id = :id AND state = 'succeeded' ORDER BY created_at DESC LIMIT 1",
            id=cluster,
        )
        return operation

    async def an_active_cluster(self) -> UUID:
        """One that earlier trials left, or a new one."""
        if self.active:
            return self.active.pop()
        async with self.survivor():
            return await self.build(self.fresh(), FLAVOR)

    async def a_suspended_cluster(self) -> UUID:
        """One that earlier trials left, or one that is suspended now."""
        if self.suspended:
            return self.suspended.pop()
        cluster = await self.an_active_cluster()
        async with self.survivor():
            await self.succeeded(await self.suspend(cluster))
        return cluster

    async def keep(self, cluster: UUID, state: str) -> None:
        """Leave an active or suspended cluster to a later trial; the oldest go when there are too many."""
        kept = self.active if state == "active" else self.suspended
        kept.append(cluster)
        if len(kept) > MAX_KEPT:
            await self.remove(kept[:2])

    async def remove(self, clusters: Sequence[UUID]) -> None:
        self.active = [cluster for cluster in self.active if cluster not in clusters]
        self.suspended = [cluster for cluster in self.suspended if cluster not in clusters]
        operations = [await self.delete(cluster) for cluster in clusters]
        async with self.survivor():
            for operation in operations:
                await self.finished(operation)

    async def clear(self) -> None:
        """Delete every cluster."""
        self.clear_faults()
        self.active.clear()
        self.suspended.clear()
        async with self.survivor():
            await self.delete_all()
            await self.tasks_are_done()

    async def sweep(self, times: int = SIGHTINGS) -> None:
        """What the periodic task of a worker does about what late requests left."""
        for _ in range(times):
            await sweep_leftovers(self.database, self.sites, call_timeout=CALL_SECONDS)

    async def patient_site(self) -> Site:
        """The site, as a worker would reach it that has all the time in the world."""
        return await self.site_client(sites=self._patient)

    async def tasks_are_done(self) -> None:
        """Return once no periodic task is due, and no pass that was broken off waits for another.

        Else a work item that several trials hit would be parked, as it has to be.
        """
        none_due = (
            "SELECT count(*) = 0 FROM work"
            " WHERE kind = 'periodic' AND (lease_owner IS NOT NULL OR run_at <= app_now())"
            " OR attempt > CASE kind WHEN 'partitions' THEN 0 ELSE 1 END"
        )
        await until(lambda: self.value(none_due), "no task is due")


@asynccontextmanager
async def open_lab(
    database: Scratch, site: RunningSite, template: TemplateProcess, folder: Path, **changes: Any
) -> AsyncIterator[Lab]:
    async with AsyncExitStack() as stack:
        lab = await stack.enter_async_context(opened(Lab(database, site, template, folder, **changes)))
        app = create_app(lab.settings)
        await stack.enter_async_context(app.router.lifespan_context(app))
        headers = {"Authorization": f"Bearer {lab.project.token.secret}"}
        lab.second_api = httpx.AsyncClient(transport=httpx.ASGITransport(app), headers=headers)
        await stack.enter_async_context(lab.second_api)
        lab.caller = await stack.enter_async_context(
            httpx.AsyncClient(headers=headers, timeout=PATIENCE, verify=NOBODY)
        )
        await lab.execute(_NO_MESSAGES)
        async with lab.survivor():
            await lab.tasks_are_done()
        yield lab
