"""Beginning an operation on an existing cluster: its record, the cluster's new state, and the end of billing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_in_use, close_interval
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.clusters.locks import LockedCluster, in_the_way, running_operation, wait_in_the_way
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, lacking
from ipucloud.clusters.repairs.store import operation_begun
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.documents import clauses
from ipucloud.events.log import RECORD
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.ending import preempt
from ipucloud.operations.kind import Billing, Repeated
from ipucloud.operations.step import PlannedStep, expected_seconds, plan_of
from ipucloud.operations.store import Accepted, Target, open_operation
from ipucloud.reconcile.wake import wake

_ENTER = sa.text(
    clauses(
        """
    WITH cluster AS (
      UPDATE clusters
         SET state = :state, state_reason = NULL, state_entered_at = app_now(), state_sla_seconds = :sla,
             blocked_by = NULL, version = version + 1,
             delete_requested_at = CASE WHEN :state = 'deleting' THEN app_now() END
       WHERE project_id = :project_id AND id = :cluster_id
      RETURNING id, project_id
    )
        """,
        RECORD,
        "SELECT project_id, 'cluster.' || :state, 'cluster', id, :operation_id, :request_id, '{}' FROM cluster",
    )
).bindparams(sa.bindparam("state", type_=sa.Text))


async def begin(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, kind: ClusterKind, *, deadline_seconds: float
) -> Accepted:
    """Open the operation, move the cluster to the state that the kind declares, and end billing if the kind ends it.

    A kind that pauses billing calls `end_billing` itself, after what it locks in between.

    A scheduled repair has begun then, or is superseded. At most five statements, and two for that. Raises
    IllegalTransition if the cluster's state does not lead there.
    """
    plan = plan_for(cluster, kind.steps)
    accepted = await open_planned(connection, actor, cluster, kind, plan, deadline_seconds=deadline_seconds)
    await transition(connection, actor, cluster, kind, accepted.operation_id)
    if kind.billing is Billing.ENDS:
        await end_billing(connection, cluster)
    return accepted


async def transition(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, kind: ClusterKind, operation_id: UUID
) -> None:
    """Move the cluster to the state in which the operation carries its steps out, if its kind declares one."""
    if kind.during is None:
        return
    if kind.during == ClusterState.DELETING:
        await ADDRESSES.detach_all(connection, project_id=actor.project_id, cluster_id=cluster.id)
        await VOLUMES.detach_all(connection, project_id=actor.project_id, cluster_id=cluster.id)
    await connection.execute(
        _ENTER,
        {
            "project_id": actor.project_id,
            "cluster_id": cluster.id,
            "state": CLUSTER_STATES.require(cluster.state, ClusterState(kind.during)).value,
            "sla": math.ceil(expected_seconds(plan_for(cluster, kind.steps), cluster.typical_seconds)),
            "operation_id": operation_id,
            "request_id": actor.request_id,
        },
    )
    failpoint("begin.state_entered")
    await operation_begun(
        connection,
        project_id=actor.project_id,
        cluster_id=cluster.id,
        kind=kind.name,
        operation_id=operation_id,
        request_id=actor.request_id,
    )


async def end_billing(connection: AsyncConnection, cluster: LockedCluster) -> None:
    """End billing with the request; billing comes last in the lock order."""
    close = close_in_use if cluster.state in BILLABLE else close_interval
    await close(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    failpoint("begin.interval_closed")


def plan_for(cluster: LockedCluster, steps: Iterable[ClusterStep]) -> tuple[PlannedStep, ...]:
    """The steps; those that do not apply to the cluster are marked as skipped."""
    return plan_of(steps, lacking(cluster.allocated_through, secure=cluster.secure))


async def open_planned(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    kind: ClusterKind,
    plan: Sequence[PlannedStep],
    *,
    deadline_seconds: float,
) -> Accepted:
    """Open the operation with the steps of `plan`; the cluster stays in its state."""
    operation_id = await open_operation(
        connection,
        kind,
        actor,
        Target(cluster_id=cluster.id),
        plan=plan,
        deadline_seconds=deadline_seconds,
        expected_seconds=expected_seconds(plan, cluster.typical_seconds),
    )
    return Accepted(operation_id, cluster.id)


async def repeated(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, kind: ClusterKind, *, if_match: int | None
) -> Accepted | None:
    """The response to a request while an operation runs on the cluster, as the kind declares; None when none runs.

    A resize that waits for capacity ends, as `preempted`, if the kind ends it.

    Raises `Problem` precondition_failed, operation_in_progress.
    """
    running = await running_operation(connection, actor, cluster, beside_partitions=kind.beside_partitions)
    if running is not None and running.kind == kind.name and kind.repeated is Repeated.JOINS:
        return await still_running(connection, actor, cluster, running.id)
    cluster.require_version(if_match)
    if kind.ends_waits and running is not None and running.waits_to_resize(cluster):
        await end_wait(connection, cluster, running.id)
        running = await running_operation(connection, actor, cluster, beside_partitions=kind.beside_partitions)
    if running is not None and running.waits_to_resize(cluster):
        raise wait_in_the_way(running.id)
    if running is not None:
        raise in_the_way(running.id, "a partition of the cluster" if running.of_partition else "the cluster")
    return None


async def end_wait(connection: AsyncConnection, cluster: LockedCluster, operation_id: UUID) -> None:
    """End a resize that waits for capacity: another operation takes the cluster out of use."""
    why = "The cluster is taken out of use before the resize found machines. Resize it again when it is in use."
    await preempt(connection, project_id=cluster.project_id, operation_id=operation_id, reason=why)


async def still_running(connection: AsyncConnection, actor: Actor, cluster: LockedCluster, operation: UUID) -> Accepted:
    """The operation that was requested again; if its work item was parked, it is woken."""
    await wake(connection, kind=WORK_KIND, key=str(cluster.id), project_id=actor.project_id)
    return Accepted(operation, cluster.id)
