"""The open operation of an object and its current step, as parts of the one statement that a reconcile pass loads."""

from __future__ import annotations

OPEN_OPERATION = """
o.id, o.project_id, o.kind, o.state, o.request_id, o.undoing, o.deadline_at < app_now() AS overdue,
step.ordinal, step.name, step.stage, step.attempts, step.detail, step.left_over = 1 AS last,
coalesce(extract(epoch FROM app_now() - step.started_at), 0)::float8 AS running_for, step.blocked,
extract(epoch FROM o.expected_at - o.created_at)::float8 AS usual
"""
"""Columns of an `OpenOperation`, over the open operation `o`, joined outer, and `CURRENT_STEP`."""

CURRENT_STEP = """
LEFT JOIN LATERAL (
  SELECT s.ordinal, s.name, s.stage, s.attempts, s.detail, s.blocked, s.started_at, count(*) OVER () AS left_over
    FROM operation_steps s
   WHERE s.project_id = o.project_id AND s.operation_id = o.id AND s.state IN ('pending', 'running')
   ORDER BY s.ordinal LIMIT 1) AS step ON true
"""
