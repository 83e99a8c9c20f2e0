"""The events that operators read: of the platform, and those of projects that concern it, in the order of commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias
from uuid import UUID

from ipucloud.contract.lists import Order
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.feed import KNOWN_ORIGIN, cloud_event
from ipucloud.events.news import Feed

_ASKED = "CASE e.subject_type WHEN 'quota_request' THEN e.data ->> 'region' END"
"""The region of a request for a higher quota."""
_SOURCE = """
FROM events AS e
LEFT JOIN projects ON projects.id = e.project_id
LEFT JOIN clusters AS c
       ON c.project_id = e.project_id
      AND c.id = CASE e.subject_type WHEN 'cluster' THEN e.subject_id
                                     WHEN 'fault_report' THEN CAST(e.data ->> 'cluster' AS uuid) END
"""
_FILTERED = f"""
WHERE e.operators
  AND e.transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)
  AND (CAST(:types AS text[]) IS NULL OR e.type = ANY(CAST(:types AS text[])))
  AND (CAST(:subject_id AS uuid) IS NULL OR e.subject_id = CAST(:subject_id AS uuid))
  AND (CAST(:project AS text) IS NULL OR projects.slug = CAST(:project AS text))
  AND (CAST(:region AS text) IS NULL
       OR coalesce(e.region, c.region, {_ASKED}, CASE WHEN e.project_id IS NULL THEN :region END)
          = CAST(:region AS text))
"""
_COLUMNS = f"""
SELECT e.*, projects.slug AS project, coalesce(e.region, c.region, {_ASKED}) AS place,
       coalesce(CASE WHEN e.subject_type = 'cluster' THEN c.name END,
                (SELECT name FROM machines WHERE e.subject_type = 'machine' AND id = e.subject_id),
                (SELECT name FROM hosts WHERE e.subject_type = 'host' AND id = e.subject_id)) AS subject_name
"""  # noqa: S608  # our own text
_DOCUMENT = f"""
json_build_object(
  'id', transaction || '-' || id, 'type', type, 'region', place, 'project', project, 'subject_type', subject_type,
  'subject_id', subject_id, 'subject_name', subject_name, 'operation_id', operation_id, 'request_id', request_id,
  'actor', actor, {KNOWN_ORIGIN}, 'at', {rfc3339("created_at")}, 'data', data)
"""
_CLOUD_EVENT = cloud_event(KNOWN_ORIGIN, "place")
_BEHIND = {
    Order.OLDEST_FIRST: "AND (e.transaction, e.id) > (:after_transaction, :after_id)",
    Order.NEWEST_FIRST: "AND (e.transaction, e.id) < (:after_transaction, :after_id)",
}
_SORTED = {Order.OLDEST_FIRST: "transaction, id", Order.NEWEST_FIRST: "transaction DESC, id DESC"}


class EventsFound(NamedTuple):
    """The page's JSON array, and the position of its last event when there are more."""

    items: str
    next: str | None


def _list(order: Order, document: str) -> Query[EventsFound]:
    return Query(
        clauses(
            *("WITH matches AS (", _COLUMNS, _SOURCE, _FILTERED, _BEHIND[order], "ORDER BY"),
            *(", ".join(f"e.{each}" for each in _SORTED[order].split(", ")), "LIMIT CAST(:limit AS integer) + 1),"),
            *("page AS (SELECT matches.*, row_number() OVER (ORDER BY", _SORTED[order], ") AS number FROM matches)"),
            *("SELECT (SELECT coalesce(json_agg(", document, "ORDER BY number), '[]')::text FROM page"),
            "WHERE number <= :limit) AS items, (SELECT transaction || '-' || id FROM page",
            "WHERE number = :limit AND EXISTS (SELECT FROM page WHERE number > :limit)) AS next",
        ),
        EventsFound,
    )


OperatorLists: TypeAlias = Mapping[Order, Query[EventsFound]]

LIST_EVENTS: OperatorLists = {order: _list(order, _DOCUMENT) for order in Order}
LIST_CLOUD_EVENTS: OperatorLists = {order: _list(order, _CLOUD_EVENT) for order in Order}
"""Parameters: those of `events.feed.list_parameters`, `:region` and `:project`, NULL for all."""

PLATFORM = UUID(int=0)
"""The one reader of `OPERATORS`."""
OPERATORS = Feed(
    rows=clauses("(", _COLUMNS, _SOURCE, ") AS events"),
    reader=f"CAST('{PLATFORM}' AS uuid)",
    filter="operators",
    document=_DOCUMENT,
)
