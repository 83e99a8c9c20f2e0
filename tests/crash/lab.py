"""A small cloud on which processes are killed: one database, one site without delays, one warm process to fork from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from uuid import UUID

import httpx
import psycopg
import sqlalchemy as sa

from ipucloud.api.app import create_app
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.failpoints import Trap
from ipucloud.site.connect import SiteClients
from ipucloud.site.ports import Site, VipuAddress
from ipucloud.wire.site import FaultRule
from ipucloud.worker.main import assemble
from ipucloud.worker.sweep import sweep_leftovers
from tests.crash.victims import PATIENCE, Victim, Zygote
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite
from tests.support.world import CALL_SECONDS, Made, World, open_world

FLAVOR = "m2000-pod8"
MAX_KEPT = 4
"""Clusters kept for trials that begin with one; a POD8 has two machines, and the site sixteen."""

NOTHING: Mapping[str, float] = MappingProxyType({})
SETTINGS: dict[str, Any] = {
    "site_call_timeout": CALL_SECONDS,
    "site_poll_interval": 0.01,
    "request_life": 0.05,
    "partitions_change_interval": 0.02,
    "poll_seconds": 0.05,
    "reap_seconds": 0.03,
    "drain_seconds": 5.0,
    "worker_internal_port": 0,
    "internal_port": 0,
    "log_format": "console",
    "webhook_interval": 2 * 86_400.0,  # a dispatch that is a day away is no sign of a clock that was set back
}


@dataclass
class Lab:
    """`active`: clusters that earlier trials left running; `resting`: those that they left suspended."""

    world: World
    scratch: Scratch
    zygote: Zygote
    folder: Path
    sites: SiteClients
    eyes: SiteClients
    http: httpx.Client
    caller: httpx.AsyncClient
    second_api: httpx.AsyncClient
    active: list[UUID] = field(default_factory=list)
    resting: list[UUID] = field(default_factory=list)
    _faulty: bool = False
    _numbers: Any = field(default_factory=lambda: count(1))

    def fresh(self) -> str:
        return f"c{next(self._numbers)}"

    @property
    def base(self) -> str:
        """The project's path in the API."""
        return f"/v1/projects/{self.world.project.slug}"

    async def create(self) -> Made:
        return await self.world.create(self.fresh(), FLAVOR)

    async def cancel(self, operation: UUID) -> bool:
        """Ask for it; False when it is too late."""
        return await self.world.cancel(operation)

    def fault(self, **rule: Any) -> None:
        """Add a fault rule at the site."""
        self.http.post("/v1/faults", json=FaultRule(**rule).model_dump(mode="json")).raise_for_status()
        self._faulty = True

    def repair(self) -> None:
        """Take every fault rule away."""
        if self._faulty:
            self.http.delete("/v1/faults").raise_for_status()
            self._faulty = False

    async def hit(self, call: str) -> None:
        """Return once a fault rule for `call` has met a call."""
        async with asyncio.timeout(PATIENCE):
            while not any(
                rule["hits"] for rule in self.http.get("/v1/faults").json()["faults"] if rule["call"] == call
            ):
                await asyncio.sleep(0.01)

    async def blocked(self, cluster: UUID) -> None:
        """Return once something keeps the cluster's step from going on."""
        async with asyncio.timeout(PATIENCE):
            while await self.world.value("SELECT blocked_by FROM clusters WHERE id = :id", id=cluster) is None:
                await asyncio.sleep(0.01)

    async def cut_waiting(self) -> None:
        """Cancel the statements of this database's sessions that wait for a lock."""
        async with await psycopg.AsyncConnection.connect(self.scratch.superuser_url, autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'",
                [self.scratch.name],
            )

    async def victim(
        self, *traps: Trap, role: Literal["worker", "api"] = "worker", changes: Mapping[str, float] = NOTHING
    ) -> Victim:
        """A process with these traps; its log is kept until the lab's folder goes."""
        settings = self.world.settings.model_copy(update=changes)
        return await self.zygote.fork(role, settings, self.folder / f"{self.fresh()}.log", traps)

    @asynccontextmanager
    async def survivor(self) -> AsyncIterator[None]:
        """A worker of this process, present while the block runs; it drains at its end."""
        engine, _ = assemble(self.world.database, self.sites, self.world.settings, SystemClock())
        running = asyncio.create_task(engine.run())
        try:
            yield
        finally:
            engine.stop()
            async with asyncio.timeout(PATIENCE):
                await running

    async def an_active_cluster(self) -> UUID:
        """One that is active, taken from those that earlier trials left or built now."""
        if self.active:
            return self.active.pop()
        made = await self.create()
        async with self.survivor():
            assert (await self.world.finished(made.operation)).state == "succeeded"
        return made.id

    async def a_suspended_cluster(self) -> UUID:
        """One that is suspended, taken from those that earlier trials left or suspended now."""
        if self.resting:
            return self.resting.pop()
        cluster = await self.an_active_cluster()
        async with self.survivor():
            assert (await self.world.finished(await self.world.suspend(cluster))).state == "succeeded"
        return cluster

    async def keep(self, cluster: UUID, state: str) -> None:
        """Leave an active or suspended cluster to a later trial; the oldest go when there are too many."""
        kept = self.active if state == "active" else self.resting
        kept.append(cluster)
        if len(kept) > MAX_KEPT:
            await self.remove(kept[:2])

    async def remove(self, clusters: Sequence[UUID]) -> None:
        self.active = [cluster for cluster in self.active if cluster not in clusters]
        self.resting = [cluster for cluster in self.resting if cluster not in clusters]
        operations = [await self.world.delete(cluster) for cluster in clusters]
        async with self.survivor():
            for operation in operations:
                await self.world.finished(operation)

    async def clear(self) -> None:
        """Take every cluster down."""
        self.repair()
        self.active.clear()
        self.resting.clear()
        async with self.survivor():
            await self.world.delete_all()

    async def sweep(self) -> None:
        """What the periodic task of a worker does about what late requests left."""
        await sweep_leftovers(self.world.database, self.sites, call_timeout=CALL_SECONDS)

    async def site(self) -> Site:
        """The site, as a worker would reach it that has all the time in the world."""
        row = (await self.rows("SELECT * FROM site_regions WHERE region = 'luxembourg-2'"))[0]
        address = VipuAddress(row.vipu_host, row.vipu_user_port, row.vipu_admin_port, row.vipu_secure)
        return self.eyes.at(address, lambda: PATIENCE)

    async def tasks_are_done(self) -> None:
        """Return once no periodic task is due, and no look at partitions that was broken off waits for another.

        Else a work item that several trials hit would be parked, as it has to be.
        """
        due = (
            "SELECT count(*) FROM work WHERE kind = 'periodic' AND (lease_owner IS NOT NULL OR run_at <= app_now())"
            " OR kind = 'partitions' AND attempt > 0"
        )
        async with asyncio.timeout(PATIENCE):
            while await self.world.value(due):
                await asyncio.sleep(0.01)

    async def rows(self, statement: str, **values: object) -> Sequence[sa.Row[Any]]:
        async with self.world.database.read() as connection:
            return (await connection.execute(sa.text(statement), values)).all()

    async def execute(self, statement: str, **values: object) -> None:
        async with self.world.database.begin() as connection:
            await connection.execute(sa.text(statement), values)


