"""Work items, and what is stuck."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query

_STATE = """
CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN lease_owner IS NOT NULL THEN 'leased'
     WHEN run_at <= app_now() THEN 'due' ELSE 'resting' END
"""
_SLUG = "(SELECT slug FROM projects WHERE id = page.project_id)"
WORK_ITEM = f"""
'kind', page.kind, 'key', page.item_key, 'project', {_SLUG}, 'state', page.state, 'run_at', {rfc3339("page.run_at")},
'lease_until', {rfc3339("page.lease_until")}, 'attempt', page.attempt, 'parked_at', {rfc3339("page.parked_at")},
'last_error', page.last_error
"""
"""The members of a work item, over columns of `ITEMS` named `page`."""
_COLUMNS = """
SELECT kind, key AS item_key, project_id, run_at, lease_until, attempt, parked_at, last_error,
"""
ITEMS = clauses(_COLUMNS, _STATE, "AS state, kind || '/' || key AS key FROM work")
LIST_WORK = keyed_page(
    clauses(
        "SELECT * FROM (",
        ITEMS,
        """
        ) AS items
        WHERE (CAST(:kind AS text) IS NULL OR kind = CAST(:kind AS text))
          AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
        """,
    ),
    WORK_ITEM,
)
"""Parameters `:kind` and `:state`, or NULL for all."""
GET_WORK = Query(
    clauses(
        "SELECT json_build_object(",
        WORK_ITEM,
        ")::text AS document FROM (",
        ITEMS,
        ") AS page WHERE kind = :kind AND item_key = :key",
    ),
    str,
)
