"""A cluster that lived an hour and is being deleted, with its operations and what was observed of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.cost_limits.tables import token_clusters
from ipucloud.clusters.fault_reports.tables import fault_reports
from ipucloud.clusters.idle.tables import server_uses
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.clusters.operations.kind import ClusterKind
from ipucloud.clusters.preemption.tables import preemptions
from ipucloud.clusters.repairs.tables import scheduled_repairs
from ipucloud.clusters.schedules.tables import cluster_schedules
from ipucloud.clusters.tables import cluster_rebuilds, poplar_servers, resizes, vipu_access_keys
from ipucloud.clusters.waiting.tables import capacity_waits
from ipucloud.inventory.tables import allocations, hardware_cleanings
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.operations.tables import operation_steps, operations
from ipucloud.partitions.tables import partitions, vipu_links
from ipucloud.programs.samples.tables import cluster_samples
from ipucloud.quotas.tables import quotas
from tests.support.factories import LUXEMBOURG, make_cluster_row
from tests.support.filled_names import CREATED_AT, DELETED_AT, FAR_AWAY, READY_AT, Filled
from tests.support.settled import SETTLED


@dataclass(frozen=True, slots=True)
class _Operation:
    id: UUID
    kind: ClusterKind
    created_at: datetime
    finished_at: datetime | None


async def fill_cluster(connection: AsyncConnection, filled: Filled) -> None:
    """The cluster, its operations, what they changed, and what was observed of it."""
    await _row(connection, filled)
    await _hardware(connection, filled)
    for operation in (
        _Operation(filled.finished_operation, CREATE, CREATED_AT, READY_AT),
        _Operation(filled.open_operation, DELETE, DELETED_AT, None),
    ):
        await _record(connection, filled, operation)
    await _partition(connection, filled)
    await _changes(connection, filled)
    await _plans(connection, filled)
    await _observed(connection, filled)


async def _row(connection: AsyncConnection, filled: Filled) -> None:
    name = external_name(filled.cluster, 1)
    await make_cluster_row(
        connection,
        filled.project.id,
        id=filled.cluster,
        name="bert",
        state="deleting",
        preemptible=True,
        external_name=name,
        created_at=CREATED_AT,
        ready_at=READY_AT,
        delete_requested_at=DELETED_AT,
    )
    key = {"project_id": filled.project.id, "cluster_id": filled.cluster, "ordinal": 0}
    await connection.execute(
        sa.insert(poplar_servers).values(id=new_id(), name=f"{name}-p0", state="running", ssh_user="ubuntu", **key)
    )


async def _hardware(connection: AsyncConnection, filled: Filled) -> None:
    """What it holds; its quota counts that."""
    key = {"project_id": filled.project.id, "cluster_id": filled.cluster, "ordinal": 0}
    for held in ({"machine_id": filled.machine}, {"host_id": filled.host}):
        allocation = {"id": new_id(), "created_at": CREATED_AT} | held | key
        await connection.execute(sa.insert(allocations).values(allocation))
    cleaning = {"allocation_id": allocation["id"], "external_name": external_name(filled.cluster, 1)}
    await connection.execute(sa.insert(hardware_cleanings).values(cleaning))
    for statement in SETTLED:
        await connection.execute(sa.text(statement))
    await connection.execute(sa.update(quotas).where(_quota_of(filled)).values(used=1))


def _quota_of(filled: Filled) -> sa.ColumnElement[bool]:
    return sa.tuple_(quotas.c.project_id, quotas.c.region) == (filled.project.id, LUXEMBOURG[0])


async def _record(connection: AsyncConnection, filled: Filled, operation: _Operation) -> None:
    finished = operation.finished_at is not None
    await connection.execute(
        sa.insert(operations).values(
            id=operation.id,
            project_id=filled.project.id,
            cluster_id=filled.cluster,
            kind=operation.kind.name,
            state="succeeded" if finished else "running",
            request_id="req-filled",
            requested_by=filled.project.token.id,
            progress=100 if finished else 0,
            created_at=operation.created_at,
            started_at=operation.created_at,
            deadline_at=FAR_AWAY,
            expected_at=FAR_AWAY,
            finished_at=operation.finished_at,
        )
    )
    await connection.execute(
        sa.insert(operation_steps),
        [
            {
                "operation_id": operation.id,
                "ordinal": ordinal,
                "project_id": filled.project.id,
                "name": step.name,
                "stage": step.stage.name,
                "state": "succeeded" if finished else "pending",
                "finished_at": operation.finished_at,
            }
            for ordinal, step in enumerate(operation.kind.steps, start=1)
        ],
    )


async def _partition(connection: AsyncConnection, filled: Filled) -> None:
    """Its partition on the controller, the links there, and a key of its own."""
    await connection.execute(
        sa.insert(partitions).values(
            id=new_id(),
            project_id=filled.project.id,
            cluster_id=filled.cluster,
            origin="cluster",
            name=external_name(filled.cluster, 1),
            external_name=external_name(filled.cluster, 1),
            desired_state="unmanaged",
            state="active",
            observed={"size": 4, "gcds": 1, "ipus": []},
            observed_at=READY_AT,
            created_at=READY_AT,
        )
    )
    cluster_key = {"project_id": filled.project.id, "cluster_id": filled.cluster}
    key = {"name": f"{external_name(filled.cluster, 1)}-k1", "number": 1, "sha256": "0" * 64, "ends_server_key": False}
    await connection.execute(sa.insert(vipu_access_keys).values(**key, **cluster_key))
    await connection.execute(sa.insert(vipu_links).values(links=[["next", ["m-0", "m-1"], "up"]], **cluster_key))


async def _changes(connection: AsyncConnection, filled: Filled) -> None:
    """A resize, a rebuild, and the wait of its create."""
    key = {"project_id": filled.project.id, "cluster_id": filled.cluster}
    sizes = {"from_flavor": "m2000-pod4", "from_machines": 1, "from_ipus": 4, "from_sku": "ipu-m2000"}
    sizes |= {"to_flavor": "m2000-pod8", "to_machines": 2, "to_ipus": 8, "to_sku": "ipu-m2000", "moves": False}
    await connection.execute(sa.insert(resizes).values(operation_id=filled.finished_operation, **sizes, **key))
    written = {"disk": "keep", "image": "ubuntu-20.04-x64-poplar-1.18.0-3.0.0", "keys_revision": 1}
    await connection.execute(
        sa.insert(cluster_rebuilds).values(operation_id=filled.finished_operation, **written, **key)
    )
    waited = {
        "kind": "cluster.create",
        "machines": 1,
        "region": "luxembourg-2",
        "machine_type": "m2000",
        "since": READY_AT,
        "until": READY_AT + timedelta(days=1),
        **key,
    }
    waited["granted_at"] = READY_AT
    await connection.execute(sa.insert(capacity_waits).values(operation_id=filled.finished_operation, **waited))


async def _plans(connection: AsyncConnection, filled: Filled) -> None:
    """A repair and a preemption that ended, its schedule, and the token whose costs are limited."""
    key = {"project_id": filled.project.id, "cluster_id": filled.cluster}
    repair = {"reason": "fault", "hardware": [], "starts_at": READY_AT, "latest_at": READY_AT}
    done = {"ended_at": READY_AT, "outcome": "not_needed"}
    await connection.execute(sa.insert(scheduled_repairs).values(id=new_id(), **repair, **done, **key))
    await connection.execute(sa.insert(token_clusters).values(token_id=filled.project.token.id, **key))
    scheduled = {"time_zone": "UTC", "computed_at": READY_AT}
    await connection.execute(sa.insert(cluster_schedules).values(**scheduled, **key))
    preemption = {"noticed_at": READY_AT, "preempt_at": DELETED_AT, "ended_at": DELETED_AT, "outcome": "not_in_use"}
    await connection.execute(sa.insert(preemptions).values(id=new_id(), **preemption, **key))


async def _observed(connection: AsyncConnection, filled: Filled) -> None:
    """How its servers were used, how busy it was, and a fault that the customer reported."""
    key = {"project_id": filled.project.id, "cluster_id": filled.cluster}
    watched = sa.select(poplar_servers.c.id, poplar_servers.c.project_id, sa.literal(READY_AT)).limit(1)
    await connection.execute(sa.insert(server_uses).from_select(["server_id", "project_id", "observed_at"], watched))
    sample = {"minute": READY_AT, "observed_at": READY_AT, "machines": 1, "machines_answered": 1}
    sample |= {"partitions": 1, "partitions_active": 1, "utilisation": 80.0}
    await connection.execute(sa.insert(cluster_samples).values(**sample, **key))
    reported = {"machine_id": filled.machine, "name": "m0", "category": "ipu", "description": "it hangs"}
    await connection.execute(sa.insert(fault_reports).values(id=new_id(), created_by=new_id(), **reported, **key))
