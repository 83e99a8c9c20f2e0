"""Giving back a cluster's machines and hosts: released once the customer is gone, freed once observed clean."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.settle import settle


class _Returned(NamedTuple):
    """A machine with its pod, or a host."""

    pod_id: UUID | None
    host_id: UUID | None


_RELEASE = Query(
    """
    WITH released AS (
      UPDATE allocations SET released_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NULL
         AND (:hosts OR machine_id IS NOT NULL)
      RETURNING machine_id, host_id
    )
    SELECT pod_id, host_id FROM released LEFT JOIN machines ON machines.id = machine_id
    """,
    _Returned,
)
_FREE = Query(
    """
    WITH freed AS (
      UPDATE allocations SET freed_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
      RETURNING machine_id, host_id
    )
    SELECT pod_id, host_id FROM freed LEFT JOIN machines ON machines.id = machine_id
    """,
    _Returned,
)
_FREE_HOSTS = sa.text(
    """
    WITH freed AS (SELECT id FROM hosts WHERE id = ANY (:hosts) ORDER BY name FOR NO KEY UPDATE)
    UPDATE hosts SET held = false FROM freed WHERE hosts.id = freed.id
    """
)

# A quarantine that starts again is longer than necessary, never shorter.
COUNT_ANEW = (
    sa.text("UPDATE allocations SET released_at = app_now() WHERE freed_at IS NULL AND released_at > app_now()"),
)
"""Restarts quarantines whose beginning lies in the future because the database's clock was set back."""


async def release(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, hosts: bool) -> None:
    """Mark the machines, and the hosts if `hosts`, as left by the customer. Nobody else may have them yet."""
    mine = {"project_id": project_id, "cluster_id": cluster_id, "hosts": hosts}
    released = await _RELEASE.all(connection, mine)
    await settle(connection, _pods(released))


async def free(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> int:
    """Make available again what was released and was observed clean; the number of machines among it."""
    freed = await _FREE.all(connection, {"project_id": project_id, "cluster_id": cluster_id})
    await settle(connection, _pods(freed))
    if hosts := [each.host_id for each in freed if each.host_id is not None]:
        await connection.execute(_FREE_HOSTS, {"hosts": hosts})
    return sum(each.pod_id is not None for each in freed)


def _pods(returned: list[_Returned]) -> set[UUID]:
    return {each.pod_id for each in returned if each.pod_id is not None}
