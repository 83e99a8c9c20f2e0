"""Reading the events of a billing account, in the order of commits; see `events.feed`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from ipucloud.contract.lists import Order
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.feed import CLOUD_EVENT, DOCUMENT

_BEHIND = {Order.OLDEST_FIRST: ">", Order.NEWEST_FIRST: "<"}
_SORTED = {Order.OLDEST_FIRST: "transaction, id", Order.NEWEST_FIRST: "transaction DESC, id DESC"}


class AccountEventsFound(NamedTuple):
    """The page's JSON array, and the position of its last event when there are more."""

    items: str
    next: str | None


def _list(order: Order, document: str) -> Query[AccountEventsFound]:
    return Query(
        clauses(
            "WITH found AS (SELECT * FROM events WHERE account_id = :account_id",
            "AND transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)",
            "AND (CAST(:types AS text[]) IS NULL OR type = ANY(CAST(:types AS text[])))",
            "AND (CAST(:subject_id AS uuid) IS NULL OR subject_id = CAST(:subject_id AS uuid))",
            f"AND (transaction, id) {_BEHIND[order]} (:after_transaction, :after_id)",
            f"ORDER BY {_SORTED[order]} LIMIT CAST(:limit AS integer) + 1),",
            *("page AS (SELECT found.*, row_number() OVER (ORDER BY", _SORTED[order], ") AS place FROM found)"),
            "SELECT (SELECT coalesce(json_agg(",
            document,
            "ORDER BY place), '[]')::text FROM page WHERE place <= :limit) AS items,",
            "(SELECT transaction || '-' || id FROM page",
            "WHERE place = :limit AND EXISTS (SELECT FROM page WHERE place > :limit)) AS next",
        ),
        AccountEventsFound,
    )


AccountLists: TypeAlias = Mapping[Order, Query[AccountEventsFound]]

LIST_ACCOUNT_EVENTS: AccountLists = {order: _list(order, DOCUMENT) for order in Order}
LIST_ACCOUNT_CLOUD_EVENTS: AccountLists = {order: _list(order, CLOUD_EVENT) for order in Order}
"""Parameters: those of `events.feed.list_parameters`, and `:account_id`."""
