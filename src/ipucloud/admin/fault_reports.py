"""Faults that customers reported: list, confirm, dismiss."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.pages import keyed_page
from ipucloud.clusters.fault_reports.queries import MEMBERS
from ipucloud.clusters.fault_reports.store import answer_report, close_confirmed, lock_open
from ipucloud.clusters.faults import apply_reports
from ipucloud.contract.fault_reports import FaultReportConfirm
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import CODES, Code, Kind, Source
from ipucloud.inventory.health.reports import report
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem, not_found

_USUAL: Mapping[Kind, Code] = {"machine": Code.BMC_CRITICAL, "host": Code.HOST_FAILED}
_FAULT_REPORTS = """
SELECT to_char(fault.created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || fault.id AS key, fault.*,
       projects.slug AS project, c.name AS cluster_name, c.region, coalesce(m.name, h.name) AS hardware,
       EXISTS (SELECT FROM allocations AS held
                WHERE held.project_id = fault.project_id AND held.cluster_id = fault.cluster_id
                  AND held.released_at IS NULL
                  AND (held.machine_id = fault.machine_id OR held.host_id = fault.host_id)) AS held
  FROM fault_reports AS fault
  JOIN clusters AS c ON (c.project_id, c.id) = (fault.project_id, fault.cluster_id)
  JOIN projects ON projects.id = fault.project_id
  LEFT JOIN machines AS m ON m.id = fault.machine_id
  LEFT JOIN hosts AS h ON h.id = fault.host_id
"""
_MEMBERS = f"""{MEMBERS},
  'project', page.project, 'cluster_name', page.cluster_name, 'region', page.region, 'hardware', page.hardware,
  'held', page.held, 'answered_by', page.answered_by
"""
LIST_FAULT_REPORTS = keyed_page(
    clauses(
        "SELECT * FROM (",
        _FAULT_REPORTS,
        """
        ) AS fault_reports
        WHERE (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
          AND (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
          AND (CAST(:project AS text) IS NULL OR project = CAST(:project AS text))
          AND (CAST(:cluster AS uuid) IS NULL OR cluster_id = CAST(:cluster AS uuid))
          AND (CAST(:hardware AS text) IS NULL OR hardware = CAST(:hardware AS text))
        """,
    ),
    _MEMBERS,
)
"""The oldest first. Parameters: the filters, NULL for all."""
GET_FAULT_REPORT = Query(
    clauses(
        "SELECT json_build_object(",
        _MEMBERS,
        ")::text AS document FROM (",
        _FAULT_REPORTS,
        ") AS page WHERE id = :fault_report_id",
    ),
    str,
)


class _Concerned(NamedTuple):
    """The cluster of a report, since when it exists, and the cluster that holds the hardware now, if any does."""

    cluster_id: UUID
    created_at: datetime
    holder_project_id: UUID | None
    holder_id: UUID | None


_CONCERNED = Query(
    """
    SELECT c.id AS cluster_id, c.created_at, held.project_id AS holder_project_id, held.cluster_id AS holder_id
      FROM fault_reports AS fault
      JOIN clusters AS c ON (c.project_id, c.id) = (fault.project_id, fault.cluster_id)
      LEFT JOIN allocations AS held
        ON (held.machine_id = fault.machine_id OR held.host_id = fault.host_id) AND held.freed_at IS NULL
     WHERE fault.id = :fault_report_id
    """,
    _Concerned,
)
_LOCK_CLUSTERS = sa.text(
    "SELECT id FROM clusters WHERE id = ANY (CAST(:clusters AS uuid[])) ORDER BY id FOR NO KEY UPDATE"
)
_NOW = Query("SELECT app_now() AS now", datetime)


async def confirm(
    connection: AsyncConnection, fault_report_id: UUID, answer: FaultReportConfirm, *, token: UUID, request_id: str
) -> None:
    """Report the fault as an operator's, from which repair and credit follow as from every other.

    Its first sighting is the operator's: what the customer says of earlier times credits nothing. Raises `Problem`:
    not_found, state_conflict for a report that has an answer, validation_failed.
    """
    concerned = await _concerned(connection, fault_report_id)
    fault = await lock_open(connection, fault_report_id)
    code = Code(answer.code) if answer.code is not None else _USUAL[fault.kind]
    await _check(connection, answer, concerned, fault.kind, code)
    health_report = await report(
        connection,
        kind=fault.kind,
        object_id=fault.machine_id or fault.host_id or fault.id,
        source=Source.OPERATOR,
        code=code,
        detail=f"{answer.answer} (fault report {fault.id})",
        created_by=str(token),
        cluster_id=concerned.holder_id,
        first_seen_at=answer.observed_at,
    )
    await answer_report(
        connection, fault, answer.answer, answered_by=token, report_id=health_report, request_id=request_id
    )
    await close_confirmed(connection, project_id=fault.project_id, cluster_id=fault.cluster_id)
    if concerned.holder_project_id is not None and concerned.holder_id is not None:
        await apply_reports(connection, project_id=concerned.holder_project_id, cluster_id=concerned.holder_id)


async def dismiss(
    connection: AsyncConnection, fault_report_id: UUID, reason: str, *, token: UUID, request_id: str
) -> None:
    """Answer that nothing follows. Raises `Problem` not_found, and state_conflict for a report that has an answer."""
    await _concerned(connection, fault_report_id)
    fault = await lock_open(connection, fault_report_id)
    await answer_report(connection, fault, reason, answered_by=token, report_id=None, request_id=request_id)


async def _concerned(connection: AsyncConnection, fault_report_id: UUID) -> _Concerned:
    """Lock the clusters, which come first in the order of locks. Raises `Problem` not_found."""
    concerned = await _CONCERNED.one_or_none(connection, {"fault_report_id": fault_report_id})
    if concerned is None:
        raise not_found()
    clusters = {concerned.cluster_id, concerned.holder_id} - {None}
    await connection.execute(_LOCK_CLUSTERS, {"clusters": list(clusters)})
    return concerned


async def _check(
    connection: AsyncConnection, answer: FaultReportConfirm, concerned: _Concerned, kind: Kind, code: Code
) -> None:
    """Raises `Problem` validation_failed."""
    if code not in CODES[kind]:
        raise _refused("/code", "wrong_object", f"This is not a code of a {kind}; send another, or none.")
    if answer.observed_at is None:
        return
    if answer.observed_at > await _NOW.one(connection):
        raise _refused("/observed_at", "in_future", "Send a time that is past, or none for now.")
    if answer.observed_at < concerned.created_at:
        raise _refused("/observed_at", "too_early", "The cluster did not exist then.")


def _refused(pointer: str, code: str, sentence: str) -> Problem:
    return Problem(
        VALIDATION_FAILED, "Nothing was confirmed; `errors` says why.", [FieldError(pointer, code, sentence)]
    )
