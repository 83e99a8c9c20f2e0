"""Fault reports as the API shows them to customers."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.lists import Order
from ipucloud.db.documents import (
    DOCUMENT_PAGE,
    OF_PROJECT,
    ONE_DOCUMENT,
    READ_BACK,
    DocumentPage,
    Fragment,
    OneDocument,
    clauses,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.identity.access import authenticated

MEMBERS = Fragment(
    f"""
  'id', page.id, 'state', page.state, 'cluster', page.cluster_id,
  'kind', CASE WHEN page.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END, 'name', page.name,
  'category', page.category, 'description', page.description, 'since', {rfc3339("page.since")},
  'created_by', page.created_by, 'created_at', {rfc3339("page.created_at")}, 'answer', page.answer,
  'answered_at', {rfc3339("page.answered_at")}, 'report_id', page.report_id,
  'repaired_at', {rfc3339("page.repaired_at")}, 'closed_at', {rfc3339("page.closed_at")}
"""
)
"""The members of a fault report, over its row `page`."""
_DOCUMENTS = clauses(
    ", documents AS (SELECT page.place, 0 AS version, json_build_object(",
    MEMBERS,
    """
    ) AS document FROM page)""",
)
_ONE = """
, page AS (
  SELECT fault_reports.*, 1 AS place FROM fault_reports
   WHERE project_id = (SELECT project_id FROM project) AND id = :fault_report_id
)
"""
_OF_ANY_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND CAST(:cluster AS uuid) IS NULL
"""
_OF_THE_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND cluster_id = CAST(:cluster AS uuid)
"""
_FILTERS = """
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
GET_FAULT_REPORT = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication and `:fault_report_id`."""
LIST_FAULT_REPORTS: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(
        clauses(
            page_of("fault_reports", order, _OF_ANY_CLUSTER + _FILTERS, _OF_THE_CLUSTER + _FILTERS),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""Parameters: those of the authentication, and of `db.documents.list_parameters` for a `FaultReportList`."""
_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)


async def fault_report_document(connection: AsyncConnection, *, project_id: UUID, fault_report_id: UUID) -> str:
    """A report's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "fault_report_id": fault_report_id})
