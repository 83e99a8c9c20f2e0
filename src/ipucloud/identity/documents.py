"""What a project has, as the API shows it: one row of a table, a list, and one inside the transaction that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
)
from ipucloud.db.rows import Query
from ipucloud.identity.access import authenticated

OF_STATES = """
WHERE project_id = (SELECT project_id FROM project)
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a noun.

    `get`: its parameters are those of the authentication and `:resource_id`. `list`: those of the authentication, and
    of `db.documents.list_parameters`. `read_back`: inside the transaction that wrote it, `:project_id` and
    `:resource_id`.
    """

    get: Query[OneDocument]
    list: Mapping[Order, Query[DocumentPage]]
    read_back: Query[str]

    async def read(self, connection: AsyncConnection, *, project_id: UUID, resource_id: UUID) -> str:
        """The JSON of what this transaction wrote. Raises sqlalchemy.exc.NoResultFound."""
        return await self.read_back.one(connection, {"project_id": project_id, "resource_id": resource_id})


def documents(table: str, members: str, *branches: str, joined: str = "") -> Documents:
    """`members`: SQL of the members of a document, over a row `page` and what is `joined` to it.

    `branches`: what is listed, as in `db.documents.page_of`; by default the project's, with a filter of the state.
    """
    document = clauses(
        ", documents AS (SELECT page.place, 0 AS version, json_build_object(",
        members,
        ") AS document FROM page",
        joined,
        ")",
    )
    one = f"""
, page AS (
  SELECT {table}.*, 1 AS place FROM {table}
   WHERE project_id = (SELECT project_id FROM project) AND id = :resource_id
)
"""  # noqa: S608  # our own text
    return Documents(
        get=authenticated(clauses(one, document, ONE_DOCUMENT), OneDocument),
        list={
            order: authenticated(
                clauses(page_of(table, order, *(branches or (OF_STATES,))), document, DOCUMENT_PAGE), DocumentPage
            )
            for order in Order
        },
        read_back=Query(clauses(OF_PROJECT, one, document, READ_BACK), str),
    )
