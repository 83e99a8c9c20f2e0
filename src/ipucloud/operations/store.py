"""Opening, advancing and ending operations. Every function works inside the caller's transaction.

Only a reconciler advances; a request opens, asks to cancel, or pre-empts.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.kernel.errors import PREEMPTED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.operations.plan import PlannedStep
from ipucloud.operations.states import CANCELLABLE

_OPEN = sa.text(
    """
    WITH operation AS (
      INSERT INTO operations (id, project_id, cluster_id, partition_id, export_id, kind, state, stage, request_id,
                              requested_by, deadline_at, expected_at)
      VALUES (:id, :project_id, CAST(:cluster_id AS uuid), :partition_id, CAST(:export_id AS uuid), :kind, 'queued',
              (CAST(:stages AS text[]))[1], :request_id, :token_id, app_now() + make_interval(secs => :deadline),
              app_now() + make_interval(secs => :expected))
      RETURNING id, project_id
    ), steps AS (
      INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage, state, detail)
      SELECT operation.id, step.ordinal, operation.project_id, step.name, step.stage,
             CASE WHEN step.skipped IS NULL THEN 'pending' ELSE 'skipped' END, step.skipped
        FROM operation, unnest(CAST(:names AS text[]), CAST(:stages AS text[]), CAST(:skipped AS text[]))
             WITH ORDINALITY AS step (name, stage, skipped, ordinal)
    )
    INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
    SELECT :project_id, 'operation.created',
           CASE WHEN CAST(:export_id AS uuid) IS NULL THEN 'cluster' ELSE 'export' END,
           coalesce(CAST(:cluster_id AS uuid), CAST(:export_id AS uuid)), :id, :request_id,
           jsonb_build_object('kind', :kind)
    """
).bindparams(sa.bindparam("kind", type_=sa.Text), sa.bindparam("request_id", type_=sa.Text))


async def open_operation(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    cluster_id: UUID | None,
    kind: str,
    plan: Sequence[PlannedStep],
    deadline_seconds: float,
    expected_seconds: float,
    request_id: str,
    token_id: UUID | None,
    partition_id: UUID | None = None,
    export_id: UUID | None = None,
) -> UUID:
    """Record the promise with its steps and its `operation.created` event; one statement. The first step applies.

    It is about a cluster, about a partition of it, or about an export.

    Raises sqlalchemy.exc.IntegrityError (`uq_operations_open_cluster`) when the cluster has an open operation.
    """
    operation_id = new_id()
    await connection.execute(
        _OPEN,
        {
            "id": operation_id,
            "project_id": project_id,
            "cluster_id": cluster_id,
            "partition_id": partition_id,
            "export_id": export_id,
            "kind": kind,
            "names": [step.name for step in plan],
            "stages": [str(step.stage) for step in plan],
            "skipped": [step.skipped for step in plan],
            "deadline": deadline_seconds,
            "expected": expected_seconds,
            "request_id": request_id,
            "token_id": token_id,
        },
    )
    return operation_id


def _end(subject: str) -> sa.TextClause:
    return sa.text(
        f"""
        WITH ended AS (
          UPDATE operations
             SET state = :state, error = coalesce(CAST(:error AS jsonb), error), finished_at = app_now(),
                 version = version + 1, progress = CASE WHEN :state = 'succeeded' THEN 100 ELSE progress END
           WHERE project_id = :project_id AND {subject}_id = :subject_id AND finished_at IS NULL
           RETURNING id, kind, state, request_id
        ), steps AS (
          UPDATE operation_steps SET state = 'skipped'
            FROM ended WHERE operation_id = ended.id AND operation_steps.state IN ('pending', 'running')
        ), event AS (
          INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, request_id, data)
          SELECT :project_id, 'operation.' || ended.state, '{subject}', :subject_id, ended.id, ended.request_id,
                 jsonb_build_object('kind', ended.kind)
            FROM ended
        )
        SELECT id FROM ended
        """  # noqa: S608  # one of two words of this file
    ).bindparams(sa.bindparam("state", type_=sa.Text))


_END_OF_CLUSTER, _END_OF_EXPORT = _end("cluster"), _end("export")


async def end_operation(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, state: str, error: dict[str, object] | None
) -> UUID | None:
    """End the cluster's open operation with its event; steps not finished are skipped. None when none is open.

    `error` None keeps what was recorded when the operation began to undo itself.
    """
    return await _ended(
        connection, _END_OF_CLUSTER, project_id=project_id, subject_id=cluster_id, state=state, error=error
    )


async def end_export(
    connection: AsyncConnection, *, project_id: UUID, export_id: UUID, state: str, error: dict[str, object] | None
) -> UUID | None:
    """As `end_operation`, for the operation of an export."""
    return await _ended(
        connection, _END_OF_EXPORT, project_id=project_id, subject_id=export_id, state=state, error=error
    )


async def _ended(
    connection: AsyncConnection,
    statement: sa.TextClause,
    *,
    project_id: UUID,
    subject_id: UUID,
    state: str,
    error: dict[str, object] | None,
) -> UUID | None:
    values = {
        "project_id": project_id,
        "subject_id": subject_id,
        "state": state,
        "error": None if error is None else orjson.dumps(error).decode(),
    }
    return (await connection.execute(statement, values)).scalar_one_or_none()


async def preempt(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> UUID | None:
    """End the open operation, if any, because a delete takes its place; the delete cleans up what it had built."""
    reason = Problem(PREEMPTED, "The cluster is being deleted; what this operation had built is removed with it.")
    return await end_operation(
        connection, project_id=project_id, cluster_id=cluster_id, state="failed", error=reason.document()
    )


_CANCEL = sa.text(
    """
    WITH cancelled AS (
      UPDATE operations SET state = 'cancelling', version = version + 1
       WHERE project_id = :project_id AND id = :operation_id AND finished_at IS NULL
         AND kind = ANY(CAST(:cancellable AS text[])) AND NOT undoing AND state IN ('queued', 'running')
      RETURNING cluster_id, kind
    ), event AS (
      INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, data)
      SELECT :project_id, 'operation.cancelling', 'cluster', cluster_id, :operation_id, jsonb_build_object('kind', kind)
        FROM cancelled
    )
    SELECT cluster_id FROM cancelled
    """
)


async def request_cancel(connection: AsyncConnection, *, project_id: UUID, operation_id: UUID) -> UUID | None:
    """Set the flag a reconciler reads between steps. The cluster to wake, or None when it is too late."""
    asked = {"project_id": project_id, "operation_id": operation_id, "cancellable": list(CANCELLABLE)}
    found = await connection.execute(_CANCEL, asked)
    failpoint("cancel.asked")
    return found.scalar_one_or_none()
