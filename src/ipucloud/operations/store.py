"""Opening and advancing operations. Every function works inside the caller's transaction.

Only a reconciler advances operations; a request opens, cancels or pre-empts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses
from ipucloud.db.statements import Statements
from ipucloud.events.log import RECORD_IN_HOME
from ipucloud.kernel.actor import AccountActor, Actor
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.operations.kind import Kind, OpenOperation
from ipucloud.operations.states import StepState
from ipucloud.operations.step import PlannedStep
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.reconcile.wake import wake


@dataclass(frozen=True, slots=True)
class Target:
    """The object of an operation: a cluster, one of its partitions, or an export, also one of a billing account."""

    cluster_id: UUID | None = None
    partition_id: UUID | None = None
    export_id: UUID | None = None

    @property
    def key(self) -> str:
        """The key of the work item that carries the operation out."""
        return str(self.export_id or self.cluster_id)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A recorded operation, and the id of its object."""

    operation_id: UUID
    target_id: UUID


_OPEN = sa.text(
    clauses(
        """
    WITH operation AS (
      INSERT INTO operations (id, project_id, account_id, cluster_id, partition_id, export_id, kind, cancellable, state,
                              stage, request_id, requested_by, deadline_at, expected_at)
      VALUES (:id, :project_id, :account_id, CAST(:cluster_id AS uuid), CAST(:partition_id AS uuid),
              CAST(:export_id AS uuid), :kind, :cancellable, 'queued', (CAST(:stages AS text[]))[1], :request_id,
              :token_id, app_now() + make_interval(secs => :deadline), app_now() + make_interval(secs => :expected))
      RETURNING id, project_id, account_id
    ), steps AS (
      INSERT INTO operation_steps (operation_id, ordinal, project_id, account_id, name, stage, state, detail)
      SELECT operation.id, step.ordinal, operation.project_id, operation.account_id, step.name, step.stage,
             CASE WHEN step.skipped IS NULL THEN 'pending' ELSE 'skipped' END, step.skipped
        FROM operation, unnest(CAST(:names AS text[]), CAST(:stages AS text[]), CAST(:skipped AS text[]))
             WITH ORDINALITY AS step (name, stage, skipped, ordinal)
    )
        """,
        RECORD_IN_HOME,
        """
    SELECT CAST(:project_id AS uuid), CAST(:account_id AS uuid), 'operation.created',
           CASE WHEN CAST(:export_id AS uuid) IS NULL THEN 'cluster' ELSE 'export' END,
           coalesce(CAST(:cluster_id AS uuid), CAST(:export_id AS uuid)), :id, :request_id,
           jsonb_strip_nulls(jsonb_build_object('kind', :kind, 'partition', CAST(:partition_id AS uuid)))
        """,
    )
).bindparams(
    sa.bindparam("kind", type_=sa.Text),
    sa.bindparam("request_id", type_=sa.Text),
    sa.bindparam("cancellable", type_=sa.Boolean),
)


async def open_operation(
    connection: AsyncConnection,
    kind: Kind[Any, Any],
    actor: Actor | AccountActor,
    target: Target,
    *,
    plan: Sequence[PlannedStep],
    deadline_seconds: float,
    expected_seconds: float,
) -> UUID:
    """Record the operation with its steps, its `operation.created` event and its work item; two statements.

    `deadline_seconds` applies to a kind that declares no deadline.

    Raises sqlalchemy.exc.IntegrityError (`uq_operations_open`) when the cluster or partition has an open operation.
    """
    operation_id = new_id()
    home = actor.project_id if isinstance(actor, Actor) else actor.account_id
    await connection.execute(
        _OPEN,
        {
            "id": operation_id,
            "project_id": home if isinstance(actor, Actor) else None,
            "account_id": home if isinstance(actor, AccountActor) else None,
            "cluster_id": target.cluster_id,
            "partition_id": target.partition_id,
            "export_id": target.export_id,
            "kind": kind.name,
            "cancellable": kind.cancellable,
            "names": [step.name for step in plan],
            "stages": [step.stage.name for step in plan],
            "skipped": [step.skipped for step in plan],
            "deadline": deadline_seconds if kind.deadline is None else kind.deadline,
            "expected": expected_seconds,
            "request_id": actor.request_id,
            "token_id": actor.token_id,
        },
    )
    failpoint("operation.opened")
    await wake(connection, kind=kind.work_kind, key=target.key, project_id=home)
    failpoint("operation.woken")
    return operation_id


_FORCE = sa.text(
    "UPDATE operations SET forced_reason = :reason, version = version + 1"
    " WHERE project_id = :project_id AND id = :operation_id"
)


