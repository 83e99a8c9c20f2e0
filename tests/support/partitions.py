"""Partitions as a reconciler would have left them, for tests without a site."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import PARTITIONS
from ipucloud.db.base import DB_NOW
from ipucloud.kernel.ids import new_id
from ipucloud.partitions.tables import partitions
from ipucloud.reconcile.wake import wake

SIZE = 4


async def make_partition(
    connection: AsyncConnection,
    project_id: UUID,
    cluster_id: UUID,
    name: str = "training",
    *,
    origin: str = "api",
    number: int = 1,
    gcds: int = 1,
) -> UUID:
    """An active partition of four IPUs, with its configuration read, and the work item of its cluster.

    Each is on a machine of its own, as far as the cluster has so many.
    """
    await wake(connection, kind=PARTITIONS, key=str(cluster_id), project_id=project_id)
    partition_id = new_id()
    machine = await connection.execute(
        sa.text(
            "SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id WHERE a.cluster_id = :cluster"
            " ORDER BY a.ordinal LIMIT 1 OFFSET :behind"
        ),
        {"cluster": cluster_id, "behind": {"api": number - 1, "customer": 2, "cluster": 3}[origin]},
    )
    external = await connection.execute(
        sa.text("SELECT external_name FROM clusters WHERE id = :cluster"), {"cluster": cluster_id}
    )
    held, default = machine.scalar(), external.scalar_one()
    external_name = {"api": f"{default}-{number}", "cluster": default}.get(origin, name)
    shape = {"size": SIZE, "gcds": gcds, "replicas": gcds, "segments": 1, "reconfigurable": False}
    words = {"sync_type": "pod-native", "routing": "dnc", "gateway_routing": None}
    await connection.execute(
        sa.insert(partitions).values(
            id=partition_id,
            project_id=project_id,
            cluster_id=cluster_id,
            origin=origin,
            number=number if origin == "api" else None,
            name=external_name if origin != "api" else name,
            external_name=external_name,
            desired_state="unmanaged",
            state="active",
            requested={"size": SIZE, "gcds": gcds} if origin == "api" else sa.null(),
            observed=shape | words | {"ipus": [_ipu(held, number) for number in range(SIZE)]},
            observed_at=DB_NOW,
            ipuof=[_gcd(gcd, SIZE // gcds) for gcd in range(gcds)],
            ipuof_at=DB_NOW,
        )
    )
    return partition_id


def _ipu(machine: str | None, number: int) -> dict[str, object]:
    return {"machine": machine, "ipu": 3 - number, "domain": 0, "segment": 0, "number": number}


def _gcd(number: int, devices: int) -> dict[str, object]:
    return {
        "attributes": {"GCD Id": str(number)},
        "devices": [
            {
                "ip": "10.5.0.1",
                "server_port": 50055 - device,
                "rdma_port": 1,
                "device_id": device,
                "ipulink_segment_id": 0,
                "routing_id": device,
                "ipu_arch_id": 2,
                "ipu_id": 3 - device,
                "chip_id": f"chip-{device}",
                "gwsw_version": "2.6.0",
                "ipum_sw_version": "2.6.0",
            }
            for device in range(devices)
        ],
    }
