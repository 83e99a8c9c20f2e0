"""Ending operations: by a reconciler, or by a request that takes their place. Inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.operations import OperationState
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD_IN_HOME
from ipucloud.kernel.errors import PREEMPTED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.metrics import count_failure


class _Ended(NamedTuple):
    """`cause` is the code of the problem that a failed operation ended with."""

    kind: str
    cause: str | None


def _end_by(column: str, *, scope: str = "=") -> Query[_Ended]:
    return Query(
        clauses(
            """
        WITH ended AS (
          UPDATE operations
             SET state = CAST(:state AS text), error = coalesce(CAST(:error AS jsonb), error),
                 finished_at = app_now(), version = version + 1,
                 progress = CASE WHEN CAST(:state AS text) = 'succeeded' THEN 100 ELSE progress END
           WHERE finished_at IS NULL AND project_id
            """,
            scope,
            ":project_id AND",
            column,
            """
               = :value
           RETURNING id, project_id, account_id, kind, state, request_id, cluster_id, partition_id, export_id, error
        ), steps AS (
          UPDATE operation_steps SET state = 'skipped'
            FROM ended WHERE operation_id = ended.id AND operation_steps.state IN ('pending', 'running')
        )
            """,
            RECORD_IN_HOME,
            """
        SELECT ended.project_id, ended.account_id, 'operation.' || ended.state,
               CASE WHEN ended.export_id IS NULL THEN 'cluster' ELSE 'export' END,
               coalesce(ended.cluster_id, ended.export_id), ended.id, ended.request_id,
               jsonb_strip_nulls(jsonb_build_object('kind', ended.kind, 'partition', ended.partition_id))
          FROM ended ORDER BY ended.id
        RETURNING data ->> 'kind' AS kind,
                  (SELECT ended.error ->> 'code' FROM ended
                    WHERE ended.id = operation_id AND ended.state = 'failed') AS cause
            """,
        ),
        _Ended,
    )


_END, _END_OF_CLUSTER = _end_by("id", scope="IS NOT DISTINCT FROM"), _end_by("cluster_id")
_END_OF_PARTITIONS = _end_by("partition_id IS NOT NULL AND cluster_id")


async def end_operation(
    connection: AsyncConnection, operation: OpenOperation, state: OperationState, error: Problem | None = None
) -> None:
    """End the operation with its event; unfinished steps are skipped.

    `error` None keeps the one recorded when the undo began.
    """
    problem = None if error is None else _json(error)
    values = {"project_id": operation.project_id, "value": operation.id, "state": state.value, "error": problem}
    await _end(connection, _END, values)
    failpoint("operation.ended")


async def preempt(connection: AsyncConnection, *, project_id: UUID, operation_id: UUID, reason: str) -> None:
    """End an open operation because a removal takes its place; `reason` is shown to the customer."""
    await _end(connection, _END, _preempted(project_id, operation_id, reason))


async def preempt_all(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, reason: str) -> None:
    """End every open operation on the cluster and on its partitions, as `preempt` does. The cluster is locked."""
    await _end(connection, _END_OF_CLUSTER, _preempted(project_id, cluster_id, reason))


async def preempt_partitions(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, reason: str) -> None:
    """End every open operation on the cluster's partitions, as `preempt` does. The cluster is locked.

    What becomes of the partitions is written by the caller: nothing leads them to their desired state any more.
    """
    await _end(connection, _END_OF_PARTITIONS, _preempted(project_id, cluster_id, reason))


def _preempted(project_id: UUID, value: UUID, reason: str) -> Mapping[str, object]:
    error = _json(Problem(PREEMPTED, reason))
    return {"project_id": project_id, "value": value, "state": OperationState.FAILED.value, "error": error}


async def _end(connection: AsyncConnection, statement: Query[_Ended], values: Mapping[str, object]) -> None:
    for ended in await statement.all(connection, values):
        if ended.cause is not None:
            count_failure(connection, kind=ended.kind, cause=ended.cause)


def _json(problem: Problem) -> str:
    return orjson.dumps(problem.document()).decode()
