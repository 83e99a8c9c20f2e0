"""The scheduled repair of a cluster: what is written of it, always under the cluster's lock."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.metrics import REPAIRS_SCHEDULED, REPAIRS_STARTED, count
from ipucloud.clusters.repairs.needs import Need, Plan
from ipucloud.contract.event_payloads.clusters import RepairEnded, RepairScheduled, RepairStarted, RepairWaits
from ipucloud.contract.event_types.clusters import (
    CLUSTER_REPAIR_ENDED,
    CLUSTER_REPAIR_SCHEDULED,
    CLUSTER_REPAIR_STARTED,
    CLUSTER_REPAIR_WAITING,
)
from ipucloud.contract.operations import OperationState
from ipucloud.contract.repairs import RepairOutcome, RepairReason, WaitsFor
from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.ids import new_id

REPLACE_HARDWARE = "cluster.replace-hardware"
"""The kind of operation that carries out a scheduled repair."""


class OpenRepair(NamedTuple):
    """A repair that is scheduled or under way; there is at most one of a cluster. `hardware`: names."""

    id: UUID
    project_id: UUID
    cluster_id: UUID
    reason: RepairReason
    hardware: list[str]
    starts_at: datetime
    latest_at: datetime
    waits_for: str | None
    operation_id: UUID | None


_COLUMNS = "id, project_id, cluster_id, reason, hardware, starts_at, latest_at, waits_for, operation_id"
_OPEN = Query(
    f"SELECT {_COLUMNS} FROM scheduled_repairs"  # noqa: S608  # our own text
    " WHERE project_id = :project_id AND cluster_id = :cluster_id AND ended_at IS NULL",
    OpenRepair,
)
SCHEDULED = Query(
    f"SELECT {_COLUMNS} FROM scheduled_repairs WHERE ended_at IS NULL AND operation_id IS NULL ORDER BY starts_at, id",  # noqa: S608  # our own text
    OpenRepair,
)
"""Repairs that have not begun, the next one first."""
SHOWN = f"""
LEFT JOIN LATERAL (
  SELECT json_build_object(
           'id', repair.id, 'reason', repair.reason, 'hardware', repair.hardware,
           'announced_at', {rfc3339("repair.announced_at")}, 'starts_at', {rfc3339("repair.starts_at")},
           'latest_at', {rfc3339("repair.latest_at")}, 'waits_for', repair.waits_for,
           'operation', repair.operation_id) AS document
    FROM scheduled_repairs AS repair
   WHERE repair.project_id = page.project_id AND repair.cluster_id = page.id AND repair.ended_at IS NULL
) AS repair ON true
"""  # noqa: S608  # our own text
"""A join that adds `repair.document` to a `page` of clusters."""
_WRITE = sa.text(
    """
    INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at)
    VALUES (:id, :project_id, :cluster_id, :reason, CAST(:hardware AS text[]), :starts_at, :latest_at)
    ON CONFLICT (cluster_id) WHERE ended_at IS NULL DO UPDATE
       SET reason = excluded.reason, hardware = excluded.hardware, starts_at = excluded.starts_at,
           latest_at = excluded.latest_at, waits_for = NULL
    """
)
_CHANGE = sa.text(
    """
    UPDATE scheduled_repairs SET hardware = CAST(:hardware AS text[]), starts_at = :starts_at, waits_for = :waits_for
     WHERE id = :id
    """
).bindparams(sa.bindparam("waits_for", type_=sa.Text))
_START = sa.text(
    "UPDATE scheduled_repairs SET operation_id = :operation_id, started_at = app_now(), waits_for = NULL WHERE id = :id"
)
_END = sa.text("UPDATE scheduled_repairs SET ended_at = app_now(), outcome = :outcome, waits_for = NULL WHERE id = :id")
_SHOW = sa.text("UPDATE clusters SET version = version + 1 WHERE project_id = :project_id AND id = :cluster_id")


async def open_repair(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> OpenRepair | None:
    """The cluster's repair that is scheduled or under way."""
    return await _OPEN.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})


