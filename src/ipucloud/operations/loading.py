"""Open operations and their current steps, as parts of the one statement that a reconcile pass loads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ipucloud.contract.operations import OperationState
from ipucloud.operations.kind import OpenOperation, OpenStep

OPEN_OPERATION = """
o.id, o.project_id, o.kind, o.state, o.request_id, o.undoing, o.deadline_at < app_now() AS overdue,
step.ordinal, step.name, step.stage, step.attempts, step.detail, step.left_over = 1 AS last,
coalesce(extract(epoch FROM app_now() - step.started_at), 0)::float8 AS running_for, step.blocked, step.notes,
greatest(0, extract(epoch FROM step.retry_at - app_now()))::float8 AS retry_in,
extract(epoch FROM o.expected_at - o.created_at)::float8 AS usual
"""
"""Columns of an `OpenOperation`, over the open operation `o`, joined outer, and `CURRENT_STEP`."""

CURRENT_STEP = """
LEFT JOIN LATERAL (
  SELECT s.ordinal, s.name, s.stage, s.attempts, s.detail, s.blocked, s.notes, s.started_at, s.retry_at,
         count(*) OVER () AS left_over
    FROM operation_steps s
   WHERE s.project_id IS NOT DISTINCT FROM o.project_id AND s.operation_id = o.id AND s.state IN ('pending', 'running')
   ORDER BY s.ordinal LIMIT 1) AS step ON true
"""

OPEN_ON_PARTITIONS = f"""
(SELECT coalesce(json_agg(open ORDER BY open.id), '[]')
   FROM (SELECT o.partition_id, {OPEN_OPERATION}
           FROM operations o {CURRENT_STEP}
          WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.partition_id IS NOT NULL
            AND o.state NOT IN ('cancelled', 'failed', 'succeeded')) AS open)
"""  # noqa: S608  # our own text
"""JSON of the open operations on the partitions of the cluster `c`, oldest first, for `open_operation_of`."""


def open_operation_of(found: Mapping[str, Any]) -> tuple[UUID, OpenOperation]:
    """A partition's id and its open operation, of an item of `OPEN_ON_PARTITIONS`."""
    step = OpenStep(**{name: found[name] for name in OpenStep._fields})
    whole = {name: found[name] for name in OpenOperation._fields if name not in {"id", "project_id", "state", "step"}}
    return UUID(found["partition_id"]), OpenOperation(
        id=UUID(found["id"]),
        project_id=UUID(found["project_id"]),
        state=OperationState(found["state"]),
        step=step,
        **whole,
    )
