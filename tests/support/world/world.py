"""A project over a migrated database: what it asks for, and what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa

from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.queries import GET_CLUSTER
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.identity.access import project_parameters
from ipucloud.inventory.health.codes import CODES, OBSERVED, Code, Kind, Source
from ipucloud.inventory.health.reports import clear, report
from ipucloud.operations.queries import operation_document
from tests.support.factories import Project, seed_world
from tests.support.invariants import assert_sound
from tests.support.settled import SETTLED
from tests.support.waiting import PATIENCE
from tests.support.world.customer import Customer
from tests.support.world.finishing import Finishing


def authentication(project: Project) -> dict[str, object]:
    """The parameters of an authenticating statement for the project's own token."""
    return {"token_hash": project.token.hash, **project_parameters(project.slug)}


WORKERS_RULES = frozenset({"cluster_is_cleaned_up_in_time"})
"""Rules that a worker keeps, and that no worker keeps here."""


class World(Finishing):
    """What `project` asks for is asked of the world itself. `broken_on_purpose`: rules that a test breaks."""

    project: Project

    def __init__(
        self,
        database: Database,
        project: Project | None = None,
        *,
        settings: Settings | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        super().__init__(database, lambda: self.project.actor, settings or _usual_settings(), catalogue or load())
        if project is not None:
            self.project = project
        self.broken_on_purpose: set[str] = set()

    @classmethod
    async def seeded(
        cls, database: Database, *, pods: int = 1, hosts: int = 16, settings: Settings | None = None
    ) -> World:
        """Prices, `pods` of 16 machines and `hosts` in each of two regions, and a project with quota."""
        async with database.begin() as connection:
            seeded = await seed_world(connection, pod_count=pods, host_count=hosts)
        return cls(database, seeded.project, settings=settings)

    def customer(self, project: Project) -> Customer:
        """Another project, which asks for things in the same world."""
        return Customer(self.database, lambda: project.actor, self.settings, self.catalogue)

    async def cluster(self, cluster_id: UUID) -> dict[str, Any]:
        """The cluster's JSON."""
        parameters = authentication(self.project) | {"cluster_id": cluster_id}
        async with self.database.read() as connection:
            row = await GET_CLUSTER.one(connection, parameters)
        document: dict[str, Any] = orjson.loads(row.document or "null")
        return document

    async def operation(self, operation_id: UUID) -> dict[str, Any]:
        """The operation's JSON."""
        async with self.database.read() as connection:
            text = await operation_document(connection, project_id=self.project.id, operation_id=operation_id)
        document: dict[str, Any] = orjson.loads(text)
        return document

    async def rows(
        self, statement: str | Query[Any], parameters: Mapping[str, object] = MappingProxyType({}), **values: object
    ) -> Sequence[Any]:
        text = sa.text(statement) if isinstance(statement, str) else statement.statement
        async with self.database.read() as connection:
            return (await connection.execute(text, {**parameters, **values})).all()

    async def one(
        self, statement: str | Query[Any], parameters: Mapping[str, object] = MappingProxyType({}), **values: object
    ) -> Any:
        (row,) = await self.rows(statement, parameters, **values)
        return row

    async def value(self, statement: str, **values: object) -> Any:
        return (await self.one(statement, values))[0]

    async def column(self, statement: str, **values: object) -> list[Any]:
        """The first column."""
        return [row[0] for row in await self.rows(statement, values)]

    async def execute(self, statement: str, **values: object) -> None:
        """Bring about a state that the test starts from."""
        async with self.database.begin() as connection:
            await connection.execute(sa.text(statement), values)

    async def sync_pods_and_hosts(self) -> None:
        """Make the rows of pods and hosts follow from machines and allocations that `execute` changed."""
        for statement in SETTLED:
            await self.execute(statement)

    async def make_active(self, name: str = "bert", flavor: str = "m2000-pod4", **changes: object) -> UUID:
        """A cluster in use, which no worker built."""
        accepted = await self.create(name, flavor, **changes)
        await self.finish_create(accepted.target_id)
        return accepted.target_id

    async def make_suspended(self, name: str = "bert", flavor: str = "m2000-pod4", **changes: object) -> UUID:
        """A cluster that was in use, and rests."""
        cluster_id = await self.make_active(name, flavor, **changes)
        await self.suspend(cluster_id)
        await self.finish_suspend(cluster_id)
        return cluster_id

    async def state(self, cluster_id: UUID) -> str:
        return str((await self.cluster(cluster_id))["state"])

    async def fail(self, cluster_id: UUID, code: Code, *, ordinal: int = 0, kind: Kind = "machine") -> UUID:
        """A confirmed report about a machine or host that the cluster holds, as observation writes it."""
        held = await self.column(
            f"SELECT {kind}_id FROM allocations"  # noqa: S608
            f" WHERE cluster_id = :id AND {kind}_id IS NOT NULL AND freed_at IS NULL ORDER BY ordinal",
            id=cluster_id,
        )
        source = min(CODES[kind][code].sources, key=_observing)
        async with self.database.begin() as connection:
            await lock_cluster(connection, project_id=self.project.id, cluster_id=cluster_id)
            report_id = await report(
                connection,
                kind=kind,
                object_id=held[ordinal],
                source=source,
                code=code,
                detail="as seen",
                cluster_id=cluster_id,
            )
            await apply_reports(connection, project_id=self.project.id, cluster_id=cluster_id)
        return report_id

    async def machine_of(self, cluster_id: UUID, *, ordinal: int = 0) -> str:
        """The name of a machine that the cluster holds."""
        name: str = await self.value(
            "SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id"
            " WHERE a.cluster_id = :id AND a.ordinal = :ordinal AND a.freed_at IS NULL",
            id=cluster_id,
            ordinal=ordinal,
        )
        return name

    async def impair(self, code: Code, where: str = "true", *, kind: Kind = "machine") -> list[UUID]:
        """Confirmed reports about machines or hosts that no cluster in use holds, chosen by SQL; the reports."""
        chosen = await self.column(f"SELECT id FROM {kind}s WHERE {where} ORDER BY id")  # noqa: S608
        source = min(CODES[kind][code].sources, key=_observing)
        async with self.database.begin() as connection:
            return [
                await report(connection, kind=kind, object_id=each, source=source, code=code, detail="as seen")
                for each in chosen
            ]

    async def work_again(self, cluster_id: UUID, report_id: UUID) -> None:
        """The end of a report, as observation writes it."""
        async with self.database.begin() as connection:
            await lock_cluster(connection, project_id=self.project.id, cluster_id=cluster_id)
            await clear(connection, report_id=report_id)
            await apply_reports(connection, project_id=self.project.id, cluster_id=cluster_id)


@cache
def _usual_settings() -> Settings:
    return Settings()


def _observing(source: Source) -> tuple[bool, str]:
    """For an order in which those that observation reads come first."""
    return source not in OBSERVED, source


@asynccontextmanager
async def open_world(
    url: str, *, pods: int = 1, hosts: int = 16, pool_size: int = 5, sound: bool = True
) -> AsyncIterator[World]:
    """A seeded world. If `sound`, every rule holds at the end but for those that the test breaks on purpose."""
    database = Database(url, pool_size=pool_size, pool_timeout=PATIENCE)
    try:
        world = await World.seeded(database, pods=pods, hosts=hosts)
        yield world
        if sound:
            await assert_sound(database, but=world.broken_on_purpose | WORKERS_RULES)
    finally:
        await database.close()
