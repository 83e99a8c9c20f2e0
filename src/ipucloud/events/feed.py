"""Reading the event log in an order that never changes for readers.

An event gets its id when it is written, not when it becomes visible: a reader that remembers the highest id it has read
would miss every event committed later. Events are therefore ordered by (transaction, id), and only those of
transactions older than every running one are shown: no event appears before one that was already shown.

In a database that was restored into another server, whose transactions have lower numbers, new events would come before
the restored ones: so many numbers are used up first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias
from uuid import UUID

import sqlalchemy as sa

from ipucloud.contract.lists import Order
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.engine import sqlalchemy_url
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

_POSITION = re.compile(r"([0-9]{1,18})-([0-9]{1,18})", re.ASCII)


class Position(NamedTuple):
    """A position in the log; written `<transaction>-<id>`, which is an event's `id` in the API."""

    transaction: int
    id: int

    def __str__(self) -> str:
        return f"{self.transaction}-{self.id}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises ValueError when `text` is not a position."""
        match = _POSITION.fullmatch(text)
        if match is None:
            raise ValueError("not a position of the event log")
        return cls(int(match[1]), int(match[2]))


_ENDS = {Order.OLDEST_FIRST: Position(0, 0), Order.NEWEST_FIRST: Position(10**18 - 1, 10**18 - 1)}


class FeedEvent(NamedTuple):
    """An event: its position, its type, and its JSON as in the API."""

    position: Position
    type: str
    document: str


_OWN = "CASE WHEN actor_home = coalesce(project_id, account_id) THEN {0} END"
SHOWN_ORIGIN = f"'address', {_OWN.format('address')}, 'agent', {_OWN.format('agent')}"
"""Where the request came from, for the readers of the project or account that the actor is of; null to others."""
KNOWN_ORIGIN = "'address', address, 'agent', agent"
"""The same for operators."""


def document(origin: str) -> str:
    """SQL of an event as in the API, over columns of `events`."""
    return f"""
json_build_object(
  'id', transaction || '-' || id, 'type', type, 'subject_type', subject_type, 'subject_id', subject_id,
  'operation_id', operation_id, 'request_id', request_id, 'actor', actor, {origin}, 'region', region,
  'at', {rfc3339("created_at")}, 'data', data)
"""


def cloud_event(origin: str, region: str = "region") -> str:
    """SQL of the same as a CloudEvent 1.0 in its JSON format."""
    return f"""
json_build_object(
  'specversion', '1.0', 'id', transaction || '-' || id,
  'source', coalesce('/v1/projects/' || project_id, '/v1/billing/accounts/' || account_id, '/v1/operator'),
  'type', 'ipucloud.' || type, 'subject', concat_ws('/', subject_type, subject_id), 'time', {rfc3339("created_at")},
  'datacontenttype', 'application/json', 'actor', actor, {origin}, 'region', {region},
  'operationid', operation_id, 'requestid', request_id, 'data', data)
"""


DOCUMENT = document(SHOWN_ORIGIN)
CLOUD_EVENT = cloud_event(SHOWN_ORIGIN)
"""For the readers of a project or an account."""

_SETTLED = """
FROM events
WHERE project_id = (SELECT project_id FROM project)
  AND transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)
  AND (CAST(:types AS text[]) IS NULL OR type = ANY(CAST(:types AS text[])))
"""
# Two branches, each with an index of its own; the one that the parameter rules out is not started.
_SUBJECTS = ("AND CAST(:subject_id AS uuid) IS NULL", "AND subject_id = CAST(:subject_id AS uuid)")
_BEHIND = {
    Order.OLDEST_FIRST: "AND (transaction, id) > (:after_transaction, :after_id)",
    Order.NEWEST_FIRST: "AND (transaction, id) < (:after_transaction, :after_id)",
}
_SORTED = {Order.OLDEST_FIRST: "ORDER BY transaction, id", Order.NEWEST_FIRST: "ORDER BY transaction DESC, id DESC"}


def _page(order: Order) -> str:
    """The events of a page in order, one more than `:limit`."""
    end = clauses(_SORTED[order], "LIMIT CAST(:limit AS integer) + 1")
    branches = (clauses("(SELECT *", _SETTLED, subject, _BEHIND[order], end, ")") for subject in _SUBJECTS)
    return clauses("FROM (", " UNION ALL ".join(branches), ") AS chosen", end)


_ANSWER = """
SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id,
       (SELECT coalesce(json_agg(document ORDER BY place), '[]')::text FROM page WHERE place <= :limit) AS items,
       (SELECT transaction || '-' || id FROM page
        WHERE place = :limit AND EXISTS (SELECT FROM page WHERE place > :limit)) AS next
"""


class EventsFound(NamedTuple):
    """The row of `LIST_EVENTS`: the page's JSON array, and the position of its last event when there are more."""

    rights: str | None
    project_id: UUID | None
    items: str
    next: str | None


def _list(document: str) -> Mapping[Order, str]:
    return {
        order: clauses(
            *(", page AS (SELECT transaction, id, row_number() OVER (", _SORTED[order], ") AS place,"),
            *(document, "AS document", _page(order), ")"),
            _ANSWER,
        )
        for order in Order
    }


