"""What projects hold, as the API shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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

STATE = f"""
'state', page.state, 'state_reason', page.state_reason, 'state_entered_at', {rfc3339("page.state_entered_at")}
"""
SERVER = "'cluster', page.cluster_id, 'cluster_name', cluster.name, 'poplar_server', server.name"
_OF_PROJECT = """
WHERE project_id = (SELECT project_id FROM project)
  AND CASE WHEN CAST(:state AS text[]) IS NULL THEN state <> 'deleted' ELSE state = ANY(CAST(:state AS text[])) END
"""


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a noun.

    `get`: its parameters are those of the authentication and `:resource_id`. `list`: those of the authentication, and
    of `db.documents.list_parameters` for a list with the filter `state`. `read_back`: inside the transaction that wrote
    it, `:project_id` and `:resource_id`.
    """

    get: Query[OneDocument]
    list: Mapping[Order, Query[DocumentPage]]
    read_back: Query[str]


def documents(table: str, members: str, joins: str = "") -> Documents:
    """`members`: SQL of what a document has besides the common members, of a row `page`, its `cluster` and `server`.

    `joins`: what else that needs.
    """
    document = f"""
, documents AS (
  SELECT page.place, 0 AS version, json_build_object(
           'id', page.id, 'name', page.name, 'tags', page.tags, 'region', page.region, {members},
           'sku', page.sku, 'currency', page.currency, 'created_by', page.created_by,
           'created_at', {rfc3339("page.created_at")}, 'deleted_at', {rfc3339("page.deleted_at")}) AS document
    FROM page
    LEFT JOIN clusters AS cluster ON (cluster.project_id, cluster.id) = (page.project_id, page.cluster_id)
    LEFT JOIN poplar_servers AS server ON (server.project_id, server.id) = (page.project_id, page.server_id)
    {joins}
)
"""  # noqa: S608  # our own text
    one = f"""
, page AS (
  SELECT {table}.*, 1 AS place FROM {table}
   WHERE project_id = (SELECT project_id FROM project) AND id = :resource_id
)
"""  # noqa: S608  # our own text
    return Documents(
        get=authenticated(clauses(one, document, ONE_DOCUMENT), OneDocument),
        list={
            order: authenticated(clauses(page_of(table, order, _OF_PROJECT), document, DOCUMENT_PAGE), DocumentPage)
            for order in Order
        },
        read_back=Query(clauses(OF_PROJECT, one, document, READ_BACK), str),
    )
