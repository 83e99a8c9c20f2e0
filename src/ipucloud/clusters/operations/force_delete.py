"""Deleting a customer's cluster on behalf of an operator: without waiting for hardware that is dead."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import lock_cluster, running_operation, set_reason
from ipucloud.clusters.operations.begin import begin, open_planned, plan_for, still_running
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import DeleteForced
from ipucloud.contract.event_types.clusters import CLUSTER_DELETE_FORCED
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import not_found
from ipucloud.operations.ending import preempt_all
from ipucloud.operations.store import Accepted, force

_PROJECT = Query("SELECT project_id FROM clusters WHERE id = :cluster_id", UUID)


async def project_of(connection: Statements, cluster_id: UUID) -> UUID:
    """The project of a cluster. Raises `Problem` not_found."""
    project_id = await _PROJECT.one_or_none(connection, {"cluster_id": cluster_id})
    if project_id is None:
        raise not_found()
    return project_id


async def force_delete(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, reason: str, settings: Settings
) -> Accepted:
    """Delete the cluster whatever its `delete_protection`, or have its running delete no longer wait.

    Machines and hosts in trouble are isolated as soon as that is sure, without a limit; those that work on their
    cleaning get `isolation_after` seconds. Partitions, allocation and network are removed as in any delete, and freezes
    hold. Raises `Problem` not_found.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    if cluster.state is ClusterState.DELETED:
        raise not_found()
    deadline = settings.create_deadline
    if cluster.state is not ClusterState.DELETING:
        why = "An operator deletes the cluster; what this operation built is removed with it."
        await preempt_all(connection, project_id=actor.project_id, cluster_id=cluster_id, reason=why)
        accepted = await begin(connection, actor, cluster, DELETE, deadline_seconds=deadline)
    elif (running := await running_operation(connection, actor, cluster)) is not None:
        accepted = await still_running(connection, actor, cluster, running.id)
    else:
        plan = plan_for(cluster, DELETE.steps)
        accepted = await open_planned(connection, actor, cluster, DELETE, plan, deadline_seconds=deadline)
    await force(connection, project_id=actor.project_id, operation_id=accepted.operation_id, reason=reason)
    why = f"The operator deletes the cluster: {reason}"
    await set_reason(connection, actor.project_id, cluster_id, why)
    await record(
        connection,
        CLUSTER_DELETE_FORCED,
        project_id=actor.project_id,
        subject_id=cluster_id,
        operation_id=accepted.operation_id,
        request_id=actor.request_id,
        data=DeleteForced(reason=reason),
    )
    return accepted