async def force(connection: AsyncConnection, *, project_id: UUID, operation_id: UUID, reason: str) -> None:
    """Let an open operation go on without hardware that is in trouble, for an operator's reason."""
    await connection.execute(_FORCE, {"project_id": project_id, "operation_id": operation_id, "reason": reason})


_BEGIN_ANEW = sa.text(
    """
    UPDATE operations SET deadline_at = app_now() + make_interval(secs => CAST(:deadline AS float8)),
                          expected_at = app_now() + (expected_at - created_at), version = version + 1
     WHERE project_id = :project_id AND id = :operation_id
       AND finished_at IS NULL AND NOT undoing AND state <> 'cancelling'
    """
)


async def begin_anew(
    connection: AsyncConnection, *, project_id: UUID, operation_id: UUID, deadline_seconds: float
) -> bool:
    """Count an operation's deadline and usual end from now on. False: it is over, or is being cancelled or undone."""
    values = {"project_id": project_id, "operation_id": operation_id, "deadline": deadline_seconds}
    return (await connection.execute(_BEGIN_ANEW, values)).rowcount == 1


# The statement sees the step as it was before: what the step becomes is counted in place of that.
_STEP = sa.text(
    """
    WITH step AS (
      UPDATE operation_steps
         SET state = :state, detail = :detail, attempts = attempts + :failures, checks = checks + :checks,
             blocked = :blocked, notes = CAST(:notes AS jsonb),
             retry_at = app_now() + make_interval(secs => CAST(:retry AS float8)),
             started_at = coalesce(started_at, app_now()),
             finished_at = CASE WHEN :state IN ('succeeded', 'failed') THEN app_now() END
       WHERE project_id IS NOT DISTINCT FROM :project_id AND operation_id = :operation_id AND ordinal = :ordinal
    ), steps AS (
      SELECT ordinal, stage, CASE WHEN ordinal = :ordinal THEN :state ELSE state END AS state
        FROM operation_steps WHERE project_id IS NOT DISTINCT FROM :project_id AND operation_id = :operation_id
    )
    UPDATE operations o
       SET state = CASE WHEN o.state = 'queued' THEN 'running' ELSE o.state END,
           started_at = coalesce(o.started_at, app_now()), version = o.version + 1,
           stage = coalesce(following.stage, o.stage),
           progress = CASE WHEN o.undoing THEN o.progress ELSE greatest(o.progress, following.progress) END
      FROM (SELECT (array_agg(stage ORDER BY ordinal) FILTER (WHERE state IN ('pending', 'running')))[1] AS stage,
                   (100 * count(*) FILTER (WHERE state = 'succeeded')
                    / greatest(1, count(*) FILTER (WHERE state <> 'skipped')))::smallint AS progress
              FROM steps) AS following
     WHERE o.project_id IS NOT DISTINCT FROM :project_id AND o.id = :operation_id
    """
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("detail", type_=sa.Text))


async def record_step(
    connection: AsyncConnection,
    operation: OpenOperation,
    state: StepState,
    *,
    detail: str | None = None,
    failed: bool = False,
    blocked: bool = False,
    notes: Mapping[str, Any] | None = None,
    retry: float | None = None,
) -> None:
    """Record the state of the current step, and the operation's stage and progress.

    `blocked`: it failed, takes longer than usual, or says what it waits for. `notes`: for its next check.
    `retry`: seconds until it is to be tried again after a failure.
    """
    await connection.execute(
        _STEP,
        {
            "project_id": operation.project_id,
            "operation_id": operation.id,
            "ordinal": operation.step.ordinal,
            "state": state.value,
            "detail": detail,
            "failures": int(failed),
            "checks": int(state in {StepState.RUNNING, StepState.FAILED}),
            "blocked": blocked,
            "notes": _notes(notes),
            "retry": retry,
        },
    )
    failpoint("operation.step_recorded")


_CHECK = sa.text(
    """
    UPDATE operation_steps SET checks = checks + 1, notes = CAST(:notes AS jsonb)
     WHERE project_id IS NOT DISTINCT FROM :project_id AND operation_id = :operation_id AND ordinal = :ordinal
    """
)


async def count_check(connection: AsyncConnection, operation: OpenOperation, notes: Mapping[str, Any] | None) -> None:
    """Record that the current step made no progress since the last check."""
    values = {"project_id": operation.project_id, "operation_id": operation.id, "ordinal": operation.step.ordinal}
    await connection.execute(_CHECK, values | {"notes": _notes(notes)})


