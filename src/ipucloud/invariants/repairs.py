"""Heals that leave the work to a worker: an operation on the cluster, with the engine's fences and retries."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.plan import WORK_KIND as EXPORT_WORK
from ipucloud.catalogue.load import load
from ipucloud.catalogue.models import AllocatedThrough
from ipucloud.clusters.admission import expected_seconds
from ipucloud.clusters.plans import CLEAN_UP_PLAN, DELETE, DELETE_PLAN, HEAL, WORK_KIND, plan_for, repair_plan
from ipucloud.clusters.states import PARTITIONS, ClusterState
from ipucloud.invariants.rules import Mend, Mended, Refused, Violation
from ipucloud.invariants.states import GONE, WORKING
from ipucloud.operations.plan import PlannedStep
from ipucloud.operations.store import open_operation
from ipucloud.reconcile.wake import wake

REQUEST_ID = "audit"
"""What operations and events of a heal have for a request id."""

DEADLINE_SECONDS = 3600.0
"""How long a heal may take before it gives up; cleaning up never does."""

_LOCK = sa.text(
    """
    SELECT c.id, c.project_id, c.state, c.allocated_through, r.typical_seconds, r.vipu_secure,
           o.id AS operation_id
      FROM clusters c
      LEFT JOIN site_regions r ON r.region = c.region
      LEFT JOIN operations o ON o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
     WHERE c.project_id = :project_id AND c.id = :cluster_id FOR NO KEY UPDATE OF c
    """
)
_CLUSTER_OF = sa.text(
    "SELECT cluster_id, partition_id, export_id FROM operations"
    " WHERE project_id = :project_id AND id = :id AND finished_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster under the transaction's lock, with its open operation."""

    id: UUID
    project_id: UUID
    state: ClusterState
    allocated_through: AllocatedThrough
    typical_seconds: dict[str, float]
    secure: bool
    operation_id: UUID | None


async def lock_cluster(connection: AsyncConnection, violation: Violation) -> Cluster:
    """The cluster that the violation is about. Raises `Refused` when there is none."""
    found = await connection.execute(
        _LOCK, {"project_id": violation.project_id, "cluster_id": UUID(violation.object_id)}
    )
    row = found.first()
    if row is None:
        raise Refused("There is no such cluster any more.")
    return Cluster(
        id=row.id,
        project_id=row.project_id,
        state=ClusterState(row.state),
        allocated_through=AllocatedThrough(row.allocated_through),
        typical_seconds=row.typical_seconds or {},
        secure=bool(row.vipu_secure),
        operation_id=row.operation_id,
    )


async def _open(connection: AsyncConnection, cluster: Cluster, kind: str, plan: tuple[PlannedStep, ...]) -> Mended:
    if cluster.operation_id is not None:
        raise Refused(f"Operation {cluster.operation_id} runs on the cluster; audit again when it has ended.")
    plan = plan_for(cluster.allocated_through, plan, secure=cluster.secure)
    operation_id = await open_operation(
        connection,
        project_id=cluster.project_id,
        cluster_id=cluster.id,
        kind=kind,
        plan=plan,
        deadline_seconds=DEADLINE_SECONDS,
        expected_seconds=expected_seconds(plan, cluster.typical_seconds, load()),
        request_id=REQUEST_ID,
        token_id=None,
    )
    await wake(connection, kind=WORK_KIND, key=str(cluster.id), project_id=cluster.project_id)
    return Mended(operation_id)


async def _take_clean_up_again(connection: AsyncConnection, violation: Violation) -> Mended:
    cluster = await lock_cluster(connection, violation)
    if cluster.state not in GONE:
        raise Refused(f"The cluster is in {cluster.state} now.")
    return await _open(connection, cluster, HEAL, CLEAN_UP_PLAN)


def build_again(what: str, *steps: str) -> Mend:
    """Have a worker take these steps of a create for a cluster in use."""

    async def run(connection: AsyncConnection, violation: Violation) -> Mended:
        cluster = await lock_cluster(connection, violation)
        if cluster.state not in WORKING:
            raise Refused(f"The cluster is in {cluster.state} now.")
        return await _open(connection, cluster, HEAL, repair_plan(*steps))

    return Mend(f"has a worker {what}", run)


async def _delete_again(connection: AsyncConnection, violation: Violation) -> Mended:
    cluster = await lock_cluster(connection, violation)
    if cluster.state is not ClusterState.DELETING:
        raise Refused(f"The cluster is in {cluster.state} now.")
    return await _open(connection, cluster, DELETE, DELETE_PLAN)


async def _wake_cluster_of_operation(connection: AsyncConnection, violation: Violation) -> Mended:
    operation = {"project_id": violation.project_id, "id": UUID(violation.object_id)}
    found = (await connection.execute(_CLUSTER_OF, operation)).one_or_none()
    if found is None or violation.project_id is None:
        raise Refused("The operation has ended.")
    kind = EXPORT_WORK if found.export_id else WORK_KIND if found.partition_id is None else PARTITIONS
    key = str(found.export_id or found.cluster_id)
    await wake(connection, kind=kind, key=key, project_id=violation.project_id)
    return Mended(operation["id"])


take_clean_up_again = Mend("has a worker clean up the cluster's machines again", _take_clean_up_again)
delete_again = Mend("has a worker delete the cluster again", _delete_again)
wake_cluster_of_operation = Mend("wakes the cluster", _wake_cluster_of_operation)
