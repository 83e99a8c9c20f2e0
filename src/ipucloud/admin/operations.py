"""Operations of every project and billing account."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, DocumentPage, clauses, page_of
from ipucloud.db.rows import Query
from ipucloud.operations.queries import SUMMARY

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
