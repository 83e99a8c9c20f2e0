"""Snapshots as the API shows them."""

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
           'id', page.id, 'name', page.name, 'tags', page.tags, 'region', page.region, 'volume', page.volume_id,
           'volume_name', volume.name, 'cluster', page.cluster_id, 'cluster_name', cluster.name,
           'poplar_server', server.name, 'image', page.image, 'size_gib', page.size_gib, 'state', page.state,
           'state_reason', page.state_reason, 'state_entered_at', {rfc3339("page.state_entered_at")},
           'sku', page.sku, 'currency', page.currency, 'created_by', page.created_by,
           'created_at', {rfc3339("page.created_at")}, 'deleted_at', {rfc3339("page.deleted_at")}) AS document
    FROM page
    LEFT JOIN volumes AS volume ON (volume.project_id, volume.id) = (page.project_id, page.volume_id)
    LEFT JOIN clusters AS cluster ON (cluster.project_id, cluster.id) = (page.project_id, page.cluster_id)
    LEFT JOIN poplar_servers AS server ON (server.project_id, server.id) = (page.project_id, page.server_id)
)
"""  # noqa: S608  # our own text
_ONE = """
, page AS (
  SELECT snapshots.*, 1 AS place FROM snapshots
   WHERE project_id = (SELECT project_id FROM project) AND id = :snapshot_id
)
"""
_MINE = """
WHERE project_id = (SELECT project_id FROM project)
  AND CASE WHEN CAST(:state AS text[]) IS NULL THEN state <> 'deleted' ELSE state = ANY(CAST(:state AS text[])) END
"""
GET_SNAPSHOT = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication and `:snapshot_id`."""
LIST_SNAPSHOTS: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(clauses(page_of("snapshots", order, _MINE), _DOCUMENTS, DOCUMENT_PAGE), DocumentPage)
    for order in Order
}
"""Parameters: those of the authentication, and of `db.documents.list_parameters` for a `SnapshotList`."""
_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)


async def snapshot_document(connection: AsyncConnection, *, project_id: UUID, snapshot_id: UUID) -> str:
    """A snapshot's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "snapshot_id": snapshot_id})
