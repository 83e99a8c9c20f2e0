"""Repairs that a worker completes: an operation on the cluster, with the engine's fences and retries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster, lock_cluster, running_operation
from ipucloud.clusters.operations.begin import end_wait, open_planned, plan_for
from ipucloud.clusters.operations.delete import DELETE, TEARDOWN
from ipucloud.clusters.operations.kind import ClusterKind, ClusterStep
from ipucloud.clusters.operations.repair import REPAIR, steps_of_create
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.invariants.rules import DatabaseRepair, Decision, Refused, RepairDone, Violation
from ipucloud.invariants.states import GONE, KINDS, WORKING
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem
from ipucloud.operations.ending import preempt_all, preempt_partitions
from ipucloud.operations.store import Target
from ipucloud.reconcile.wake import wake

REQUEST_ID = "audit"
"""Request id of the operations and events of a repair."""

DEADLINE_SECONDS = 3600.0
"""How long a repair may take before it gives up; clean-ups never do."""


class _Open(NamedTuple):
    """An open operation on a cluster, one of its partitions, or an export; `home` is its project or account."""

    kind: str
    cluster_id: UUID | None
    partition_id: UUID | None
    export_id: UUID | None
    home: UUID


_OPERATION = Query(
    "SELECT kind, cluster_id, partition_id, export_id, coalesce(project_id, account_id) AS home FROM operations"
    " WHERE project_id IS NOT DISTINCT FROM :project_id AND id = :id AND finished_at IS NULL",
    _Open,
)


async def lock_violated(connection: AsyncConnection, violation: Violation) -> LockedCluster:
    """Lock the cluster of the violation. Raises `Refused` when there is none."""
    if violation.project_id is None:
        raise Refused("The cluster belongs to no project.")
    try:
        return await lock_cluster(connection, project_id=violation.project_id, cluster_id=UUID(violation.object_id))
    except Problem:
        raise Refused("The cluster no longer exists.") from None


async def _open(
    connection: AsyncConnection,
    cluster: LockedCluster,
    kind: ClusterKind,
    steps: Sequence[ClusterStep],
    *,
    beside_partitions: bool = False,
) -> RepairDone:
    actor = Actor(cluster.project_id, token_id=None, request_id=REQUEST_ID)
    running = await running_operation(connection, actor, cluster, beside_partitions=beside_partitions)
    if running is not None and running.waits_to_resize(cluster):
        await end_wait(connection, cluster, running.id)
        running = await running_operation(connection, actor, cluster, beside_partitions=beside_partitions)
    if running is not None:
        raise Refused(f"Operation {running.id} runs on the cluster; audit again when it has finished.")
    plan = plan_for(cluster, steps)
    opened = await open_planned(connection, actor, cluster, kind, plan, deadline_seconds=DEADLINE_SECONDS)
    return RepairDone(opened.operation_id)


async def _take_clean_up_again(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    if cluster.state not in GONE:
        raise Refused(f"The cluster is now in {cluster.state}.")
    return await _open(connection, cluster, REPAIR, TEARDOWN)


_LOSE_PARTITIONS = sa.text("SELECT lose_partitions(:project_id, :cluster_id)")
_INSTEAD = (
    "The V-IPU controller has lost the cluster's allocation. Its partitions are made again, except those that were to"
    " be removed; this operation has nothing left to do."
)


def build_again(what: str, *steps: str, partitions_lost: bool = False) -> DatabaseRepair:
    """Have a worker take these create steps for a cluster in use.

    `partitions_lost`: its partitions are made again as they were, and open operations on them, which can no longer
    succeed, end as `preempted`. Steps that change no partition run beside such operations.
    """
    beside = "create_partition" not in steps

    async def run(connection: AsyncConnection, violation: Violation) -> RepairDone:
        cluster = await lock_violated(connection, violation)
        if cluster.state not in WORKING:
            raise Refused(f"The cluster is now in {cluster.state}.")
        key = {"project_id": cluster.project_id, "cluster_id": cluster.id}
        if partitions_lost:
            await preempt_partitions(connection, **key, reason=_INSTEAD)
        done = await _open(connection, cluster, REPAIR, steps_of_create(*steps), beside_partitions=beside)
        if partitions_lost:
            await connection.execute(_LOSE_PARTITIONS, key)
        return done

    return DatabaseRepair(f"has a worker {what}", run)


async def _delete_again(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    if cluster.state is not ClusterState.DELETING:
        raise Refused(f"The cluster is now in {cluster.state}.")
    return await _open(connection, cluster, DELETE, DELETE.steps)


async def _end_operations(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    key = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    await preempt_all(connection, **key, reason="An operator ended it: it contradicted the state of its cluster.")
    return RepairDone()


async def _wake_cluster_of_operation(connection: AsyncConnection, violation: Violation) -> RepairDone:
    operation_id = UUID(violation.object_id)
    row = await _OPERATION.one_or_none(connection, {"project_id": violation.project_id, "id": operation_id})
    if row is None:
        raise Refused("The operation has finished.")
    if row.kind not in KINDS:
        raise Refused("This version does not know the kind of the operation.")
    target = Target(row.cluster_id, row.partition_id, row.export_id)
    await wake(connection, kind=KINDS[row.kind].work_kind, key=target.key, project_id=row.home)
    return RepairDone(operation_id)


take_clean_up_again = DatabaseRepair("has a worker clean the cluster's machines again", _take_clean_up_again)
end_operations = Decision(
    "ends the open operations of the cluster", _end_operations, "Either the state or the operation may be wrong."
)
delete_again = DatabaseRepair("has a worker delete the cluster again", _delete_again)
wake_cluster_of_operation = DatabaseRepair("wakes the cluster", _wake_cluster_of_operation)
