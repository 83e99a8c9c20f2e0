"""The price book as it is read: filtered, ordered and paged, and the names that it has prices under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ipucloud.contract.prices import PriceOrder
from ipucloud.db.documents import clauses, money
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements


class PricesFound(NamedTuple):
    """The page's JSON array, and the key of its last version if there are more."""

    items: str
    next: str | None


class Priced(NamedTuple):
    """Regions and currencies of all versions, sorted."""

    regions: list[str]
    currencies: list[str]


_BOOK = """
SELECT id, NULL::uuid AS account_id, sku, region, currency, unit_price, valid_from, valid_to, source FROM prices
UNION ALL
SELECT id, account_id, sku, region, currency, unit_price, valid_from, valid_to, source FROM contract_prices
"""
_MATCHING = """
WHERE (CAST(:sku AS text) IS NULL OR sku = CAST(:sku AS text))
  AND (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
  AND (CAST(:currency AS text) IS NULL OR currency = CAST(:currency AS text))
  AND (CAST(:account_id AS uuid) IS NULL OR account_id = CAST(:account_id AS uuid))
  AND (CAST(:contract AS boolean) IS NULL OR (account_id IS NOT NULL) = CAST(:contract AS boolean))
  AND (CAST(:state AS text) IS NULL
       OR CAST(:state AS text) = CASE WHEN valid_from > app_now() THEN 'future'
                                      WHEN valid_to <= app_now() THEN 'past' ELSE 'current' END)
"""


def _second(instant: str) -> str:
    """A timestamptz as `2026-01-31T23:59:30Z`: prices change at whole seconds."""
    return f"""to_char({instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""


_SHOWN = f"""
json_build_object(
  'id', id, 'account_id', account_id, 'sku', sku, 'region', region, 'unit_price', {money("unit_price", "currency")},
  'valid_from', {_second("valid_from")}, 'valid_to', {_second("valid_to")}, 'source', source)
"""
_PAYER, _BEGINS = "coalesce(account_id::text, '')", _second("valid_from")
_TERMS = {
    "account": f"{_PAYER}, sku, region, currency, {_BEGINS}",
    "sku": f"sku, region, currency, {_PAYER}, {_BEGINS}",
    "valid_from": f"{_BEGINS}, sku, region, currency, {_PAYER}",
}


def _list(order: PriceOrder) -> Query[PricesFound]:
    # No term has a space, which sorts before all that they have: so the keys sort as their terms do, one by one.
    key = f"concat_ws(' ', {_TERMS[order.removeprefix('-')]}, id) COLLATE \"C\""
    comparison, by = ("<", "key DESC") if order.startswith("-") else (">", "key")
    return Query(
        clauses(
            *("WITH keyed AS (SELECT book.*,", key, "AS key FROM (", _BOOK, ") AS book", _MATCHING, "),"),
            *("matches AS (SELECT * FROM keyed WHERE CAST(:after AS text) IS NULL OR key", comparison),
            *("CAST(:after AS text) ORDER BY", by, "LIMIT CAST(:limit AS integer) + 1),"),
            *("page AS (SELECT matches.*, row_number() OVER (ORDER BY", by, ") AS place FROM matches)"),
            *("SELECT (SELECT coalesce(json_agg(", _SHOWN, "ORDER BY place), '[]')::text FROM page"),
            "WHERE place <= :limit) AS items, (SELECT key FROM page WHERE place = :limit",
            "AND EXISTS (SELECT FROM page WHERE place > :limit)) AS next",
        ),
        PricesFound,
    )


LIST_BOOK: Mapping[PriceOrder, Query[PricesFound]] = {order: _list(order) for order in PriceOrder}
"""Every version that was, is or will be in force and matches.

Parameters: the filters of a `PriceBookList`, NULL for all, with `:account_id` for the account; `:after`, the key of the
last version of the page before, or NULL; `:limit`.
"""
_PRICED = Query(
    clauses(
        "SELECT coalesce(array_agg(DISTINCT region ORDER BY region), '{}') AS regions,",
        "coalesce(array_agg(DISTINCT currency ORDER BY currency), '{}') AS currencies FROM (",
        _BOOK,
        ") AS book",
    ),
    Priced,
)


async def priced(connection: Statements) -> Priced:
    """What the book has prices for, be it in the catalogue or not."""
    return await _PRICED.one(connection)
