"""Giving back what a cluster holds: released when the customer is gone, free when the site shows it clean."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_RELEASE = sa.text(
    """
    UPDATE allocations SET released_at = app_now()
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NULL
       AND (:hosts OR machine_id IS NOT NULL)
    """
)
_FREE = sa.text(
    """
    WITH freed AS (
      UPDATE allocations SET freed_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
      RETURNING machine_id
    )
    SELECT count(machine_id) FROM freed
    """
)

# Counted anew, the quarantine is longer than it has to be, never shorter.
COUNT_ANEW = (
    sa.text("UPDATE allocations SET released_at = app_now() WHERE freed_at IS NULL AND released_at > app_now()"),
)
"""The instants that a quarantine is counted from, when the database's clock was set back behind them."""


async def release(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, hosts: bool) -> None:
    """The customer is gone from the machines, and from the hosts if `hosts`; nobody else may have them yet."""
    await connection.execute(_RELEASE, {"project_id": project_id, "cluster_id": cluster_id, "hosts": hosts})


async def free(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> int:
    """What was released was seen clean, and anybody may have it; how many machines these are."""
    found = await connection.execute(_FREE, {"project_id": project_id, "cluster_id": cluster_id})
    machines: int = found.scalar_one()
    return machines
