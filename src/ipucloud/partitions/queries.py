"""Reading partitions: each statement authenticates, reads, and writes the JSON of the API in one round trip."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.catalogue import AllocatedThrough
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

_CLUSTER = """
, cluster AS (
  SELECT id, allocated_through FROM clusters
  WHERE project_id = (SELECT project_id FROM project) AND id = :cluster_id
)
"""
_SHAPE = ("size", "gcds", "replicas", "segments", "reconfigurable", "sync_type", "routing", "gateway_routing")


def controller_status(partition: str) -> str:
    """SQL of the JSON of what the controller says of a row of `partitions`; NULL: nothing."""
    at = rfc3339(f"{partition}.status_at")
    return f"{partition}.status || jsonb_build_object('observed_at', {at})"


_MEMBERS = clauses(
    """
    'id', page.id, 'name', page.name, 'partition_id', page.external_name, 'origin', page.origin,
    'state', page.state, 'state_reason', page.state_reason, 'version', page.version,
    'operation', (SELECT o.id FROM operations o
                   WHERE o.project_id = page.project_id AND o.partition_id = page.id AND o.finished_at IS NULL),
    """,
    f"'controller', {controller_status('page')}, ",
    ", ".join(f"'{name}', shape.of -> '{name}'" for name in (*_SHAPE, "auto_reset", "relocatable")),
    ", ",
    ", ".join(
        f"'{name}', {rfc3339(f'page.{column}')}"
        for name, column in (
            ("state_entered_at", "state_entered_at"),
            ("observed_at", "observed_at"),
            ("ipuof_config_at", "ipuof_at"),
            ("created_at", "created_at"),
            ("removed_at", "removed_at"),
        )
    ),
)
_FROM = """
FROM page CROSS JOIN LATERAL (
  SELECT coalesce(page.requested, '{}') || coalesce(page.observed, '{}') AS of) AS shape
"""
_OF = ", documents AS (SELECT page.place, page.version, json_build_object("
_LISTED = clauses(_OF, _MEMBERS, ") AS document", _FROM, ")")
_DOCUMENTS = clauses(_OF, _MEMBERS, ", 'ipus', coalesce(shape.of -> 'ipus', '[]')) AS document", _FROM, ")")
_ONE = """
, page AS (
  SELECT partitions.*, 1 AS place FROM partitions
  WHERE project_id = (SELECT project_id FROM project) AND cluster_id = :cluster_id AND removed_at IS NULL
    AND (:ref IN (name, external_name) OR id::text = :ref)
  ORDER BY name <> :ref, origin = 'customer', created_at LIMIT 1
)
"""
_OF_THE_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND cluster_id = :cluster_id
  AND (CAST(:origin AS text) IS NULL OR origin = CAST(:origin AS text))
"""
_LIVING = clauses(
    _OF_THE_CLUSTER,
    "AND removed_at IS NULL AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))",
)
_REMOVED = clauses(_OF_THE_CLUSTER, "AND removed_at IS NOT NULL AND 'removed' = ANY(CAST(:state AS text[]))")
_KNOWN = "SELECT answer.*, (SELECT allocated_through FROM cluster) AS allocated_through FROM ("

GET_PARTITION = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication, `:cluster_id`, and `:ref`, a name, an id, or an id at the controller."""


class IpuofFound(NamedTuple):
    """The configuration of a GCD, None when there is none; also, all but the last two, when there is no partition."""

    rights: str | None
    project_id: UUID | None
    document: str | None
    version: int | None
    external_name: str | None
    gcds: int | None
    state: str | None


GET_IPUOF = authenticated(
    clauses(
        _ONE,
        """
        , documents AS (
          SELECT (page.ipuof -> CAST(:gcd AS integer))::text AS document, page.version, page.external_name,
                 jsonb_array_length(page.ipuof) AS gcds, page.state
            FROM page)
        SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id,
               documents.document, documents.version, documents.external_name, documents.gcds, documents.state
        FROM (VALUES (true)) AS always LEFT JOIN documents ON true
        """,
    ),
    IpuofFound,
)
"""As `GET_PARTITION`, with `:gcd`."""


class PartitionPage(NamedTuple):
    """A page; `allocated_through` is None when the project has no such cluster."""

    rights: str | None
    project_id: UUID | None
    items: str
    next_created_at: datetime | None
    next_id: UUID | None
    allocated_through: AllocatedThrough | None

    def page(self) -> DocumentPage:
        return DocumentPage(*self[:-1])


LIST_PARTITIONS: Mapping[Order, Query[PartitionPage]] = {
    order: authenticated(
        clauses(
            _CLUSTER, page_of("partitions", order, _LIVING, _REMOVED), _LISTED, _KNOWN, DOCUMENT_PAGE, ") AS answer"
        ),
        PartitionPage,
    )
    for order in Order
}
"""Parameters: those of the authentication, `:cluster_id` and those of `db.documents.list_parameters` for a
`PartitionList`; without `:state` removed partitions are left out."""

_READ = Query(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK), str)


async def partition_document(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ref: str) -> str:
    """A living partition's JSON inside a transaction. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "cluster_id": cluster_id, "ref": ref})
