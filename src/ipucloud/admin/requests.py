"""Everything that the database knows of one request, for whoever looks for the cause of a fault."""

from __future__ import annotations

from typing import NamedTuple

from ipucloud.admin.work import ITEMS, WORK_ITEM
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.feed import KNOWN_ORIGIN, document
from ipucloud.operations.queries import DOCUMENTS

MOST = 1000
"""Objects of each list."""


class Trace(NamedTuple):
    """JSON arrays, and the database's time."""

    operations: str
    events: str
    work_items: str
    now: str


_STARTED = f"""
WITH page AS (
  SELECT operations.*, row_number() OVER (ORDER BY created_at, id) AS place FROM operations
   WHERE request_id = :request_id ORDER BY created_at, id LIMIT {MOST}
)
"""  # noqa: S608  # our own text
_EVENTS = f"""
, related AS (
  SELECT * FROM events WHERE request_id = :request_id
  UNION
  SELECT events.* FROM page JOIN events
      ON (events.project_id = page.project_id OR events.account_id = page.account_id)
     AND events.subject_id = coalesce(page.export_id, page.cluster_id)
     AND events.operation_id = page.id
  ORDER BY transaction, id LIMIT {MOST}
)
"""  # noqa: S608  # our own text
READ_TRACE = Query(
    clauses(
        _STARTED,
        DOCUMENTS,
        _EVENTS,
        "SELECT (SELECT coalesce(json_agg(document ORDER BY place), '[]') FROM documents)::text AS operations,",
        "(SELECT coalesce(json_agg(",
        document(KNOWN_ORIGIN),
        "ORDER BY transaction, id), '[]') FROM related)::text AS events,",
        "(SELECT coalesce(json_agg(json_build_object(",
        WORK_ITEM,
        ") ORDER BY page.key), '[]') FROM (",
        ITEMS,
        """
        ) AS page
        WHERE page.kind IN ('cluster', 'partitions', 'export')
          AND page.item_key IN (SELECT coalesce(export_id, cluster_id)::text FROM page))::text AS work_items,
        """,
        rfc3339("app_now()"),
        "AS now",
    ),
    Trace,
)
"""Parameter `:request_id`."""
