"""Deleting a cluster: accepted in every state, at any time, in the caller's one transaction."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.usage import close_interval
from ipucloud.clusters.begin import Accepted, begin, still_running
from ipucloud.clusters.locked import lock_cluster, no_such_cluster, running_operation
from ipucloud.clusters.plans import DELETE, DELETE_PLAN
from ipucloud.clusters.states import ClusterState
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import DELETE_PROTECTED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.store import preempt


async def delete(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, if_match: int | None, settings: Settings
) -> Accepted:
    """Record that the cluster goes: billing ends, what ran on it ends as `preempted`, a delete operation opens.

    Six statements. A cluster in `error`, whose resources may be gone already, takes the same way: each step of the
    plan holds for what is not there. Asked again while it runs, the delete answers with its operation, whatever
    `if_match` says: what the caller wants is under way, and a lost answer can be asked for (RFC 9110, 13.1.1); a
    clean-up that was parked is taken up again. A cluster that was deleted can still be read, but there is nothing left
    to delete: not_found, which every client takes for done.

    Raises `Problem`: not_found, precondition_failed, delete_protected.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("delete.cluster_locked")
    if cluster.state is ClusterState.DELETED:
        raise no_such_cluster()
    if cluster.state is ClusterState.DELETING:
        running = await running_operation(connection, actor, cluster)
        if running is not None:
            return await still_running(connection, actor, cluster, running.id)
    cluster.require_version(if_match)
    if cluster.delete_protection:
        raise Problem(
            DELETE_PROTECTED, "The cluster is protected. Set `delete_protection` to false first, then delete it."
        )
    await preempt(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("delete.preempted")
    accepted = await begin(
        connection, actor, cluster, kind=DELETE, plan=DELETE_PLAN, state=ClusterState.DELETING, settings=settings
    )
    await close_interval(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("delete.interval_closed")
    return accepted
