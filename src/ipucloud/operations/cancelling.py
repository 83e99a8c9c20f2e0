"""A request to cancel an operation: a flag, which the reconciler reads between two steps."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.kernel.failpoints import failpoint

_CANCEL = Query(
    clauses(
        """
    WITH cancelled AS (
      UPDATE operations SET state = 'cancelling', version = version + 1
       WHERE project_id = :project_id AND id = :operation_id AND finished_at IS NULL
         AND cancellable AND NOT undoing AND state IN ('queued', 'running')
      RETURNING cluster_id, kind
    ), event AS (
        """,
        RECORD,
        """
      SELECT :project_id, 'operation.cancelling', 'cluster', cluster_id, :operation_id, NULL,
             jsonb_build_object('kind', kind)
        FROM cancelled
    )
    SELECT cluster_id FROM cancelled
        """,
    ),
    UUID,
)


async def request_cancel(connection: AsyncConnection, *, project_id: UUID, operation_id: UUID) -> UUID | None:
    """Set the flag that a reconciler reads between steps. Returns the cluster to wake, or None when it is too late."""
    cluster_id = await _CANCEL.one_or_none(connection, {"project_id": project_id, "operation_id": operation_id})
    failpoint("cancel.asked")
    return cluster_id
