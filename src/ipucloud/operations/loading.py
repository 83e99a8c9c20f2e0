"""The open operation of an object and its current step, as parts of the one statement that a reconcile pass loads."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ipucloud.contract.operations import OperationState
from ipucloud.operations.kind import OpenOperation, OpenStep

OPEN_OPERATION = """
o.id AS operation_id, o.project_id AS operation_project_id, o.kind AS operation_kind, o.state AS operation_state,
o.request_id, o.undoing, o.deadline_at < app_now() AS overdue,
step.ordinal AS step_ordinal, step.name AS step_name, step.stage AS step_stage, step.attempts AS step_attempts,
step.detail AS step_detail, step.left_over AS steps_left, step.blocked AS step_blocked,
extract(epoch FROM app_now() - step.started_at) AS step_running_for,
extract(epoch FROM o.expected_at - o.created_at) AS operation_usual
"""
"""Columns over the open operation `o`, joined outer, and `CURRENT_STEP`; read by `open_operation_of`."""

CURRENT_STEP = """
LEFT JOIN LATERAL (
  SELECT s.ordinal, s.name, s.stage, s.attempts, s.detail, s.blocked, s.started_at, count(*) OVER () AS left_over
    FROM operation_steps s
   WHERE s.project_id = o.project_id AND s.operation_id = o.id AND s.state IN ('pending', 'running')
   ORDER BY s.ordinal LIMIT 1) AS step ON true
"""


def open_operation_of(row: sa.Row[Any]) -> OpenOperation | None:
    """The operation of a row with the columns `OPEN_OPERATION`; None when none is open."""
    if row.operation_id is None:
        return None
    step = OpenStep(
        ordinal=row.step_ordinal,
        name=row.step_name,
        stage=row.step_stage,
        attempts=row.step_attempts,
        detail=row.step_detail,
        last=row.steps_left == 1,
        running_for=float(row.step_running_for or 0.0),
        blocked=bool(row.step_blocked),
    )
    return OpenOperation(
        id=row.operation_id,
        project_id=row.operation_project_id,
        kind=row.operation_kind,
        state=OperationState(row.operation_state),
        request_id=row.request_id,
        undoing=row.undoing,
        overdue=row.overdue,
        step=step,
        usual=None if row.operation_usual is None else float(row.operation_usual),
    )
