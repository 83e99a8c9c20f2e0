"""The domain as a request sees it, over a real database: each method is one transaction, or one statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import psycopg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_interval
from ipucloud.catalogue.load import load
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.estimate import estimate
from ipucloud.clusters.operations.create import create
from ipucloud.clusters.operations.delete import delete
from ipucloud.clusters.operations.resume import resume
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.clusters.queries import GET_CLUSTER
from ipucloud.clusters.tables import clusters
from ipucloud.clusters.update import update
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate, ClusterPatch, EstimateOut
from ipucloud.contract.event_payloads import ClusterEntered
from ipucloud.contract.event_types import REGISTRY
from ipucloud.contract.operations import OperationState
from ipucloud.db.base import DB_NOW
from ipucloud.db.engine import Database
from ipucloud.events.log import record
from ipucloud.identity.access import project_parameters
from ipucloud.kernel.errors import PROVISIONING_FAILED, Problem
from ipucloud.operations.loading import CURRENT_STEP, OPEN_OPERATION, open_operation_of
from ipucloud.operations.queries import operation_document
from ipucloud.operations.store import Accepted, end_operation
from tests.support.factories import Project, World

IMAGE = "ubuntu-20.04-x64-poplar-1.18.0-3.0.0"

_SERVERS_RUN = sa.text(
    """
    UPDATE poplar_servers
       SET state = 'running', ssh_host = '203.0.113.7', ssh_port = 2201, ssh_user = 'ubuntu',
           host_key = 'ssh-ed25519 AAAA', host_key_fingerprint = 'SHA256:abc'
     WHERE cluster_id = :id
    """
)
_OPEN = sa.text(
    f"SELECT {OPEN_OPERATION} FROM operations o {CURRENT_STEP} WHERE o.cluster_id = :id AND o.finished_at IS NULL"  # noqa: S608
)
_FREE = (
    "UPDATE allocations SET released_at = app_now(), freed_at = app_now() WHERE cluster_id = :id",
    "UPDATE quotas SET used = used - machines FROM clusters WHERE clusters.id = :id"
    " AND quotas.project_id = clusters.project_id AND quotas.region = clusters.region",
    "UPDATE poplar_servers SET state = 'deleted', ssh_host = NULL WHERE cluster_id = :id",
)


_REST = (
    "UPDATE allocations SET released_at = app_now(), freed_at = app_now()"
    " WHERE cluster_id = :id AND machine_id IS NOT NULL AND freed_at IS NULL",
    _FREE[1],
    "UPDATE poplar_servers SET state = 'off' WHERE cluster_id = :id",
    "UPDATE partitions SET desired_state = 'absent', state = 'removed', removed_at = app_now() WHERE cluster_id = :id",
)


def cluster_body(name: str = "bert", **changes: object) -> ClusterCreate:
    """A POD4 in Luxembourg with the key that factories make."""
    usual = {
        "name": name,
        "region": "luxembourg-2",
        "flavor": "m2000-pod4",
        "image": IMAGE,
        "ssh_keys": ["laptop"],
    }
    return ClusterCreate.model_validate(usual | changes)


def authentication(project: Project) -> dict[str, object]:
    """The parameters of an authenticating statement for the project's own token."""
    return {"token_hash": project.token.hash, **project_parameters(project.slug)}


def stop_clock(owner_url: str, instant: datetime) -> None:
    """From now on the database's clock shows `instant`."""
    _set_clock(owner_url, f"timestamptz '{instant.isoformat()}'")


def shift_clock(owner_url: str, interval: str) -> None:
    """From now on the database's clock runs as much before or behind the time as this PostgreSQL interval says."""
    _set_clock(owner_url, f"statement_timestamp() + interval '{interval}'")


def start_clock(owner_url: str) -> None:
    """From now on the database's clock shows the time, as migrations have it."""
    _set_clock(owner_url, "statement_timestamp()")


def _set_clock(owner_url: str, expression: str) -> None:
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL(
                "CREATE OR REPLACE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS {}"
            ).format(psycopg.sql.Literal(f"SELECT {expression}"))
        )


