"""What is written of a fault report: by its customer, by the operator who answers, and when it is repaired."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.event_payloads.platform import FaultReported
from ipucloud.contract.event_types.platform import (
    FAULT_REPORT_CLOSED,
    FAULT_REPORT_CONFIRMED,
    FAULT_REPORT_DISMISSED,
    FAULT_REPORT_OPENED,
    FAULT_REPORT_REPAIRED,
)
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.fault_reports import FaultReportCreate, FaultReportState
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.inventory.health.codes import Kind
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id


class FaultReport(NamedTuple):
    """A fault report, and the object that it is about."""

    id: UUID
    project_id: UUID
    cluster_id: UUID
    machine_id: UUID | None
    host_id: UUID | None
    name: str
    state: FaultReportState
    answer: str | None

    @property
    def kind(self) -> Kind:
        return "host" if self.machine_id is None else "machine"


class Hardware(NamedTuple):
    """What a customer reports: a machine by name, or the host of a Poplar server by the server's name or id."""

    kind: Kind
    name: str


class _Held(NamedTuple):
    """A machine of a cluster, or the host of one of its Poplar servers. `name`: that its customer knows."""

    object_id: UUID
    name: str


class _Unsettled(NamedTuple):
    id: UUID
    state: FaultReportState


_COLUMNS = ", ".join(FaultReport._fields)
_IN_USE = ", ".join(f"'{state}'" for state in sorted(BILLABLE))
_MINE = "held.project_id = :project_id AND held.cluster_id = :cluster_id AND held.released_at IS NULL"
_HELD: Mapping[Kind, Query[_Held]] = {
    "machine": Query(
        f"""
        SELECT machine.id AS object_id, machine.name
          FROM allocations AS held JOIN machines AS machine ON machine.id = held.machine_id
         WHERE {_MINE} AND machine.name = :name
        """,  # noqa: S608  # our own text
        _Held,
    ),
    "host": Query(
        f"""
        SELECT host.id AS object_id, server.name
          FROM allocations AS held JOIN hosts AS host ON host.id = held.host_id
          JOIN poplar_servers AS server
            ON (server.project_id, server.cluster_id, server.ordinal) = (held.project_id, held.cluster_id, held.ordinal)
         WHERE {_MINE} AND (server.name = :name OR server.id::text = :name)
        """,  # noqa: S608  # our own text
        _Held,
    ),
}
_UNSETTLED = Query(
    """
    SELECT id, state FROM fault_reports
     WHERE cluster_id = :cluster_id AND coalesce(machine_id, host_id) = :object_id AND state IN ('open', 'confirmed')
    """,
    _Unsettled,
)
_OPEN = sa.text(
    """
    INSERT INTO fault_reports (id, project_id, cluster_id, machine_id, host_id, name, category, description, since,
                               created_by)
    VALUES (:id, :project_id, :cluster_id, :machine_id, :host_id, :name, :category, :description, :since, :created_by)
    """
)
_LOCK = Query(
    f"SELECT {_COLUMNS} FROM fault_reports WHERE id = :id FOR NO KEY UPDATE",  # noqa: S608  # our own text
    FaultReport,
)
_ANSWER = sa.text(
    """
    UPDATE fault_reports SET state = :state, answer = :answer, answered_by = :answered_by, answered_at = app_now(),
           report_id = :report_id
     WHERE id = :id
    """
).bindparams(sa.bindparam("report_id", type_=sa.Uuid))
_CLEARED = Query(
    f"""
    UPDATE fault_reports SET state = 'repaired', repaired_at = app_now()
     WHERE state = 'confirmed' AND report_id = ANY (CAST(:reports AS uuid[]))
    RETURNING {_COLUMNS}
    """,  # noqa: S608  # our own text
    FaultReport,
)
LEFT = f"""
(c.state = 'deleted' OR c.state IN ({_IN_USE}, 'suspended')
  AND NOT EXISTS (SELECT FROM allocations AS held
                   WHERE held.project_id = fault.project_id AND held.cluster_id = fault.cluster_id
                     AND held.released_at IS NULL
                     AND (held.machine_id = fault.machine_id OR held.host_id = fault.host_id)))
"""  # our own text
"""Whether the cluster `c` no longer has the hardware of its report `fault`, and will not get it back."""
_SETTLE = Query(
    f"""
    UPDATE fault_reports AS fault
       SET state = CASE WHEN c.state IN ({_IN_USE}) THEN 'repaired' ELSE 'closed' END,
           repaired_at = CASE WHEN c.state IN ({_IN_USE}) THEN app_now() END,
           closed_at = CASE WHEN c.state IN ({_IN_USE}) THEN NULL ELSE app_now() END
      FROM clusters AS c
     WHERE fault.state = 'confirmed' AND fault.project_id = :project_id AND fault.cluster_id = :cluster_id
       AND (c.project_id, c.id) = (fault.project_id, fault.cluster_id) AND {LEFT}
    RETURNING {", ".join(f"fault.{name}" for name in FaultReport._fields)}
    """,  # noqa: S608  # our own text
    FaultReport,
)


