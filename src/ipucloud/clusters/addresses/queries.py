"""Addresses as the API shows them."""

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


def _command(address: str, server: str) -> str:
    """SQL of the command that logs in through an address; NULL while no server has it."""
    return (
        f"CASE WHEN {address}.state = 'attached' AND {server}.ssh_user IS NOT NULL"
        f" THEN format('ssh -p %s %s@%s', {address}.port, {server}.ssh_user, {address}.ip) END"
    )


_DOCUMENTS = f"""
, documents AS (
  SELECT page.place, 0 AS version, json_build_object(
           'id', page.id, 'name', page.name, 'tags', page.tags, 'region', page.region, 'ip', page.ip,
           'port', page.port, 'observed_at', {rfc3339("page.observed_at")}, 'state', page.state,
           'state_reason', page.state_reason, 'state_entered_at', {rfc3339("page.state_entered_at")},
           'cluster', page.cluster_id, 'cluster_name', cluster.name, 'poplar_server', server.name,
           'command', {_command("page", "server")}, 'sku', page.sku, 'currency', page.currency,
           'created_by', page.created_by, 'created_at', {rfc3339("page.created_at")},
           'deleted_at', {rfc3339("page.deleted_at")}) AS document
    FROM page
    LEFT JOIN clusters AS cluster ON (cluster.project_id, cluster.id) = (page.project_id, page.cluster_id)
    LEFT JOIN poplar_servers AS server ON (server.project_id, server.id) = (page.project_id, page.server_id)
)
"""  # noqa: S608  # our own text
_ONE = """
, page AS (
  SELECT addresses.*, 1 AS place FROM addresses
   WHERE project_id = (SELECT project_id FROM project) AND id = :address_id
)
"""
_MINE = """
WHERE project_id = (SELECT project_id FROM project)
  AND CASE WHEN CAST(:state AS text[]) IS NULL THEN state <> 'deleted' ELSE state = ANY(CAST(:state AS text[])) END
"""
GET_ADDRESS = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication and `:address_id`."""
LIST_ADDRESSES: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(clauses(page_of("addresses", order, _MINE), _DOCUMENTS, DOCUMENT_PAGE), DocumentPage)
    for order in Order
}
"""Parameters: those of the authentication, and of `db.documents.list_parameters` for an `AddressList`."""
_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)

OF_CLUSTER = f"""
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_object(
           'id', address.id, 'name', address.name, 'state', address.state, 'ip', address.ip, 'port', address.port,
           'poplar_server', has_it.name, 'command', {_command("address", "has_it")}
         ) ORDER BY address.name, address.id) AS list
    FROM addresses AS address
    JOIN poplar_servers AS has_it ON (has_it.project_id, has_it.id) = (address.project_id, address.server_id)
   WHERE address.project_id = page.project_id AND address.cluster_id = page.id
) AS reached ON true
"""  # noqa: S608  # our own text
"""SQL that joins the addresses of `clusters AS page`, as `reached.list`."""


async def address_document(connection: AsyncConnection, *, project_id: UUID, address_id: UUID) -> str:
    """An address's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "address_id": address_id})
