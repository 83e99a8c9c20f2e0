"""A request to cancel an operation: a flag, which the reconciler reads between two steps."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.kernel.errors import not_found
from ipucloud.kernel.failpoints import failpoint


class Cancelling(NamedTuple):
    """What the operation is about: a cluster, or one of its partitions."""

    cluster_id: UUID
    partition_id: UUID | None


_CANCEL = Query(
    clauses(
        """
    WITH cancelled AS (
      UPDATE operations SET state = 'cancelling', version = version + 1
       WHERE project_id = :project_id AND id = :operation_id AND finished_at IS NULL
         AND cancellable AND NOT undoing AND state IN ('queued', 'running')
      RETURNING cluster_id, partition_id, kind
    ), event AS (
        """,
        RECORD,
        """
      SELECT :project_id, 'operation.cancelling', 'cluster', cluster_id, :operation_id, NULL,
             jsonb_strip_nulls(jsonb_build_object('kind', kind, 'partition', partition_id))
        FROM cancelled
    )
    SELECT cluster_id, partition_id FROM cancelled
        """,
    ),
    Cancelling,
)

# Locked, though nothing is changed: only rows of the project that a request changes can be.
_OWN = Query("SELECT id FROM operations WHERE project_id = :project_id AND id = :operation_id FOR KEY SHARE", UUID)


async def request_cancel(connection: AsyncConnection, *, project_id: UUID, operation_id: UUID) -> Cancelling | None:
    """Set the flag that a reconciler reads between steps. Returns what to wake, or None when it is too late.

    Raises `Problem` not_found.
    """
    values = {"project_id": project_id, "operation_id": operation_id}
    row = await _CANCEL.one_or_none(connection, values)
    if row is None and await _OWN.one_or_none(connection, values) is None:
        raise not_found()
    failpoint("cancel.asked")
    return row
