"""What is on record of a resize: the size before, and the one that the cluster is to have."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.resize_flavors import Sizes
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Need


class Resize(NamedTuple):
    """From which size to which; `idle`: the part of the machines that the present steps are not about."""

    from_flavor: str
    from_machines: int
    to_flavor: str
    to_machines: int
    to_ipus: int
    to_sku: str
    moves: bool | None
    idle: str | None


_READ = Query(
    """
    SELECT from_flavor, from_machines, to_flavor, to_machines, to_ipus, to_sku, moves, idle FROM resizes
     WHERE project_id = :project_id AND operation_id = :operation_id
    """,
    Resize,
)
_WRITE = sa.text(
    """
    INSERT INTO resizes (operation_id, project_id, cluster_id, from_flavor, from_machines, from_ipus, from_sku,
                         to_flavor, to_machines, to_ipus, to_sku, moves, idle)
    SELECT :operation_id, project_id, id, flavor, machines, ipus, sku, :flavor, :machines, :ipus, :sku, NULL, 'joins'
      FROM clusters WHERE project_id = :project_id AND id = :cluster_id
    """
)


async def read_resize(connection: Statements, *, project_id: UUID, operation_id: UUID) -> Resize:
    """The resize of an operation. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "operation_id": operation_id})


async def write_resize(connection: AsyncConnection, cluster: LockedCluster, sizes: Sizes, operation_id: UUID) -> None:
    """Record what the operation resizes the locked cluster to."""
    await connection.execute(
        _WRITE,
        {
            "project_id": cluster.project_id,
            "cluster_id": cluster.id,
            "operation_id": operation_id,
            "flavor": sizes.flavor,
            "machines": sizes.machines,
            "ipus": sizes.ipus,
            "sku": sizes.sku,
        },
    )


async def waiting_size(connection: Statements, cluster: LockedCluster, operation_id: UUID) -> Sizes:
    """The size that a cluster whose resize waits is to have."""
    resize = await read_resize(connection, project_id=cluster.project_id, operation_id=operation_id)
    return Sizes(
        flavor=resize.to_flavor,
        machines=resize.to_machines,
        ipus=resize.to_ipus,
        sku=resize.to_sku,
        grows=resize.to_machines > cluster.machines,
        need=Need(cluster.machine_type, resize.to_machines, 0, resize.to_ipus // resize.to_machines),
    )
