"""Operations of every project and billing account, and work items."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.admin.pages import keyed_page
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, DocumentPage, clauses, page_of, rfc3339
from ipucloud.db.rows import Query
from ipucloud.operations.queries import SUMMARY

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


_WHERE = """
WHERE (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
  AND (CAST(:kind AS text) IS NULL OR kind = CAST(:kind AS text))
  AND (CAST(:cluster AS uuid) IS NULL OR cluster_id = CAST(:cluster AS uuid))
  AND (CAST(:of_project AS text) IS NULL
       OR project_id = (SELECT id FROM projects WHERE slug = CAST(:of_project AS text) AND deleted_at IS NULL))
  AND (CAST(:region AS text) IS NULL
       OR cluster_id IN (SELECT id FROM clusters WHERE region = CAST(:region AS text)))
"""
LIST_OPERATIONS: Mapping[Order, Query[DocumentPage]] = {
    order: Query(
        clauses(
            "WITH principal AS (SELECT NULL::text AS rights), project AS (SELECT NULL::uuid AS project_id)",
            page_of("operations", order, _WHERE),
            ", documents AS (SELECT place, json_build_object(",
            SUMMARY,
            """
              , 'project', (SELECT slug FROM projects WHERE projects.id = page.project_id),
              'account', account_id,
              'region', held.region, 'name', held.name, 'forced_reason', forced_reason) AS document
              FROM page LEFT JOIN LATERAL (
                SELECT clusters.region, clusters.name FROM clusters
                 WHERE clusters.project_id = page.project_id AND clusters.id = page.cluster_id) AS held ON true)
            """,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""Parameters: those of `db.documents.list_parameters` for an `OperatorOperationList`, with `:of_project` for its
`project`."""
