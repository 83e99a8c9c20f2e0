"""Services as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.jobs import MOST_LOG_ITEMS
from ipucloud.contract.lists import Order
from ipucloud.db.documents import (
    DOCUMENT_PAGE,
    OF_PROJECT,
    ONE_DOCUMENT,
    READ_BACK,
    DocumentPage,
    OneDocument,
    clauses,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.identity.access import authenticated

_MEMBERS = f"""
  'id', page.id, 'name', page.name, 'cluster', page.cluster_id,
  'poplar_server', (SELECT server.name FROM poplar_servers AS server
                     WHERE server.project_id = page.project_id AND server.id = page.server_id),
  'command', page.command, 'directory', page.directory, 'environment', page.environment, 'port', page.port,
  'max_restarts', page.max_restarts, 'state', page.state, 'state_reason', page.state_reason,
  'ended_by', page.ended_by, 'attempt', page.attempt, 'failures', page.failures, 'exit_status', page.exit_status,
  'next_start_at', {rfc3339("page.next_start_at")}, 'log_bytes', page.log_bytes,
  'stop_requested_at', {rfc3339("page.stop_requested_at")},
  'created_by', page.created_by, 'requested_by', json_build_object(
    'kind', page.actor_kind, 'name', page.actor, 'token_id', page.created_by),
  'created_at', {rfc3339("page.created_at")},
  'started_at', {rfc3339("page.started_at")}, 'ended_at', {rfc3339("page.ended_at")},
  'observed_at', {rfc3339("page.observed_at")}
"""  # noqa: S608  # our own text
_DOCUMENTS = clauses(
    ", documents AS (SELECT page.place, 0 AS version, json_build_object(", _MEMBERS, ") AS document FROM page)"
)
_ONE = """
, page AS (
  SELECT services.*, 1 AS place FROM services
   WHERE project_id = (SELECT project_id FROM project) AND cluster_id = :cluster_id
     AND (name = :ref OR id::text = lower(:ref))
   ORDER BY ended_at IS NULL DESC, id DESC LIMIT 1
)
"""
_CLUSTER = """
, cluster AS (
  SELECT id FROM clusters WHERE project_id = (SELECT project_id FROM project) AND id = :cluster_id
)
"""
_OF_THE_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND cluster_id = (SELECT id FROM cluster)
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
_LOG = f"""
, found AS (
  SELECT log.number, log.attempt, log.text, log.read_at FROM page
    JOIN service_logs AS log ON log.project_id = page.project_id AND log.service_id = page.id
   WHERE log.number > :after
   ORDER BY log.number LIMIT {MOST_LOG_ITEMS}
)
, documents AS (
  SELECT 0 AS version, json_build_object(
           'items', (SELECT coalesce(json_agg(json_build_object(
                              'number', found.number, 'attempt', found.attempt, 'text', found.text,
                              'read_at', {rfc3339("found.read_at")}) ORDER BY found.number), '[]') FROM found),
           'next', (SELECT coalesce(max(found.number), :after) FROM found),
           'complete', page.ended_at IS NOT NULL
                       AND page.log_parts <= (SELECT coalesce(max(found.number), :after) FROM found),
           'state', page.state) AS document
    FROM page
)
"""  # noqa: S608  # our own text

GET_SERVICE = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication, `:cluster_id`, and `:ref`, a name or an id."""
GET_SERVICE_LOG = authenticated(clauses(_ONE, _LOG, ONE_DOCUMENT), OneDocument)
"""As `GET_SERVICE`, with `:after`."""


class ServicesFound(NamedTuple):
    """A page; `known` is false when the project has no such cluster."""

    role: str | None
    project_id: UUID | None
    items: str
    next_created_at: datetime | None
    next_id: UUID | None
    known: bool

    def page(self) -> DocumentPage:
        return DocumentPage(*self[:-1])


_KNOWN = "SELECT answer.*, EXISTS (SELECT FROM cluster) AS known FROM ("
LIST_SERVICES: Mapping[Order, Query[ServicesFound]] = {
    order: authenticated(
        clauses(
            _CLUSTER, page_of("services", order, _OF_THE_CLUSTER), _DOCUMENTS, _KNOWN, DOCUMENT_PAGE, ") AS answer"
        ),
        ServicesFound,
    )
    for order in Order
}
"""Parameters: those of the authentication, `:cluster_id`, and of `db.documents.list_parameters` for a `ServiceList`."""
_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)


async def service_document(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ref: str) -> str:
    """A service's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "cluster_id": cluster_id, "ref": ref})
