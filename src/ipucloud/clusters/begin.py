"""Beginning an operation on a cluster that is there: the promise, the state that tells of it, and the ticket."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.load import load
from ipucloud.clusters.admission import expected_seconds
from ipucloud.clusters.locked import LockedCluster, in_the_way, running_operation
from ipucloud.clusters.plans import WORK_KIND, plan_for
from ipucloud.clusters.states import CLUSTER_STATES, ClusterState
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.plan import PlannedStep
from ipucloud.operations.store import open_operation
from ipucloud.reconcile.wake import wake

_ENTER = sa.text(
    """
    WITH cluster AS (
      UPDATE clusters
         SET state = :state, state_reason = NULL, state_entered_at = app_now(), state_sla_seconds = :sla,
             blocked_by = NULL, version = version + 1,
             delete_requested_at = CASE WHEN :state = 'deleting' THEN app_now() END
       WHERE project_id = :project_id AND id = :cluster_id
      RETURNING id, project_id
    )
    INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id)
    SELECT project_id, 'cluster.' || :state, 'cluster', id, :operation_id, :request_id FROM cluster
    """
).bindparams(sa.bindparam("state", type_=sa.Text))


@dataclass(frozen=True, slots=True)
class Accepted:
    """A promise on record: the operation that keeps it, and its cluster."""

    operation_id: UUID
    cluster_id: UUID


async def begin(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    *,
    kind: str,
    plan: Sequence[PlannedStep],
    state: ClusterState,
    settings: Settings,
) -> Accepted:
    """Open the operation and let the cluster enter `state`, with both events and the ticket; three statements.

    Raises IllegalTransition for a state that the cluster's does not lead to.
    """
    CLUSTER_STATES.require(cluster.state, state)
    planned = plan_for(cluster.allocated_through, plan, secure=cluster.secure)
    expected = expected_seconds(planned, cluster.typical_seconds, load())
    operation_id = await open_operation(
        connection,
        project_id=actor.project_id,
        cluster_id=cluster.id,
        kind=kind,
        plan=planned,
        deadline_seconds=settings.create_deadline,
        expected_seconds=expected,
        request_id=actor.request_id,
        token_id=actor.token_id,
    )
    failpoint("begin.operation_opened")
    await connection.execute(
        _ENTER,
        {
            "project_id": actor.project_id,
            "cluster_id": cluster.id,
            "state": state.value,
            "sla": math.ceil(expected),
            "operation_id": operation_id,
            "request_id": actor.request_id,
        },
    )
    failpoint("begin.state_entered")
    await wake(connection, kind=WORK_KIND, key=str(cluster.id), project_id=actor.project_id)
    failpoint("begin.woken")
    return Accepted(operation_id, cluster.id)


async def asked_before(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, *, kind: str, if_match: int | None
) -> Accepted | None:
    """The operation of this kind that runs already, whatever `if_match` says; None when nothing runs on the cluster.

    Raises `Problem` precondition_failed, operation_in_progress when another one runs.
    """
    running = await running_operation(connection, actor, cluster)
    if running is not None and running.kind == kind:
        return await still_running(connection, actor, cluster, running.id)
    cluster.require_version(if_match)
    if running is not None:
        raise in_the_way(running.id)
    return None


async def still_running(connection: AsyncConnection, actor: Actor, cluster: LockedCluster, operation: UUID) -> Accepted:
    """What was asked for again is under way: its operation, which is taken up again if it was parked."""
    await wake(connection, kind=WORK_KIND, key=str(cluster.id), project_id=actor.project_id)
    return Accepted(operation, cluster.id)
