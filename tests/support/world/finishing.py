"""How operations end, written without a worker: rows as a reconciler leaves them."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_interval, open_interval
from ipucloud.clusters.builds import end_late
from ipucloud.clusters.fault_reports.store import close_confirmed
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.tables import clusters
from ipucloud.contract.event_payloads.clusters import ClusterEntered
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.operations import OperationState
from ipucloud.db.base import DB_NOW
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.errors import PROVISIONING_FAILED, Problem
from ipucloud.operations.ending import end_operation
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.queries import CURRENT_STEP, OPEN_OPERATION
from tests.support.settled import SETTLED
from tests.support.world.customer import Customer

_SERVERS_RUN = sa.text(
    """
    UPDATE poplar_servers
       SET state = 'running', ssh_host = '203.0.113.7', ssh_port = 2201, ssh_user = 'ubuntu',
           host_key = 'ssh-ed25519 AAAA', host_key_fingerprint = 'SHA256:abc'
     WHERE cluster_id = :id
    """
)
_ENDPOINT_MADE = (
    "UPDATE clusters SET endpoint_host = '10.0.0.9', endpoint_port ="
    "   (SELECT coalesce(max(endpoint_port), 20000) + 1 FROM clusters)"
    " WHERE id = :id AND allocated_through = 'v-ipu'",
)
_ENDPOINT_REMOVED = "UPDATE clusters SET endpoint_host = NULL, endpoint_port = NULL WHERE id = :id"
_OPEN = Query(
    f"SELECT {OPEN_OPERATION} FROM operations o {CURRENT_STEP} WHERE o.cluster_id = :id AND o.finished_at IS NULL",  # noqa: S608
    OpenOperation,
)
_PROJECT = Query("SELECT project_id FROM clusters WHERE id = :id", UUID)
_QUOTA_GIVEN_BACK = (
    "UPDATE quotas SET used = used - machines FROM clusters WHERE clusters.id = :id"
    " AND quotas.project_id = clusters.project_id AND quotas.region = clusters.region"
)
_CLEANED = (
    "INSERT INTO hardware_cleanings (allocation_id, external_name)"
    " SELECT id, cluster_id FROM allocations WHERE cluster_id = :id AND freed_at IS NOT NULL"
    " ON CONFLICT DO NOTHING"
)
_EVERYTHING_FREED = (
    "UPDATE allocations SET released_at = app_now(), freed_at = app_now() WHERE cluster_id = :id",
    _CLEANED,
    _QUOTA_GIVEN_BACK,
    "UPDATE poplar_servers SET state = 'deleted', ssh_host = NULL WHERE cluster_id = :id",
    _ENDPOINT_REMOVED,
    *SETTLED,
)
_MACHINES_FREED = (
    "UPDATE allocations SET released_at = app_now(), freed_at = app_now()"
    " WHERE cluster_id = :id AND machine_id IS NOT NULL AND freed_at IS NULL",
    _CLEANED,
    _QUOTA_GIVEN_BACK,
    "UPDATE poplar_servers SET state = 'off' WHERE cluster_id = :id",
    _ENDPOINT_REMOVED,
    "UPDATE partitions SET desired_state = 'absent', state = 'removed', removed_at = app_now() WHERE cluster_id = :id",
    *SETTLED,
)


class Finishing(Customer):
    """Each method writes what a worker writes at the end of an operation."""

    async def finish_create(self, cluster_id: UUID) -> None:
        """When the last step of a create has succeeded."""
        ready = sa.func.coalesce(clusters.c.ready_at, DB_NOW)
        async with self.database.begin() as connection:
            project_id = await _PROJECT.one(connection, {"id": cluster_id})
            await end_late(connection, project_id=project_id, cluster_id=cluster_id)
            project = await _enter(connection, cluster_id, "active", ready_at=ready, state_sla_seconds=None)
            await connection.execute(_SERVERS_RUN, {"id": cluster_id})
            await _execute(connection, _ENDPOINT_MADE, cluster_id)
            await _end(connection, cluster_id, OperationState.SUCCEEDED)
            await open_interval(connection, project_id=project, cluster_id=cluster_id)
            await apply_reports(connection, project_id=project, cluster_id=cluster_id)

    async def fail_create(self, cluster_id: UUID) -> None:
        """When a create failed and was undone."""
        async with self.database.begin() as connection:
            await _execute(connection, _EVERYTHING_FREED, cluster_id)
            project = await _enter(connection, cluster_id, "error", state_reason="creation failed")
            await close_interval(connection, project_id=project, cluster_id=cluster_id)
            await _end(connection, cluster_id, OperationState.FAILED)

    async def finish_suspend(self, cluster_id: UUID, ended: OperationState = OperationState.SUCCEEDED) -> None:
        """When a suspend was verified; `ended` otherwise: when a resume was undone."""
        async with self.database.begin() as connection:
            await _execute(connection, _MACHINES_FREED, cluster_id)
            project = await _enter(connection, cluster_id, "suspended", state_sla_seconds=None)
            await close_confirmed(connection, project_id=project, cluster_id=cluster_id)
            await _end(connection, cluster_id, ended)

    async def finish_delete(self, cluster_id: UUID) -> None:
        """When the teardown was verified."""
        async with self.database.begin() as connection:
            await _execute(connection, _EVERYTHING_FREED, cluster_id)
            project = await _enter(connection, cluster_id, "deleted", deleted_at=DB_NOW)
            await close_confirmed(connection, project_id=project, cluster_id=cluster_id)
            await _end(connection, cluster_id, OperationState.SUCCEEDED)


async def _execute(connection: AsyncConnection, statements: tuple[str, ...], cluster_id: UUID) -> None:
    for statement in statements:
        await connection.execute(sa.text(statement), {"id": cluster_id})


async def _enter(connection: AsyncConnection, cluster_id: UUID, state: str, **changes: object) -> UUID:
    """The project that the cluster belongs to."""
    entered = sa.update(clusters).where(clusters.c.id == cluster_id).returning(clusters.c.project_id)
    values = {"state": state, "state_entered_at": DB_NOW, "version": clusters.c.version + 1} | changes
    project: UUID = (await connection.execute(entered.values(**values))).scalar_one()
    await record(
        connection, REGISTRY[f"cluster.{state}"], project_id=project, subject_id=cluster_id, data=ClusterEntered()
    )
    return project


async def _end(connection: AsyncConnection, cluster_id: UUID, state: OperationState) -> None:
    error = Problem(PROVISIONING_FAILED, "It failed.") if state is OperationState.FAILED else None
    await end_operation(connection, await _OPEN.one(connection, {"id": cluster_id}), state, error)