# Victims run a second engine, for webhooks. It would meet traps that are laid for the first one; what it does is tested
# in tests/worker.
_NO_MESSAGES = """
    INSERT INTO work (kind, key, project_id, run_at)
    VALUES ('webhook.dispatch', 'events', '00000000-0000-0000-0000-000000000000', app_now() + interval '1 day')
"""


@asynccontextmanager
async def open_lab(
    database: Scratch, site: RunningSite, zygote: Zygote, folder: Path, **changes: Any
) -> AsyncIterator[Lab]:
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(open_world(database, site, **(SETTINGS | changes)))
        sites = SiteClients.of(world.settings)
        stack.push_async_callback(sites.close)
        eyes = SiteClients.of(world.settings.model_copy(update={"site_call_timeout": PATIENCE}))
        stack.push_async_callback(eyes.close)
        app = create_app(world.settings)
        await stack.enter_async_context(app.router.lifespan_context(app))
        headers = {"Authorization": f"Bearer {world.project.token.secret}"}
        second_api = httpx.AsyncClient(transport=httpx.ASGITransport(app), headers=headers)
        await stack.enter_async_context(second_api)
        caller = await stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=PATIENCE))
        lab = Lab(world, database, zygote, folder, sites, eyes, site.http(), caller, second_api)
        await lab.execute(_NO_MESSAGES)
        async with lab.survivor():
            await lab.tasks_are_done()
        yield lab