_PROGRESS = sa.text(
    """
    UPDATE operations
       SET state = CASE WHEN state = 'queued' THEN 'running' ELSE state END,
           started_at = coalesce(started_at, app_now()), progress = greatest(progress, :progress),
           version = version + 1
     WHERE project_id IS NOT DISTINCT FROM :project_id AND id = :operation_id AND finished_at IS NULL
       AND EXISTS (SELECT FROM work WHERE kind = :kind AND key = :key AND fence = :fence AND lease_owner IS NOT NULL)
    """
).bindparams(sa.bindparam("progress", type_=sa.Integer))


async def record_progress(connection: Statements, item: WorkItem, operation: OpenOperation, percent: int) -> None:
    """Record the progress of a long step while it runs; has no effect once the lease is lost."""
    await connection.execute(
        _PROGRESS,
        {
            "project_id": operation.project_id,
            "operation_id": operation.id,
            "progress": percent,
            "kind": item.kind,
            "key": item.key,
            "fence": item.fence,
        },
    )


FIRST_OF_UNDO = 101
"""Ordinal of the first step of an undo, above those of any operation's own steps."""

_UNDO = sa.text(
    """
    WITH operation AS (
      UPDATE operations
         SET undoing = true, error = CAST(:error AS jsonb), version = version + 1,
             deadline_at = CASE WHEN :more_time THEN app_now() + (deadline_at - created_at) ELSE deadline_at END
       WHERE project_id = :project_id AND id = :operation_id
    ), skipped AS (
      UPDATE operation_steps SET state = 'skipped'
       WHERE project_id = :project_id AND operation_id = :operation_id AND state = 'pending'
    )
    INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage, state, detail)
    SELECT :operation_id, :first - 1 + step.ordinal, :project_id, step.name, step.stage,
           CASE WHEN step.skipped IS NULL THEN 'pending' ELSE 'skipped' END, step.skipped
      FROM unnest(CAST(:names AS text[]), CAST(:stages AS text[]), CAST(:skipped AS text[]))
           WITH ORDINALITY AS step (name, stage, skipped, ordinal)
    """
)


async def append_undo(
    connection: AsyncConnection,
    operation: OpenOperation,
    plan: Sequence[PlannedStep],
    error: Problem | None,
    *,
    more_time: bool,
) -> None:
    """Replace the rest of the operation's steps by those that undo it; `error` is what it will end with.

    `more_time`: the undo may take as long as the operation.
    """
    await connection.execute(
        _UNDO,
        {
            "project_id": operation.project_id,
            "operation_id": operation.id,
            "first": FIRST_OF_UNDO,
            "names": [step.name for step in plan],
            "stages": [step.stage.name for step in plan],
            "skipped": [step.skipped for step in plan],
            "error": _json(error),
            "more_time": more_time,
        },
    )
    failpoint("operation.undo_appended")


_APPEND = sa.text(
    """
    WITH skipped AS (
      UPDATE operation_steps SET state = 'skipped'
       WHERE project_id = :project_id AND operation_id = :operation_id AND state = 'pending'
    )
    INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage, state, detail)
    SELECT :operation_id, last.ordinal + step.ordinal, :project_id, step.name, step.stage,
           CASE WHEN step.skipped IS NULL THEN 'pending' ELSE 'skipped' END, step.skipped
      FROM (SELECT max(ordinal) AS ordinal FROM operation_steps
             WHERE project_id = :project_id AND operation_id = :operation_id) AS last,
           unnest(CAST(:names AS text[]), CAST(:stages AS text[]), CAST(:skipped AS text[]))
           WITH ORDINALITY AS step (name, stage, skipped, ordinal)
    """
)


async def append_steps(connection: AsyncConnection, operation: OpenOperation, plan: Sequence[PlannedStep]) -> None:
    """Replace the rest of the operation's steps by others, which lead to the same goal."""
    await connection.execute(
        _APPEND,
        {
            "project_id": operation.project_id,
            "operation_id": operation.id,
            "names": [step.name for step in plan],
            "stages": [step.stage.name for step in plan],
            "skipped": [step.skipped for step in plan],
        },
    )
    failpoint("operation.steps_appended")


def _notes(notes: Mapping[str, Any] | None) -> str | None:
    return None if notes is None else orjson.dumps(notes).decode()


def _json(error: Problem | None) -> str | None:
    return None if error is None else orjson.dumps(error.document()).decode()


RETRY_NOW = sa.text("UPDATE operation_steps SET retry_at = NULL WHERE retry_at > app_now() AND state = 'running'")
"""Makes every step due after the database's clock was set back."""
POWERED_OFF_NOW = sa.text(
    """
    UPDATE operation_steps s SET finished_at = app_now()
      FROM operations o
     WHERE o.id = s.operation_id AND o.finished_at IS NULL AND s.name = 'power_off_machines'
       AND s.finished_at > app_now()
    """
)
"""Corrects the end of power-offs after the database's clock was set back: a quarantine is counted from there."""
