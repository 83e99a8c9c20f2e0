"""What is new in the event log, for those that follow it: who reads which events, and from where it can be read on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.feed import DOCUMENT, FeedEvent, Position

_HORIZON = """
FROM (SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS settled) AS horizon
"""
_PAGE = """
  AND transaction < horizon.settled AND (transaction, id) > (:after_transaction, :after_id)
ORDER BY transaction, id LIMIT :limit
"""


class _Entry(NamedTuple):
    event: FeedEvent
    reader: UUID


class _News(NamedTuple):
    settled: int
    entry: _Entry | None


class Opened(NamedTuple):
    """`tail`: the transaction below which every event is settled. `known`: the log can be read on from the position
    that was asked about."""

    tail: int
    known: bool


class News(NamedTuple):
    """The events of some readers after a position and up to `end`, each with its reader."""

    events: list[tuple[UUID, FeedEvent]]
    end: Position
    more: bool


class Feed:
    """The events of one kind of readers: projects, billing accounts, or the operators of the platform.

    `rows`: SQL of a table with the columns of `events` and whatever `document` needs. `reader`: SQL of the id of the
    reader of a row. `document`: SQL of the event as in the API.
    """

    def __init__(self, *, rows: str, reader: str, document: str, filter: str = "true") -> None:  # noqa: A002  # SQL's
        columns = clauses("SELECT transaction, id, type, CAST(", document, "AS text) AS document")
        several = clauses("WHERE", filter, "AND", reader, "= ANY(CAST(:readers AS uuid[]))")
        one = clauses("WHERE", filter, "AND", reader, "= CAST(:reader AS uuid)")
        self.news_statement = Query(
            clauses(
                "SELECT horizon.settled, news.transaction, news.id, news.type, news.document, news.reader",
                *(_HORIZON, "LEFT JOIN LATERAL (", columns, ",", reader, "AS reader FROM", rows, several, _PAGE),
                ") AS news ON true ORDER BY news.transaction, news.id",
            ),
            _News,
        )
        self.page_statement = Query(
            clauses(
                "SELECT news.*",
                *(_HORIZON, "CROSS JOIN LATERAL (", columns, "FROM", rows, one, _PAGE),
                ") AS news ORDER BY transaction, id",
            ),
            FeedEvent,
        )
        self.open_statement = Query(
            clauses(
                "SELECT horizon.settled AS tail, CAST(:after_id AS bigint) = 0",
                "AND CAST(:after_transaction AS bigint) <= horizon.settled OR EXISTS (SELECT FROM",
                *(rows, one, "AND transaction = CAST(:after_transaction AS bigint)"),
                *("AND id = CAST(:after_id AS bigint)) AS known", _HORIZON),
            ),
            Opened,
        )

    async def opened(self, connection: Statements, reader: UUID, position: Position | None) -> Opened:
        """Where a stream begins. `position`: of an event, or one that `tail` gave."""
        return await self.open_statement.one(connection, {"reader": reader} | _after(position or Position(0, 0)))

    async def news(
        self, connection: Statements, readers: Sequence[UUID], *, behind: Position | None, limit: int
    ) -> News:
        """The next events of these readers after a position; after None there are none, and `end` is the tail."""
        after = _after(behind or Position(10**18 - 1, 10**18 - 1))
        rows = await self.news_statement.all(connection, {"readers": list(readers), "limit": limit} | after)
        events = [(row.entry.reader, row.entry.event) for row in rows if row.entry is not None]
        more = len(events) == limit
        return News(events, events[-1][1].position if more else Position(rows[0].settled, 0), more)

    async def page(self, connection: Statements, reader: UUID, *, behind: Position, limit: int) -> list[FeedEvent]:
        """The next events of one reader after a position."""
        return await self.page_statement.all(connection, {"reader": reader, "limit": limit} | _after(behind))


def _after(position: Position) -> dict[str, object]:
    return {"after_transaction": position.transaction, "after_id": position.id}


PROJECTS = Feed(rows="events", reader="project_id", document=DOCUMENT)
ACCOUNTS = Feed(rows="events", reader="account_id", document=DOCUMENT)
