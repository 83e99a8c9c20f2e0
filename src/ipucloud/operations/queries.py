"""Reading operations: statements whose JSON answers PostgreSQL writes.

`GET_OPERATION` and `LIST_OPERATIONS` continue the authenticating common table expressions: pass them to
`identity.access.authenticated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ipucloud.contract.lists import Order
from ipucloud.contract.operations import OperationState
from ipucloud.db.documents import DOCUMENT_PAGE, OF_PROJECT, ONE_DOCUMENT, READ_BACK, clauses, page_of, rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.operations.kind import OpenOperation, OpenStep

# What the step under way waits for, if it says so. `id` is the operation's.
_BLOCKED_BY = clauses(
    "(SELECT concat(step.detail, ' (since ',",
    rfc3339("step.started_at"),
    """
               , ', checked ', step.checks, ' times',
               CASE WHEN step.attempts > 0 THEN concat(', ', step.attempts, ' of them failed') END, ')')
   FROM (SELECT first.* FROM operation_steps AS first
          WHERE first.operation_id = id AND first.state IN ('pending', 'running')
          ORDER BY first.ordinal LIMIT 1) AS step
  WHERE step.blocked)
    """,
)
REQUESTED_BY = """
json_build_object('kind', actor_kind, 'name', CASE
  WHEN actor_kind <> 'platform' THEN actor
  WHEN split_part(request_id, '-', 1) IN ('schedule', 'idle', 'expiry', 'repair', 'unpaid', 'reset')
    THEN split_part(request_id, '-', 1)
  ELSE 'upkeep' END, 'token_id', requested_by)
"""
"""Who asked for an operation; the service's own requests have ids that begin with their reason."""
SUMMARY = f"""
'id', id, 'kind', kind, 'target', json_build_object(
  'type', CASE WHEN export_id IS NOT NULL THEN 'export' WHEN partition_id IS NULL THEN 'cluster' ELSE 'partition' END,
  'id', coalesce(export_id, partition_id, cluster_id), 'cluster', cluster_id), 'state', state,
'done', finished_at IS NOT NULL, 'stage', stage, 'progress', progress, 'created_at', {rfc3339("created_at")},
'started_at', {rfc3339("started_at")}, 'finished_at', {rfc3339("finished_at")},
'deadline_at', {rfc3339("deadline_at")}, 'expected_at', {rfc3339("expected_at")},
'blocked_by', {_BLOCKED_BY},
'cancellable', cancellable AND state IN ('queued', 'running') AND NOT undoing,
'request_id', request_id, 'requested_by', {REQUESTED_BY}
"""
"""The members of an operation without its steps and error, for json_build_object over columns of `operations`."""

_STEP = f"""
json_build_object(
  'name', step.name, 'stage', step.stage, 'state', step.state, 'attempts', step.attempts,
  'checks', step.checks, 'detail', step.detail,
  'started_at', {rfc3339("step.started_at")}, 'finished_at', {rfc3339("step.finished_at")})
"""
_STEPS = clauses(
    "LEFT JOIN LATERAL (SELECT json_agg(",
    _STEP,
    """
      ORDER BY step.ordinal) AS steps
      FROM operation_steps AS step
      WHERE step.operation_id = page.id AND step.project_id IS NOT DISTINCT FROM page.project_id
    ) AS plan ON true
    """,
)
DOCUMENTS = clauses(
    ", documents AS (SELECT place, version, json_build_object(",
    SUMMARY,
    ", 'error', error, 'steps', coalesce(steps, '[]')) AS document FROM page",
    _STEPS,
    ")",
)
"""CTE `documents` (place, version, document): whole operations, of a CTE `page` of their rows with `place`."""

_ONE = """
, page AS (
  SELECT operations.*, 1 AS place FROM operations
  WHERE project_id = (SELECT project_id FROM project) AND id = :operation_id
)
"""
_OF_ANY_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND CAST(:cluster AS uuid) IS NULL
"""
_OF_THE_CLUSTER = """
WHERE project_id = (SELECT project_id FROM project) AND cluster_id = CAST(:cluster AS uuid)
"""
_FILTERS = """
  AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
  AND (CAST(:kind AS text) IS NULL OR kind = CAST(:kind AS text))
"""

GET_OPERATION = clauses(_ONE, DOCUMENTS, ONE_DOCUMENT)
"""Parameter `:operation_id`; answers (role, project_id, document, version), the last two NULL when unknown."""

LIST_OPERATIONS: Mapping[Order, str] = {
    order: clauses(
        page_of("operations", order, _OF_ANY_CLUSTER + _FILTERS, _OF_THE_CLUSTER + _FILTERS), DOCUMENTS, DOCUMENT_PAGE
    )
    for order in Order
}
"""Parameters: those of `db.documents.list_parameters` for an `OperationList`. Answers (role, project_id, items,
next_created_at, next_id)."""

_READ = Query(clauses(OF_PROJECT, _ONE, DOCUMENTS, READ_BACK), str)


async def operation_document(connection: Statements, *, project_id: UUID, operation_id: UUID) -> str:
    """An operation's JSON inside the transaction that opened it. Raises sqlalchemy.exc.NoResultFound."""
    return await _READ.one(connection, {"project_id": project_id, "operation_id": operation_id})


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


def open_operation_of(row: Mapping[str, Any]) -> tuple[UUID, OpenOperation]:
    """A partition's id and its open operation, of an item of `OPEN_ON_PARTITIONS`."""
    step = OpenStep(**{name: row[name] for name in OpenStep._fields})
    whole = {name: row[name] for name in OpenOperation._fields if name not in {"id", "project_id", "state", "step"}}
    return UUID(row["partition_id"]), OpenOperation(
        id=UUID(row["id"]),
        project_id=UUID(row["project_id"]),
        state=OperationState(row["state"]),
        step=step,
        **whole,
    )
