"""Programs as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.lists import Order
from ipucloud.contract.programs import MOST_LOG_ITEMS
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

_SHARED = f"""
  'id', page.id, 'cluster', page.cluster_id,
  'poplar_server', (SELECT server.name FROM poplar_servers AS server
                     WHERE server.project_id = page.project_id AND server.id = page.server_id),
  'command', page.command, 'directory', page.directory, 'environment', (
    SELECT coalesce(json_agg(name ORDER BY name COLLATE "C"), '[]') FROM jsonb_object_keys(page.environment) AS name),
  'image', page.image, 'registry_username', page.registry_username,
  'state', page.state, 'state_reason', page.state_reason, 'ended_by', page.ended_by, 'exit_status', page.exit_status,
  'attempt', page.attempt, 'log_bytes', page.log_bytes, 'stop_requested_at', {rfc3339("page.stop_requested_at")},
  'created_by', page.created_by, 'requested_by', json_build_object(
    'kind', page.actor_kind, 'name', page.actor, 'token_id', page.created_by),
  'created_at', {rfc3339("page.created_at")}, 'started_at', {rfc3339("page.started_at")},
  'ended_at', {rfc3339("page.ended_at")}, 'observed_at', {rfc3339("page.observed_at")},
"""  # noqa: S608  # our own text
_CLUSTER = """
, cluster AS (
  SELECT id FROM clusters WHERE project_id = (SELECT project_id FROM project) AND id = :cluster_id
)
"""
_OF_THE_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND cluster_id = (SELECT id FROM cluster)
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
_KNOWN = "SELECT answer.*, EXISTS (SELECT FROM cluster) AS known FROM ("


class ProgramsFound(NamedTuple):
    """A page; `known` is false when the project has no such cluster."""

    rights: str | None
    project_id: UUID | None
    items: str
    next_created_at: datetime | None
    next_id: UUID | None
    known: bool

    def page(self) -> DocumentPage:
        return DocumentPage(*self[:-1])


class Documents:
    """The statements that read the programs of one table.

    `one`: parameters are those of the authentication, `:cluster_id`, and `:ref`; `log`: with `:after`, too; `lists`:
    those of the authentication, `:cluster_id`, and of `db.documents.list_parameters`.
    """

    def __init__(self, table: str, log: str, owner: str, *, chosen: str, members: str) -> None:
        """`log` and its column `owner`: what they wrote; `chosen`: the one that `:ref` means; `members`: its own."""
        one = clauses(one_of_the_cluster(table, chosen), _documents(members))
        self.one = authenticated(clauses(one, ONE_DOCUMENT), OneDocument)
        self.log = authenticated(
            clauses(one_of_the_cluster(table, chosen), _log(log, owner), ONE_DOCUMENT), OneDocument
        )
        self.lists = {
            order: authenticated(
                clauses(
                    _CLUSTER,
                    page_of(table, order, _OF_THE_CLUSTER),
                    _documents(members),
                    _KNOWN,
                    DOCUMENT_PAGE,
                    ") AS answer",
                ),
                ProgramsFound,
            )
            for order in Order
        }
        self._read = Query(clauses(OF_PROJECT, one, READ_BACK), str)

    async def read(self, connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ref: str) -> str:
        """A program's JSON inside the transaction that wrote it. Raises sqlalchemy.exc.NoResultFound."""
        return await self._read.one(connection, {"project_id": project_id, "cluster_id": cluster_id, "ref": ref})


def one_of_the_cluster(table: str, chosen: str) -> str:
    """A further CTE `page` with the row of `table` that is `chosen`, a condition with `:ref` and perhaps an order."""
    return f"""
, page AS (
  SELECT {table}.*, 1 AS place FROM {table}
   WHERE project_id = (SELECT project_id FROM project) AND cluster_id = :cluster_id
     AND {chosen}
)
"""  # noqa: S608  # our own text


def _documents(members: str) -> str:
    return clauses(
        ", documents AS (SELECT page.place, 0 AS version, json_build_object(",
        _SHARED,
        members,
        ") AS document FROM page)",
    )


def _log(table: str, owner: str) -> str:
    return f"""
, parts AS (
  SELECT log.number, log.attempt, log.text, log.read_at FROM page
    JOIN {table} AS log ON log.project_id = page.project_id AND log.{owner} = page.id
   WHERE log.number > :after
   ORDER BY log.number LIMIT {MOST_LOG_ITEMS}
)
, documents AS (
  SELECT 0 AS version, json_build_object(
           'items', (SELECT coalesce(json_agg(json_build_object(
                              'number', parts.number, 'attempt', parts.attempt, 'text', parts.text,
                              'read_at', {rfc3339("parts.read_at")}) ORDER BY parts.number), '[]') FROM parts),
           'next', (SELECT coalesce(max(parts.number), :after) FROM parts),
           'complete', page.ended_at IS NOT NULL
                       AND page.log_parts <= (SELECT coalesce(max(parts.number), :after) FROM parts),
           'state', page.state) AS document
    FROM page
)
"""  # noqa: S608  # our own text
