"""Deleting a cluster: accepted in every state, at any time, in the caller's one transaction."""

from __future__ import annotations

import math
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.usage import close_interval
from ipucloud.catalogue.load import load
from ipucloud.clusters.admission import expected_seconds
from ipucloud.clusters.create import Accepted
from ipucloud.clusters.locked import lock_cluster, no_such_cluster
from ipucloud.clusters.plans import DELETE, DELETE_PLAN, WORK_KIND, plan_for
from ipucloud.clusters.states import CLUSTER_STATES, ClusterState
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import DELETE_PROTECTED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.store import open_operation, preempt
from ipucloud.reconcile.wake import wake

_RUNNING = sa.text(
    """
    SELECT id FROM operations
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state NOT IN ('cancelled', 'failed', 'succeeded')
    """
)
_ENTER_DELETING = sa.text(
    """
    WITH cluster AS (
      UPDATE clusters
         SET state = :state, state_reason = NULL, state_entered_at = app_now(), state_sla_seconds = :sla,
             blocked_by = NULL, delete_requested_at = app_now(), version = version + 1
       WHERE project_id = :project_id AND id = :cluster_id
      RETURNING id, project_id
    )
    INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id)
    SELECT project_id, 'cluster.deleting', 'cluster', id, :operation_id, :request_id FROM cluster
    """
)


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
    mine = {"project_id": actor.project_id, "cluster_id": cluster_id}
    if cluster.state is ClusterState.DELETING:
        running = await connection.execute(_RUNNING, mine)
        await wake(connection, kind=WORK_KIND, key=str(cluster_id), project_id=actor.project_id)
        return Accepted(running.scalar_one(), cluster_id)
    cluster.require_version(if_match)
    if cluster.delete_protection:
        raise Problem(
            DELETE_PROTECTED, "The cluster is protected. Set `delete_protection` to false first, then delete it."
        )
    CLUSTER_STATES.require(cluster.state, ClusterState.DELETING)
    plan = plan_for(cluster.allocated_through, DELETE_PLAN, secure=cluster.secure)
    expected = expected_seconds(plan, cluster.typical_seconds, load())
    await preempt(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("delete.preempted")
    operation_id = await open_operation(
        connection,
        project_id=actor.project_id,
        cluster_id=cluster_id,
        kind=DELETE,
        plan=plan,
        deadline_seconds=settings.create_deadline,
        expected_seconds=expected,
        request_id=actor.request_id,
        token_id=actor.token_id,
    )
    failpoint("delete.operation_opened")
    await connection.execute(
        _ENTER_DELETING,
        mine
        | {
            "state": ClusterState.DELETING.value,
            "sla": math.ceil(expected),
            "operation_id": operation_id,
            "request_id": actor.request_id,
        },
    )
    failpoint("delete.state_entered")
    await wake(connection, kind=WORK_KIND, key=str(cluster_id), project_id=actor.project_id)
    failpoint("delete.woken")
    await close_interval(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("delete.interval_closed")
    return Accepted(operation_id, cluster_id)
