"""Requests for higher quotas as the API shows them to customers."""

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
  'id', page.id, 'state', page.state, 'region', page.region, 'machine_type', page.machine_type,
  'limit', page.wanted_limit, 'reason', page.reason, 'created_by', page.created_by,
  'created_at', {rfc3339("page.created_at")}, 'granted_limit', page.granted_limit, 'answer', page.answer,
  'decided_at', {rfc3339("page.decided_at")}
"""
)
"""The members of a request, over its row `page`."""
_DOCUMENTS = clauses(
    ", documents AS (SELECT page.place, 0 AS version, json_build_object(",
    MEMBERS,
    """
    ) AS document FROM page)""",
)
_ONE = """
, page AS (
  SELECT quota_requests.*, 1 AS place FROM quota_requests
   WHERE project_id = (SELECT project_id FROM project) AND id = :quota_request_id
)
"""
_MINE = """
WHERE project_id = (SELECT project_id FROM project)
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
GET_QUOTA_REQUEST = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication and `:quota_request_id`."""
LIST_QUOTA_REQUESTS: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(clauses(page_of("quota_requests", order, _MINE), _DOCUMENTS, DOCUMENT_PAGE), DocumentPage)
    for order in Order
}
"""Parameters: those of the authentication, and of `db.documents.list_parameters` for a `QuotaRequestList`."""
_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)


async def quota_request_document(connection: AsyncConnection, *, project_id: UUID, quota_request_id: UUID) -> str:
    """A request's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "quota_request_id": quota_request_id})