async def schedule(connection: AsyncConnection, need: Need, plan: Plan, *, request_id: str | None = None) -> None:
    """Schedule the repair, or the scheduled one anew, and announce it."""
    ids = {"project_id": need.project_id, "cluster_id": need.cluster_id}
    times = {"starts_at": plan.starts_at, "latest_at": plan.latest_at}
    await connection.execute(_WRITE, {"id": new_id(), "reason": need.reason, "hardware": need.hardware, **ids, **times})
    await connection.execute(_SHOW, ids)
    count(connection, REPAIRS_SCHEDULED.labels(need.reason))
    scheduled = await _OPEN.one(connection, ids)
    await record_schedule(connection, scheduled, request_id=request_id)


async def record_schedule(connection: AsyncConnection, repair: OpenRepair, *, request_id: str | None) -> None:
    """Record when the repair begins."""
    await record(
        connection,
        CLUSTER_REPAIR_SCHEDULED,
        project_id=repair.project_id,
        subject_id=repair.cluster_id,
        request_id=request_id,
        data=RepairScheduled(
            reason=repair.reason,
            hardware=repair.hardware,
            starts_at=repair.starts_at,
            latest_at=repair.latest_at,
        ),
    )


async def record_waiting(connection: AsyncConnection, repair: OpenRepair, waits_for: WaitsFor) -> None:
    """Record what keeps a repair from beginning although its time has come."""
    await record(
        connection,
        CLUSTER_REPAIR_WAITING,
        project_id=repair.project_id,
        subject_id=repair.cluster_id,
        data=RepairWaits(reason=repair.reason, hardware=repair.hardware, waits_for=waits_for),
    )


async def change(
    connection: AsyncConnection,
    repair: OpenRepair,
    *,
    hardware: list[str] | None = None,
    starts_at: datetime | None = None,
    waits_for: str | None = None,
) -> None:
    """Write other hardware or another time, and what it waits for now."""
    values = {"hardware": hardware or repair.hardware, "starts_at": starts_at or repair.starts_at}
    if (values["hardware"], values["starts_at"], waits_for) == (repair.hardware, repair.starts_at, repair.waits_for):
        return
    await connection.execute(_CHANGE, {"id": repair.id, "waits_for": waits_for, **values})
    await connection.execute(_SHOW, {"project_id": repair.project_id, "cluster_id": repair.cluster_id})


async def operation_begun(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    cluster_id: UUID,
    kind: str,
    operation_id: UUID,
    request_id: str,
) -> None:
    """Note that an operation leads the cluster out of use: it carries the scheduled repair out, or supersedes it."""
    repair = await open_repair(connection, project_id=project_id, cluster_id=cluster_id)
    if repair is None:
        return
    if kind != REPLACE_HARDWARE:
        await end(connection, repair, "superseded", operation_id=operation_id)
        return
    await connection.execute(_START, {"id": repair.id, "operation_id": operation_id})
    count(connection, REPAIRS_STARTED.labels(repair.reason))
    await record(
        connection,
        CLUSTER_REPAIR_STARTED,
        project_id=project_id,
        subject_id=cluster_id,
        operation_id=operation_id,
        request_id=request_id,
        data=RepairStarted(reason=repair.reason, hardware=repair.hardware),
    )


async def operation_ended(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, operation_id: UUID, ended: OperationState
) -> None:
    """Write how the repair ended that this operation carried out."""
    repair = await open_repair(connection, project_id=project_id, cluster_id=cluster_id)
    if repair is not None and repair.operation_id == operation_id:
        outcome: RepairOutcome = "failed"
        if ended is not OperationState.FAILED:
            outcome = "repaired" if ended is OperationState.SUCCEEDED else "cancelled"
        await end(connection, repair, outcome, operation_id=operation_id)


async def end(
    connection: AsyncConnection, repair: OpenRepair, outcome: RepairOutcome, *, operation_id: UUID | None = None
) -> None:
    """End the repair, with its event."""
    await connection.execute(_END, {"id": repair.id, "outcome": outcome})
    await connection.execute(_SHOW, {"project_id": repair.project_id, "cluster_id": repair.cluster_id})
    await record(
        connection,
        CLUSTER_REPAIR_ENDED,
        project_id=repair.project_id,
        subject_id=repair.cluster_id,
        operation_id=operation_id,
        data=RepairEnded(reason=repair.reason, hardware=repair.hardware, outcome=outcome),
    )