LIST_EVENTS = _list(DOCUMENT)
LIST_CLOUD_EVENTS = _list(CLOUD_EVENT)
"""Continue `identity.access.authenticated`; parameters from `list_parameters`; `EventsFound`."""

_READ = Query(
    clauses(
        "WITH project AS (SELECT CAST(:project_id AS uuid) AS project_id) SELECT transaction, id, type, CAST(",
        *(DOCUMENT, "AS text) AS document", _page(Order.OLDEST_FIRST)),
    ),
    FeedEvent,
)
_TAIL = Query("SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)", int)


def list_parameters(
    *,
    order: Order = Order.NEWEST_FIRST,
    limit: int = 50,
    behind: Position | None = None,
    types: Sequence[str] | None = None,
    subject_id: UUID | None = None,
) -> dict[str, object]:
    """The parameters of `LIST_EVENTS`, but for those of the authentication. `limit` is at least 1."""
    behind = behind or _ENDS[order]
    return {
        "after_transaction": behind.transaction,
        "after_id": behind.id,
        "limit": limit,
        "types": list(types) if types else None,
        "subject_id": subject_id,
    }


async def read(
    connection: Statements,
    *,
    project_id: UUID,
    behind: Position | None = None,
    limit: int = 100,
    types: Sequence[str] | None = None,
    subject_id: UUID | None = None,
) -> list[FeedEvent]:
    """The next events after a position (None: from the beginning), oldest first; for streams and deliveries."""
    parameters = list_parameters(
        order=Order.OLDEST_FIRST, limit=limit, behind=behind, types=types, subject_id=subject_id
    )
    return (await _READ.all(connection, parameters | {"project_id": project_id}))[:limit]


async def tail(connection: Statements) -> Position:
    """The position before all events that are not yet settled: the start of a stream that needs only new events."""
    return Position(await _TAIL.one(connection), 0)


_ACCOUNT_BEHIND = {Order.OLDEST_FIRST: ">", Order.NEWEST_FIRST: "<"}
_ACCOUNT_SORTED = {Order.OLDEST_FIRST: "transaction, id", Order.NEWEST_FIRST: "transaction DESC, id DESC"}


class AccountEventsFound(NamedTuple):
    """The page's JSON array, and the position of its last event when there are more."""

    items: str
    next: str | None


def _account_list(order: Order, document: str) -> Query[AccountEventsFound]:
    return Query(
        clauses(
            "WITH matches AS (SELECT * FROM events WHERE account_id = :account_id",
            "AND transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)",
            "AND (CAST(:types AS text[]) IS NULL OR type = ANY(CAST(:types AS text[])))",
            "AND (CAST(:subject_id AS uuid) IS NULL OR subject_id = CAST(:subject_id AS uuid))",
            f"AND (transaction, id) {_ACCOUNT_BEHIND[order]} (:after_transaction, :after_id)",
            f"ORDER BY {_ACCOUNT_SORTED[order]} LIMIT CAST(:limit AS integer) + 1),",
            *(
                "page AS (SELECT matches.*, row_number() OVER (ORDER BY",
                _ACCOUNT_SORTED[order],
                ") AS place FROM matches)",
            ),
            "SELECT (SELECT coalesce(json_agg(",
            document,
            "ORDER BY place), '[]')::text FROM page WHERE place <= :limit) AS items,",
            "(SELECT transaction || '-' || id FROM page",
            "WHERE place = :limit AND EXISTS (SELECT FROM page WHERE place > :limit)) AS next",
        ),
        AccountEventsFound,
    )


AccountLists: TypeAlias = Mapping[Order, Query[AccountEventsFound]]

LIST_ACCOUNT_EVENTS: AccountLists = {order: _account_list(order, DOCUMENT) for order in Order}
LIST_ACCOUNT_CLOUD_EVENTS: AccountLists = {order: _account_list(order, CLOUD_EVENT) for order in Order}
"""Parameters: those of `events.feed.list_parameters`, and `:account_id`."""


_TRANSACTIONS_BEHIND = """
SELECT greatest(0, coalesce(max(transaction), 0) + 1 - (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint)
  FROM events
"""
_USE_UP = """
DO $$ BEGIN
  WHILE pg_current_xact_id()::text::bigint <= (SELECT coalesce(max(transaction), 0) FROM events) LOOP COMMIT; END LOOP;
END $$
"""


def _engine(url: str) -> sa.Engine:
    return sa.create_engine(sqlalchemy_url(url), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)


def transactions_behind(url: str) -> int:
    """How many transactions the server has to begin until its numbers are above those of every event."""
    with _engine(url).connect() as connection:
        return int(connection.exec_driver_sql(_TRANSACTIONS_BEHIND).scalar_one())


def use_up_transactions(url: str) -> None:
    """Begin so many transactions, about ten thousand a second. Nothing else may write meanwhile."""
    with _engine(url).connect() as connection:
        connection.exec_driver_sql(_USE_UP)
