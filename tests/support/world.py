"""A whole small cloud for a test: a database, a simulated site as a process, a project with quota, keys and prices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from pydantic import SecretStr

from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.operations.create import create
from ipucloud.clusters.operations.delete import delete
from ipucloud.clusters.operations.kind import WORK_KIND
from ipucloud.clusters.operations.resume import resume
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.db.engine import Database
from ipucloud.inventory.sync import sync
from ipucloud.kernel.clock import SystemClock
from ipucloud.operations.store import request_cancel
from ipucloud.reconcile.wake import wake
from ipucloud.site.connect import SiteClients
from ipucloud.wire import vipu_pb2, vipu_pb2_grpc
from ipucloud.wire.site import FaultRule
from ipucloud.worker.main import assemble
from tests.support.factories import Project, make_project, seed_prices
from tests.support.invariants import assert_sound
from tests.support.postgres import Database as Scratch
from tests.support.site import ACCESS_KEY, RunningSite

PATIENCE = 60.0
CALL_SECONDS = 20.0
"""Of one call to the site: less than a lease, and more than a busy machine takes."""
SECRETS_KEY = "A" * 43


@dataclass(frozen=True)
class Made:
    """A cluster somebody asked for."""

    id: UUID
    operation: UUID


class World:
    """What a test does to a cloud and sees of it."""

    def __init__(self, database: Database, site: RunningSite, settings: Settings, catalogue: Catalogue) -> None:
        self.database = database
        self.site = site
        self.settings = settings
        self.catalogue = catalogue
        self.project: Project
        self.broken_on_purpose: set[str] = set()
        self.sites = SiteClients.of(settings)

    async def open(self) -> None:
        async with self.database.begin() as connection:
            self.project = await make_project(connection)
            await seed_prices(connection)
        await sync(self.database, self.sites)

    async def close(self) -> None:
        """Hold every rule against what the test leaves, here and at the site."""
        try:
            self.repair()
            await assert_sound(
                self.database, self.sites, call_timeout=self.settings.site_call_timeout, but=self.broken_on_purpose
            )
        finally:
            await self.sites.close()
            await self.database.close()

    async def create(self, name: str = "bert", flavor: str = "m2000-pod16", ssh_key: str = "laptop") -> Made:
        """Ask for a cluster in the first region that sells the flavor."""
        sold = self.catalogue.find_flavor(flavor)
        assert sold is not None
        body = ClusterCreate(
            name=name,
            region=sold.regions[0],
            flavor=flavor,
            image="ubuntu-20.04-x64-poplar-1.18.0-3.0.0",
            ssh_keys=[ssh_key],
        )
        async with self.database.begin() as connection:
            accepted = await create(
                connection, self.project.actor, body, catalogue=self.catalogue, settings=self.settings
            )
        return Made(accepted.target_id, accepted.operation_id)

    async def delete(self, cluster: UUID) -> UUID:
        async with self.database.begin() as connection:
            accepted = await delete(connection, self.project.actor, cluster, if_match=None, settings=self.settings)
        return accepted.operation_id

    async def suspend(self, cluster: UUID) -> UUID:
        async with self.database.begin() as connection:
            accepted = await suspend(connection, self.project.actor, cluster, if_match=None, settings=self.settings)
        return accepted.operation_id

    async def resume(self, cluster: UUID) -> UUID:
        async with self.database.begin() as connection:
            accepted = await resume(connection, self.project.actor, cluster, if_match=None, settings=self.settings)
        return accepted.operation_id

    async def cancel(self, operation: UUID) -> bool:
        """Ask for it; False when it is too late."""
        async with self.database.begin() as connection:
            cluster = await request_cancel(connection, project_id=self.project.id, operation_id=operation)
            if cluster is not None:
                await wake(connection, kind=WORK_KIND, key=str(cluster), project_id=self.project.id)
        return cluster is not None

    async def delete_all(self) -> None:
        """Delete every living cluster and wait until it is gone."""
        async with self.database.read() as connection:
            living = await connection.execute(sa.text("SELECT id FROM clusters WHERE deleted_at IS NULL"))
        for operation in [await self.delete(cluster) for cluster in living.scalars()]:
            await self.finished(operation)

    @asynccontextmanager
    async def worker(self, **changes: Any) -> AsyncIterator[None]:
        """A worker of its own connections, drained at the end."""
        database = Database(self.database.url, pool_size=4, pool_timeout=30.0)
        settings = self.settings.model_copy(update=changes)
        sites = SiteClients.of(settings)
        engine, _ = assemble(database, sites, settings, SystemClock())
        running = asyncio.create_task(engine.run())
        try:
            yield
        finally:
            engine.stop()
            async with asyncio.timeout(PATIENCE):
                await running
            await sites.close()
            await database.close()

    async def one(self, statement: str, **values: object) -> Any:
        async with self.database.read() as connection:
            return (await connection.execute(sa.text(statement), values)).one()

    async def value(self, statement: str, **values: object) -> Any:
        return (await self.one(statement, **values))[0]

    async def finished(self, operation: UUID) -> Any:
        """The operation's row once it is terminal."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    row = await self.one("SELECT * FROM operations WHERE id = :id", id=operation)
                    if row.finished_at is not None:
                        return row
                    assert await self.value("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0, "parked"
                    await asyncio.sleep(0.02)
        except TimeoutError:
            work = await self.one(
                "SELECT w.* FROM operations o JOIN work w ON w.kind = 'cluster' AND w.key = o.cluster_id::text"
                " WHERE o.id = :id",
                id=operation,
            )
            step = await self.one(
                "SELECT name, state, attempts, detail FROM operation_steps"
                " WHERE operation_id = :id AND state IN ('pending', 'running') ORDER BY ordinal LIMIT 1",
                id=operation,
            )
            raise AssertionError(f"operation did not end: {row} at {step}; work {work}") from None

    async def reached(self, operation: UUID, step: str) -> None:
        """Return once the step before `step` has succeeded."""
        async with asyncio.timeout(PATIENCE):
            while (
                await self.value(
                    "SELECT name FROM operation_steps WHERE operation_id = :id AND state IN ('pending', 'running')"
                    " ORDER BY ordinal LIMIT 1",
                    id=operation,
                )
                != step
            ):
                await asyncio.sleep(0.01)

    def fault(self, **rule: Any) -> None:
        """Add a fault rule at the site."""
        body = FaultRule(**rule).model_dump(mode="json")
        self.site.http().post("/v1/faults", json=body).raise_for_status()

    async def waits_for_a_lock(self) -> None:
        """Return once some session of this database waits for a row that another one holds."""
        async with asyncio.timeout(PATIENCE):
            while not await self.value(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ):
                await asyncio.sleep(0.01)

    async def hit(self, call: str) -> None:
        """Return once a fault rule for `call` has met a call."""
        async with asyncio.timeout(PATIENCE):
            while not any(
                rule["hits"] for rule in self.site.http().get("/v1/faults").json()["faults"] if rule["call"] == call
            ):
                await asyncio.sleep(0.01)

    def repair(self) -> None:
        """Take every fault rule away."""
        self.site.http().delete("/v1/faults").raise_for_status()

    async def free_machines(self) -> int:
        count: int = await self.value(
            "SELECT count(*) FROM machines m WHERE NOT EXISTS"
            " (SELECT FROM allocations a WHERE a.machine_id = m.id AND a.freed_at IS NULL)"
        )
        return count

    async def assert_nothing_left(self) -> None:
        """Neither we nor the site remember the cluster's machines, servers or networks."""
        left = self.site.http()
        assert left.get("/v1/networks").json()["networks"] == []
        assert {host["state"] for host in left.get("/v1/hosts").json()["hosts"]} == {"clean"}
        assert self.partitions() == []
        held = await self.value("SELECT count(*) FROM allocations WHERE freed_at IS NULL")
        used = await self.value("SELECT sum(used) FROM quotas")
        assert (held, used) == (0, 0)

    def partitions(self) -> list[str]:
        stub = vipu_pb2_grpc.UserServiceStub(self.site.user_channel())
        asked, who = vipu_pb2.ListPartitionsRequest(), (("vipu-user", "ipucloud"), ("vipu-access-key", ACCESS_KEY))
        return [found.id for found in stub.ListPartitions(asked, timeout=CALL_SECONDS, metadata=who).partitions]


@asynccontextmanager
async def open_world(database: Scratch, site: RunningSite, **changes: Any) -> AsyncIterator[World]:
    """A world over a fresh database and a running site; settings are fast, `changes` override them."""
    values: dict[str, Any] = {
        "database_url": SecretStr(database.app_url),
        "site_url": site.url,
        "site_token": SecretStr(site.token),
        "vipu_access_key": SecretStr(ACCESS_KEY),
        "secrets_key": SecretStr(SECRETS_KEY),
        "site_call_timeout": CALL_SECONDS,
        "site_poll_interval": 0.02,
        "request_life": 0.1,
        "partitions_change_interval": 0.02,
        "poll_seconds": 0.2,
    }
    settings = Settings(**(values | changes))
    world = World(Database(database.app_url, pool_size=4), site, settings, load())
    await world.open()
    try:
        yield world
    finally:
        await world.close()
