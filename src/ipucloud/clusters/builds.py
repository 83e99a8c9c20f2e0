"""What a cluster costs while it is being built, where billing begins with the request.

Its usage interval is opened with its machines, so that spend, budgets, prepaid funds and cost limits see every minute
as it passes. Until the cluster is ready nothing of that is final: if it never is, all of it ends where it began. A
build is billed for no longer than it was announced to take, and machines that do not work meanwhile are credited.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.credits import credit
from ipucloud.billing.metering.intervals import close_interval, end_build
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.not_working import Block, faults_of_cluster
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query


class _Late(NamedTuple):
    project_id: UUID
    id: UUID


class _Build(NamedTuple):
    """`due`: until then the build is billed."""

    due: datetime
    late: bool
    machines: int
    servers: int
    allocated_through: AllocatedThrough


_DUE = "u.started_at + make_interval(secs => c.state_sla_seconds)"
_BILLED = """
  FROM clusters c
  JOIN usage_intervals u ON (u.project_id, u.resource_id) = (c.project_id, c.id) AND u.ended_at IS NULL
 WHERE c.state = 'creating' AND c.ready_at IS NULL
"""
_LATE = Query(f"SELECT c.project_id, c.id {_BILLED} AND {_DUE} < app_now() ORDER BY c.id", _Late)
_READ = Query(
    f"""
    SELECT {_DUE} AS due, {_DUE} < app_now() AS late, c.machines,
           (SELECT count(*) FROM poplar_servers AS server
             WHERE server.project_id = c.project_id AND server.cluster_id = c.id)::integer AS servers,
           c.allocated_through
    {_BILLED} AND c.project_id = :project_id AND c.id = :cluster_id
    """,  # noqa: S608  # our own text
    _Build,
)


async def end_late(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Stop billing a build that takes longer than announced. The caller holds the cluster's lock."""
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    build = await _READ.one_or_none(connection, ids)
    if build is None or not build.late:
        return
    sold_as = Block(build.machines, build.servers, own_hosts=build.allocated_through is not AllocatedThrough.V_IPU)
    await credit(
        connection,
        project_id=project_id,
        resource_id=cluster_id,
        faults=await faults_of_cluster(connection, **ids),
        not_working=sold_as.not_working,
        now=build.due,
    )
    await end_build(connection, **ids, at=build.due)


async def end_late_builds(database: Database) -> None:
    """Stop billing all builds that take longer than announced; a task of workers."""
    async with database.read() as connection:
        late = await _LATE.all(connection)
    for cluster in late:
        async with database.begin() as connection:
            await lock_cluster(connection, project_id=cluster.project_id, cluster_id=cluster.id)
            await end_late(connection, project_id=cluster.project_id, cluster_id=cluster.id)


async def bill_nothing(connection: AsyncConnection, cluster: ClusterInputs) -> None:
    """The create has failed or was cancelled: nothing is charged for it."""
    await close_interval(connection, project_id=cluster.project_id, cluster_id=cluster.id)
