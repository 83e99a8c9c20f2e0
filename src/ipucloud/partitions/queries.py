"""Reading partitions: each statement authenticates, reads, and writes the JSON of the API in one round trip."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, OF_PROJECT, ONE_DOCUMENT, READ_BACK, clauses, page_of, rfc3339
from ipucloud.identity.access import authenticated

_CLUSTER = """
, cluster AS (
  SELECT id, allocated_through FROM clusters
  WHERE project_id = (SELECT project_id FROM project) AND id = :cluster_id
)
"""
_SHAPE = ("size", "gcds", "replicas", "segments", "reconfigurable", "sync_type", "routing", "gateway_routing")
_MEMBERS = clauses(
    """
    'id', page.id, 'name', page.name, 'partition_id', page.external_name, 'origin', page.origin,
    'state', page.state, 'state_reason', page.state_reason, 'version', page.version,
    'operation', (SELECT o.id FROM operations o
                   WHERE o.project_id = page.project_id AND o.partition_id = page.id AND o.finished_at IS NULL),
    """,
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
    AND (name = :ref OR external_name = :ref)
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

GET_PARTITION: sa.TextClause = authenticated(clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT))
"""Parameters: those of the authentication, `:cluster_id`, and `:ref`, a name or an id at the controller. Answers
(role, project_id, document, version), the last two NULL when the project has no such partition."""

GET_IPUOF: sa.TextClause = authenticated(
    clauses(
        _ONE,
        """
        , documents AS (
          SELECT (page.ipuof -> CAST(:gcd AS integer))::text AS document, page.version, page.external_name,
                 jsonb_array_length(page.ipuof) AS gcds, page.state
            FROM page)
        SELECT (SELECT role FROM principal) AS role, (SELECT project_id FROM project) AS project_id,
               documents.document, documents.version, documents.external_name, documents.gcds, documents.state
        FROM (VALUES (true)) AS always LEFT JOIN documents ON true
        """,
    )
)
"""As `GET_PARTITION`, with `:gcd`; `document` is the configuration of that GCD, NULL when there is none. Also answers
(external_name, gcds, state), NULL when there is no such partition."""

LIST_PARTITIONS: Mapping[Order, sa.TextClause] = {
    order: authenticated(
        clauses(
            _CLUSTER, page_of("partitions", order, _LIVING, _REMOVED), _LISTED, _KNOWN, DOCUMENT_PAGE, ") AS answer"
        )
    )
    for order in Order
}
"""Parameters: those of the authentication, `:cluster_id` and those of `db.documents.list_parameters` for a
`PartitionList`; without `:state` removed partitions are left out. Answers (role, project_id, items, next_created_at,
next_id, allocated_through); the last is NULL when the project has no such cluster."""

_READ = sa.text(clauses(OF_PROJECT, _ONE, _DOCUMENTS, READ_BACK))


async def partition_document(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ref: str) -> str:
    """A living partition's JSON inside a transaction. Raises sqlalchemy.exc.NoResultFound."""
    found = await connection.execute(_READ, {"project_id": project_id, "cluster_id": cluster_id, "ref": ref})
    document: str = found.scalar_one()
    return document