@dataclass(frozen=True)
class Cloud:
    """What a project may ask for; `world` holds what it starts with."""

    database: Database
    world: World
    catalogue: Catalogue = field(default_factory=load)
    settings: Settings = field(default_factory=Settings)
    broken_on_purpose: set[str] = field(default_factory=set)

    @property
    def project(self) -> Project:
        return self.world.project

    async def create(self, name: str = "bert", *, project: Project | None = None, **changes: object) -> Accepted:
        """As the API does it, with the retries that the database asks for."""
        actor, body = (project or self.project).actor, cluster_body(name, **changes)
        return await self.database.transact(
            lambda connection: create(connection, actor, body, catalogue=self.catalogue, settings=self.settings)
        )

    async def estimate(self, name: str = "bert", *, project: Project | None = None, **changes: object) -> EstimateOut:
        async with self.database.read() as connection:
            return await estimate(
                connection,
                (project or self.project).actor,
                cluster_body(name, **changes),
                catalogue=self.catalogue,
                settings=self.settings,
            )

    async def delete(
        self, cluster_id: UUID, *, project: Project | None = None, if_match: int | None = None
    ) -> Accepted:
        actor = (project or self.project).actor
        return await self.database.transact(
            lambda connection: delete(connection, actor, cluster_id, if_match=if_match, settings=self.settings)
        )

    async def suspend(
        self, cluster_id: UUID, *, project: Project | None = None, if_match: int | None = None
    ) -> Accepted:
        actor = (project or self.project).actor
        return await self.database.transact(
            lambda connection: suspend(connection, actor, cluster_id, if_match=if_match, settings=self.settings)
        )

    async def resume(
        self, cluster_id: UUID, *, project: Project | None = None, if_match: int | None = None
    ) -> Accepted:
        actor = (project or self.project).actor
        return await self.database.transact(
            lambda connection: resume(connection, actor, cluster_id, if_match=if_match, settings=self.settings)
        )

    async def update(
        self, cluster_id: UUID, *, project: Project | None = None, if_match: int | None = None, **changes: object
    ) -> int:
        actor, body = (project or self.project).actor, ClusterPatch.model_validate(changes)
        return await self.database.transact(
            lambda connection: update(connection, actor, cluster_id, body, if_match=if_match)
        )

    async def cluster(self, cluster_id: UUID, *, project: Project | None = None) -> dict[str, Any]:
        """The cluster's JSON."""
        row = await self.one(GET_CLUSTER, authentication(project or self.project) | {"cluster_id": cluster_id})
        document: dict[str, Any] = orjson.loads(row.document)
        return document

    async def operation(self, operation_id: UUID, *, project: Project | None = None) -> dict[str, Any]:
        """The operation's JSON."""
        async with self.database.read() as connection:
            text = await operation_document(
                connection, project_id=(project or self.project).id, operation_id=operation_id
            )
        document: dict[str, Any] = orjson.loads(text)
        return document

    async def one(self, statement: sa.TextClause, parameters: dict[str, Any] | None = None) -> sa.Row[Any]:
        async with self.database.read() as connection:
            return (await connection.execute(statement, parameters or {})).one()

    async def column(self, statement: str, **parameters: object) -> list[Any]:
        """The first column of whatever a test wants to see of the database."""
        async with self.database.read() as connection:
            return list((await connection.execute(sa.text(statement), parameters)).scalars())

    async def execute(self, statement: str, **parameters: object) -> None:
        """Bring about a state that the test starts from."""
        async with self.database.begin() as connection:
            await connection.execute(sa.text(statement), parameters)

    async def finish_create(self, cluster_id: UUID) -> None:
        """What a reconciler writes when the last step of a create holds."""
        async with self.database.begin() as connection:
            ready = sa.func.coalesce(clusters.c.ready_at, DB_NOW)
            project = await self._enter(connection, cluster_id, "active", ready_at=ready, state_sla_seconds=None)
            await connection.execute(_SERVERS_RUN, {"id": cluster_id})
            await self._end(connection, cluster_id, OperationState.SUCCEEDED)
            await open_interval(connection, project_id=project, cluster_id=cluster_id)

    async def finish_suspend(self, cluster_id: UUID) -> None:
        """What a reconciler writes when a suspend was verified, and when a resume was undone."""
        async with self.database.begin() as connection:
            for statement in _REST:
                await connection.execute(sa.text(statement), {"id": cluster_id})
            await self._enter(connection, cluster_id, "suspended", state_sla_seconds=None)
            await self._end(connection, cluster_id, OperationState.SUCCEEDED)

    async def fail_create(self, cluster_id: UUID) -> None:
        """What a reconciler writes when a create failed and was undone."""
        async with self.database.begin() as connection:
            await self._free(connection, cluster_id)
            await self._enter(connection, cluster_id, "error", state_reason="creation failed")
            await self._end(connection, cluster_id, OperationState.FAILED, Problem(PROVISIONING_FAILED, "It failed."))

    async def finish_delete(self, cluster_id: UUID) -> None:
        """What a reconciler writes when the clean-up was verified."""
        async with self.database.begin() as connection:
            await self._free(connection, cluster_id)
            await self._enter(connection, cluster_id, "deleted", deleted_at=DB_NOW)
            await self._end(connection, cluster_id, OperationState.SUCCEEDED)

    async def _enter(self, connection: AsyncConnection, cluster_id: UUID, state: str, **changes: object) -> UUID:
        """Whose the cluster is."""
        entered = sa.update(clusters).where(clusters.c.id == cluster_id).returning(clusters.c.project_id)
        project: UUID = (
            await connection.execute(
                entered.values(state=state, state_entered_at=DB_NOW, version=clusters.c.version + 1, **changes)
            )
        ).scalar_one()
        await record(
            connection, REGISTRY[f"cluster.{state}"], project_id=project, subject_id=cluster_id, data=ClusterEntered()
        )
        return project

    async def _free(self, connection: AsyncConnection, cluster_id: UUID) -> None:
        for statement in _FREE:
            await connection.execute(sa.text(statement), {"id": cluster_id})

    async def _end(
        self, connection: AsyncConnection, cluster_id: UUID, state: OperationState, error: Problem | None = None
    ) -> None:
        operation = open_operation_of((await connection.execute(_OPEN, {"id": cluster_id})).one())
        assert operation is not None
        await end_operation(connection, operation, state, error)
