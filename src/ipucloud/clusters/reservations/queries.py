"""Reservations as the API shows them."""

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
    OneDocument,
    clauses,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.identity.access import authenticated

_DOCUMENTS = f"""
, documents AS (
  SELECT page.place, 0 AS version, json_build_object(
           'id', page.id, 'name', page.name, 'state', page.state,
           'state_entered_at', {rfc3339("page.state_entered_at")}, 'region', page.region, 'flavor', page.flavor,
           'machine_type', page.machine_type, 'count', page.blocks, 'machines', page.blocks * page.machines,
           'starts_at', {rfc3339("page.starts_at")}, 'ends_at', {rfc3339("page.ends_at")},
           'cancel_until', {rfc3339("page.cancel_until")}, 'sku', page.sku, 'currency', page.currency,
           'left', CASE page.state WHEN 'active' THEN held.unused ELSE 0 END, 'clusters', held.clusters,
           'created_by', page.created_by, 'created_at', {rfc3339("page.created_at")}) AS document
    FROM page CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE cluster_id IS NULL AND usable) AS unused,
             coalesce(json_agg(cluster_id ORDER BY block) FILTER (WHERE cluster_id IS NOT NULL), '[]') AS clusters
        FROM (SELECT a.block, (array_agg(a.cluster_id) FILTER (WHERE a.cluster_id IS NOT NULL))[1] AS cluster_id,
                     bool_and(coalesce(m.allocatable, h.allocatable)) AS usable
                FROM allocations AS a LEFT JOIN machines AS m ON m.id = a.machine_id
                LEFT JOIN hosts AS h ON h.id = a.host_id
               WHERE a.project_id = page.project_id AND a.reservation_id = page.id AND a.freed_at IS NULL
               GROUP BY a.block) AS blocks) AS held
)
"""  # noqa: S608  # our own text
_ONE = """
, page AS (
  SELECT reservations.*, 1 AS place FROM reservations
   WHERE project_id = (SELECT project_id FROM project) AND id = :reservation_id
)
"""
_MINE = """
WHERE project_id = (SELECT project_id FROM project)
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
GET_RESERVATION = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication and `:reservation_id`."""
LIST_RESERVATIONS: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(clauses(page_of("reservations", order, _MINE), _DOCUMENTS, DOCUMENT_PAGE), DocumentPage)
    for order in Order
}
"""Parameters: those of the authentication, and of `db.documents.list_parameters` for a `ReservationList`."""
_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)


async def reservation_document(connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID) -> str:
    """A reservation's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "reservation_id": reservation_id})
