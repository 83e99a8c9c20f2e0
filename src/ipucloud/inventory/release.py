"""Giving back a cluster's machines and hosts: released once the customer is gone, freed once observed clean."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query

_RELEASE = sa.text(
    """
    UPDATE allocations SET released_at = app_now()
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NULL
       AND (:hosts OR machine_id IS NOT NULL)
    """
)
_FREE = Query(
    """
    WITH freed AS (
      UPDATE allocations SET freed_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
      RETURNING machine_id
    )
    SELECT count(machine_id) FROM freed
    """,
    int,
)

# A quarantine that starts again is longer than necessary, never shorter.
COUNT_ANEW = (
    sa.text("UPDATE allocations SET released_at = app_now() WHERE freed_at IS NULL AND released_at > app_now()"),
)
"""Restarts quarantines whose beginning lies in the future because the database's clock was set back."""


async def release(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, hosts: bool) -> None:
    """Mark the machines, and the hosts if `hosts`, as left by the customer. Nobody else may have them yet."""
    await connection.execute(_RELEASE, {"project_id": project_id, "cluster_id": cluster_id, "hosts": hosts})


async def free(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> int:
    """Return to the pool everything that was released and was observed clean; the number of machines among it."""
    return await _FREE.one(connection, {"project_id": project_id, "cluster_id": cluster_id})
