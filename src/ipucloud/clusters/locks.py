"""A cluster under the lock of the transaction that changes it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.schedules.store import CALENDAR
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.estimates import BillingStart
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.sync import users_at_controllers
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import OPERATION_IN_PROGRESS, PRECONDITION_FAILED, Problem, not_found

RESIZES = "cluster.resize"
"""The kind of operation that resizes a cluster. While it waits for capacity the cluster is in use, and only then."""


class LockedCluster(NamedTuple):
    """What a request needs to know before it changes a cluster; `now` is the database's time.

    `secure`: its region's V-IPU controllers have users. `containers`: its servers run container images.
    `typical_seconds` is empty in an unknown region.
    """

    id: UUID
    project_id: UUID
    state: ClusterState
    version: int
    name: str
    tags: dict[str, str]
    delete_protection: bool
    expires_at: datetime | None
    auto_repair: bool
    repair_window: dict[str, object] | None
    allowed_sources: list[str]
    schedule: dict[str, object] | None
    idle_suspend_minutes: int | None
    preemptible: bool
    region: str
    flavor: str
    machine_type: str
    machines: int
    ipus: int
    sku: str
    currency: str
    billing_starts: BillingStart
    incarnation: int
    allocated_through: AllocatedThrough
    typical_seconds: dict[str, float]
    containers: bool
    secure: bool
    now: datetime

    def require_version(self, if_match: int | None) -> None:
        """Raise `Problem` precondition_failed when the caller read another version; None: any version."""
        if if_match is not None and if_match != self.version:
            raise Problem(
                PRECONDITION_FAILED,
                "The cluster has changed since it was read. Read it again, and repeat the request if it still applies.",
                extra={"version": self.version},
            )


_SELECT = f"""
    SELECT clusters.id, clusters.project_id, clusters.state, clusters.version, clusters.name, clusters.tags,
           clusters.delete_protection, clusters.expires_at, clusters.auto_repair, clusters.repair_window,
           clusters.allowed_sources, {CALENDAR} AS schedule, clusters.idle_suspend_minutes, clusters.preemptible,
           clusters.region, clusters.flavor, clusters.machine_type,
           clusters.machines, clusters.ipus, clusters.sku, clusters.currency, clusters.billing_starts,
           clusters.incarnation,
           clusters.allocated_through, coalesce(site_regions.typical_seconds, '{{}}') AS typical_seconds,
           coalesce(site_regions.containers, false) AS containers,
           {users_at_controllers("clusters.region")} AS secure, app_now() AS now
      FROM clusters LEFT JOIN site_regions ON site_regions.region = clusters.region
     WHERE clusters.project_id = :project_id AND clusters.id = :cluster_id
"""  # noqa: S608  # our own text
_READ = Query(_SELECT, LockedCluster)
# The weakest lock: only rows of the project that a request changes can have one.
_READ_OWN = Query(f"{_SELECT} FOR KEY SHARE OF clusters", LockedCluster)
_LOCK = Query(f"{_SELECT} FOR NO KEY UPDATE OF clusters", LockedCluster)
_SET_REASON = sa.text("UPDATE clusters SET state_reason = :reason WHERE project_id = :project_id AND id = :cluster_id")
_LOCK_QUOTA = sa.text(
    """
    SELECT q.used FROM quotas q JOIN clusters c USING (project_id, region, machine_type)
     WHERE c.project_id = :project_id AND c.id = :cluster_id FOR NO KEY UPDATE OF q
    """
)


class RunningOperation(NamedTuple):
    """An unfinished operation on a cluster, or on one of its partitions."""

    id: UUID
    kind: str
    of_partition: bool

    def waits_to_resize(self, cluster: LockedCluster) -> bool:
        """Whether it is a resize that waits for capacity: one that has begun has taken the cluster out of use."""
        return self.kind == RESIZES and cluster.state in BILLABLE


# A separate statement: one that waits for a lock sees other rows in their earlier state.
_RUNNING = Query(
    """
    SELECT id, kind, partition_id IS NOT NULL AS of_partition FROM operations
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state NOT IN ('cancelled', 'failed', 'succeeded')
       AND (partition_id IS NULL OR NOT :beside_partitions)
     ORDER BY of_partition, created_at, id LIMIT 1
    """,
    RunningOperation,
)


_ON_PARTITION = Query(
    """
    SELECT id FROM operations
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND partition_id IS NOT NULL
       AND state NOT IN ('cancelled', 'failed', 'succeeded')
     ORDER BY created_at, id LIMIT 1
    """,
    UUID,
)


async def read_cluster(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> LockedCluster:
    """The row without a lock, for tasks. Raises `Problem` not_found."""
    return await _require(_READ, connection, project_id, cluster_id)


async def read_own_cluster(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> LockedCluster:
    """The row for an estimate, which waits for no change of it. Raises `Problem` not_found."""
    return await _require(_READ_OWN, connection, project_id, cluster_id)


async def lock_cluster(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> LockedCluster:
    """Lock the row until the transaction ends. Raises `Problem` not_found."""
    return await _require(_LOCK, connection, project_id, cluster_id)


async def set_reason(connection: AsyncConnection, project_id: UUID, cluster_id: UUID, reason: str) -> None:
    """Say why the locked cluster is in its state, or about to leave it."""
    await connection.execute(_SET_REASON, {"project_id": project_id, "cluster_id": cluster_id, "reason": reason})


async def _require(
    query: Query[LockedCluster], connection: Statements, project_id: UUID, cluster_id: UUID
) -> LockedCluster:
    cluster = await query.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})
    if cluster is None:
        raise not_found()
    return cluster


async def lock_quota(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Lock the quota that the cluster's machines count in: quota precedes cluster in the lock order."""
    await connection.execute(_LOCK_QUOTA, {"project_id": project_id, "cluster_id": cluster_id})


async def running_operation(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, *, beside_partitions: bool = False
) -> RunningOperation | None:
    """The open operation of a cluster under this transaction's lock, or else the oldest on one of its partitions.

    `beside_partitions`: operations on partitions do not count.
    """
    values = {"project_id": actor.project_id, "cluster_id": cluster.id, "beside_partitions": beside_partitions}
    return await _RUNNING.one_or_none(connection, values)


async def partition_operation(connection: AsyncConnection, cluster: LockedCluster) -> UUID | None:
    """The oldest open operation on a partition of the cluster."""
    return await _ON_PARTITION.one_or_none(connection, {"project_id": cluster.project_id, "cluster_id": cluster.id})


def in_the_way(operation_id: UUID, on: str = "the cluster") -> Problem:
    """409 for a request that must wait until that operation has finished."""
    return Problem(
        OPERATION_IN_PROGRESS,
        f"Another operation is running on {on}; wait until it has finished.",
        headers={"Retry-After": "2"},
        extra={"operation": str(operation_id)},
    )


def wait_in_the_way(operation_id: UUID) -> Problem:
    """409 for a request while a resize of the cluster waits for capacity."""
    return Problem(
        OPERATION_IN_PROGRESS,
        "The cluster waits for capacity to be resized. Cancel that operation first, or wait until it has finished.",
        headers={"Retry-After": "60"},
        extra={"operation": str(operation_id)},
    )
