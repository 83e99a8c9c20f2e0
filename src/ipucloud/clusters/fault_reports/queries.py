"""Fault reports as the API shows them to customers."""

from __future__ import annotations

from ipucloud.db.documents import Fragment, rfc3339
from ipucloud.identity.documents import documents

MEMBERS = Fragment(
    f"""
  'id', page.id, 'state', page.state, 'cluster', page.cluster_id,
  'kind', CASE WHEN page.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END, 'name', page.name,
  'category', page.category, 'description', page.description, 'since', {rfc3339("page.since")},
  'created_by', page.created_by, 'created_at', {rfc3339("page.created_at")}, 'answer', page.answer,
  'answered_at', {rfc3339("page.answered_at")}, 'report_id', page.report_id,
  'repaired_at', {rfc3339("page.repaired_at")}, 'closed_at', {rfc3339("page.closed_at")}
"""
)
"""The members of a fault report, over its row `page`."""
_OF_ANY_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND CAST(:cluster AS uuid) IS NULL
"""
_OF_THE_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND cluster_id = CAST(:cluster AS uuid)
"""
_FILTERS = """
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
"""
FAULT_REPORTS = documents("fault_reports", MEMBERS, _OF_ANY_CLUSTER + _FILTERS, _OF_THE_CLUSTER + _FILTERS)
