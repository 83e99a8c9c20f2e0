"""SQL text for statements whose JSON answer PostgreSQL writes: how values are rendered, and how lists are paged.

Everything here takes and returns SQL expressions, never values: those stay bound parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias
from uuid import UUID

from pydantic import BaseModel

from ipucloud.contract.lists import Listed, NamedListed, NamedOrder, Order
from ipucloud.kernel.money import MINOR_UNITS

AnyOrder: TypeAlias = Order | NamedOrder
BY_NAME = frozenset({NamedOrder.BY_NAME, NamedOrder.BY_NAME_DESCENDING})


class Fragment(str):
    """Part of a statement about its own package's tables, for use in other packages' statements.

    Its docstring states the context it needs. `tests/unit/test_table_owners.py` recognises it by this type.
    """

    __slots__ = ()


def rfc3339(instant: str) -> str:
    """A timestamptz as `2026-01-31T23:59:30.000000Z`; NULL stays NULL."""
    return f"""to_char({instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


def decimal_places(currency: str) -> str:
    """How many decimal places an amount to pay has in a currency, of which the database knows only the code."""
    none, three = (
        ", ".join(f"'{code}'" for code, places in sorted(MINOR_UNITS.items()) if places == digits) for digits in (0, 3)
    )
    return f"CASE WHEN {currency} IN ({none}) THEN 0 WHEN {currency} IN ({three}) THEN 3 ELSE 2 END"


def written(amount: str, currency: str) -> str:
    """A numeric as text with no superfluous zeros, in at least its currency's decimal places; NULL stays NULL."""
    return f"round({amount}, greatest({decimal_places(currency)}, min_scale({amount})))::text"


def money(amount: str, currency: str) -> str:
    """A numeric as `{"amount": "0.25", "currency": "EUR"}`, `written`; NULL when the amount is."""
    return (
        f"CASE WHEN {amount} IS NOT NULL"
        f" THEN json_build_object('amount', {written(amount, currency)}, 'currency', {currency}) END"
    )


def clauses(*parts: str) -> str:
    """One statement out of its clauses, in order."""
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class Place:
    """The last item of a page: the next page starts right behind it."""

    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """The same in the order of names; those of deleted objects may repeat."""

    name: str
    id: UUID


_BEFORE_ALL: dict[str, Place] = {
    Order.NEWEST_FIRST: Place(datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1)),
    Order.OLDEST_FIRST: Place(datetime.min.replace(tzinfo=UTC), UUID(int=0)),
}


def list_parameters(query: Listed | NamedListed, behind: Place | NamedPlace | None = None) -> dict[str, object]:
    """The parameters of a list statement, for the page `behind` a place; None starts the list.

    They are the query's filters by name, NULL for an omitted one, and those of `beyond` and `first_of`.
    """
    filters = filters_of(query) | {"limit": query.limit}
    if query.order in BY_NAME:
        named = behind if isinstance(behind, NamedPlace) else None
        return filters | {"after_name": named and named.name, "after_id": named and named.id}
    place = behind if isinstance(behind, Place) else _BEFORE_ALL[query.order]
    return filters | {"after_created_at": place.created_at, "after_id": place.id}


def filters_of(query: BaseModel) -> dict[str, object]:
    """A list's filters by name, NULL for an omitted one."""
    sent = {name: getattr(query, name) for name in type(query).model_fields.keys() - Listed.model_fields.keys()}
    return {name: None if value == [] else value for name, value in sent.items()}


OF_NAME = """
  AND (CAST(:name AS text) IS NULL OR name = CAST(:name AS text))
  AND (CAST(:q AS text) IS NULL OR position(lower(CAST(:q AS text)) IN lower(name)) > 0)
"""
"""Further conditions of a WHERE over rows with `name`: the filters of a `FoundByName`."""


def beyond(order: AnyOrder) -> str:
    """A further condition of a WHERE over rows with `created_at`, `id` and perhaps `name`: those after a place.

    The row comparison is an index condition, so that a deep page costs no more than the first.
    """
    comparison = "<" if order.startswith("-") else ">"
    if order in BY_NAME:
        return clauses(
            "AND (CAST(:after_name AS text) IS NULL",
            f"OR (name, id) {comparison} (CAST(:after_name AS text), CAST(:after_id AS uuid)))",
        )
    return f"AND (created_at, id) {comparison} (:after_created_at, :after_id)"


def first_of(order: AnyOrder) -> str:
    """The end of a query: one page in order plus one row, which shows whether the list continues."""
    return f"ORDER BY {sorting(order)} LIMIT CAST(:limit AS integer) + 1"


def place_in(order: AnyOrder) -> str:
    """The number of a row on its page, from 1."""
    return f"row_number() OVER (ORDER BY {sorting(order)}) AS place"


def page_of(table: str, order: AnyOrder, *branches: str) -> str:
    """A further CTE `page` with the columns of `table`, and `place`: the rows that match one of `branches`.

    Branches are mutually exclusive WHERE clauses. Each is read in order by an index of its own, and abandoned as soon
    as the page is full; one that the parameters rule out is not started. Parameters: those of `list_parameters`.
    """
    parts = (clauses("(SELECT * FROM", table, branch, beyond(order), first_of(order), ")") for branch in branches)
    return clauses(
        ", page AS (SELECT chosen.*,",
        place_in(order),
        "FROM (",
        " UNION ALL ".join(parts),
        ") AS chosen",
        first_of(order),
        ")",
    )


def sorting(order: AnyOrder) -> str:
    """The terms of an ORDER BY over rows with `created_at`, `id` and perhaps `name`."""
    column = order.removeprefix("-")
    return f"{column} DESC, id DESC" if order.startswith("-") else f"{column}, id"


# Both end a statement that has the CTEs `principal` and `project` of identity.access, for its `admit` to judge.
ONE_DOCUMENT = """
SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id,
       documents.document::text AS document, documents.version
FROM (VALUES (true)) AS always LEFT JOIN documents ON true
"""


class OneDocument(NamedTuple):
    """The row of `ONE_DOCUMENT`: the one of a CTE `documents` (document, version), both NULL when there is none."""

    rights: str | None
    project_id: UUID | None
    document: str | None
    version: int | None


class Document(NamedTuple):
    """JSON, and the version of the object."""

    document: str
    version: int

    def encoded(self) -> tuple[bytes, int]:
        return self.document.encode(), self.version


OF_PROJECT = "WITH project AS (SELECT CAST(:project_id AS uuid) AS project_id)"
READ_BACK = "SELECT document::text AS document FROM documents"
"""Begin and end a statement that reads a document of a CTE `documents` inside the transaction that changed it."""

_PAGE = """
SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id,
       items.list::text AS items, next.created_at AS next_created_at, next.id AS next_id
"""
_ITEMS = """
FROM (SELECT coalesce(json_agg(document ORDER BY place), '[]') AS list FROM documents WHERE place <= :limit) AS items
LEFT JOIN (
  SELECT * FROM page WHERE place = :limit AND EXISTS (SELECT FROM page WHERE place > :limit)
) AS next ON true
"""
DOCUMENT_PAGE = clauses(_PAGE, _ITEMS)
NAMED_PAGE = clauses(_PAGE, ", next.name AS next_name", _ITEMS)


class DocumentPage(NamedTuple):
    """The row of `DOCUMENT_PAGE`: JSON array of CTEs `page` and `documents`, and its last place if there is more."""

    rights: str | None
    project_id: UUID | None
    items: str
    next_created_at: datetime | None
    next_id: UUID | None


class NamedPage(NamedTuple):
    """The row of `NAMED_PAGE`, of a list whose items have names."""

    rights: str | None
    project_id: UUID | None
    items: str
    next_created_at: datetime | None
    next_id: UUID | None
    next_name: str | None