async def open_report(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, hardware: Hardware, body: FaultReportCreate
) -> UUID:
    """Record what a customer says of a machine, or of the host of a Poplar server, of its cluster; the report's id.

    Raises `Problem`: not_found when the cluster does not hold it, validation_failed, and state_conflict when another
    report about it is not settled.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    held = await _HELD[hardware.kind].one_or_none(connection, ids | {"name": hardware.name})
    if held is None:
        raise not_found()
    if body.since is not None and body.since > cluster.now:
        fault = FieldError("/since", "in_future", "Send a time that is past, or none.")
        raise Problem(VALIDATION_FAILED, "The report was not recorded; `errors` says why.", [fault])
    known = await _UNSETTLED.one_or_none(connection, {"cluster_id": cluster_id, "object_id": held.object_id})
    if known is not None:
        raise Problem(
            STATE_CONFLICT,
            f"Fault report {known.id} about {held.name} is {known.state} already; read it for what follows.",
            extra={"fault_report": str(known.id)},
        )
    report = FaultReport(
        new_id(),
        actor.project_id,
        cluster_id,
        held.object_id if hardware.kind == "machine" else None,
        held.object_id if hardware.kind == "host" else None,
        held.name,
        FaultReportState.OPEN,
        None,
    )
    described = {"category": body.category, "description": body.description, "since": body.since}
    await connection.execute(_OPEN, report._asdict() | described | {"created_by": actor.token_id})
    await _record(connection, FAULT_REPORT_OPENED, report, request_id=actor.request_id)
    return report.id


async def lock_open(connection: AsyncConnection, fault_report_id: UUID) -> FaultReport:
    """Lock a report that an operator is to answer. Raises `Problem` not_found, or state_conflict when it has an answer.

    The clusters concerned are locked before.
    """
    report = await _LOCK.one_or_none(connection, {"id": fault_report_id})
    if report is None:
        raise not_found()
    if report.state is not FaultReportState.OPEN:
        raise Problem(STATE_CONFLICT, f"Fault report {report.id} is {report.state} already; an answer is not changed.")
    return report


async def answer_report(
    connection: AsyncConnection,
    report: FaultReport,
    answer: str,
    *,
    answered_by: UUID,
    report_id: UUID | None,
    request_id: str,
) -> None:
    """Write the answer to a locked report. `report_id`: the health report that confirms it; None: it is dismissed."""
    state = FaultReportState.DISMISSED if report_id is None else FaultReportState.CONFIRMED
    values = {
        "id": report.id,
        "state": state.value,
        "answer": answer,
        "answered_by": answered_by,
        "report_id": report_id,
    }
    await connection.execute(_ANSWER, values)
    kind = FAULT_REPORT_DISMISSED if report_id is None else FAULT_REPORT_CONFIRMED
    await _record(connection, kind, report._replace(answer=answer), request_id=request_id)


async def reports_cleared(connection: AsyncConnection, reports: Collection[UUID]) -> None:
    """These health reports have ended: what they confirmed is repaired."""
    if reports:
        await _record_settled(connection, await _CLEARED.all(connection, {"reports": list(reports)}))


async def close_confirmed(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> bool:
    """Settle what was confirmed of hardware that the cluster no longer has; whether there was any.

    It is repaired if the cluster is in use, and closed if it is deleted or suspended: a resume gives it other hardware.
    """
    settled = await _SETTLE.all(connection, {"project_id": project_id, "cluster_id": cluster_id})
    await _record_settled(connection, settled)
    return bool(settled)


async def _record_settled(connection: AsyncConnection, settled: Collection[FaultReport]) -> None:
    for report in settled:
        closed = report.state is FaultReportState.CLOSED
        await _record(connection, FAULT_REPORT_CLOSED if closed else FAULT_REPORT_REPAIRED, report, request_id=None)


async def _record(connection: AsyncConnection, kind: EventType, report: FaultReport, *, request_id: str | None) -> None:
    data = FaultReported(
        cluster=report.cluster_id,
        kind="machine" if report.kind == "machine" else "poplar_server",
        name=report.name,
        answer=report.answer,
    )
    await record(connection, kind, project_id=report.project_id, subject_id=report.id, request_id=request_id, data=data)
