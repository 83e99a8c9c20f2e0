"""Giving back a cluster's machines and hosts: released once the customer is gone, freed once observed clean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.reserved import hold_again
from ipucloud.inventory.validations import require_unsettled


class _Returned(NamedTuple):
    """A machine with its pod, or a host.

    `counted`: it was in the project's quota, and is no longer; one that goes back to its reservation stays in it.
    """

    id: UUID
    machine_id: UUID | None
    pod_id: UUID | None
    host_id: UUID | None
    counted: bool


_RELEASE = Query(
    """
    WITH released AS (
      UPDATE allocations SET released_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NULL
         AND (machine_id IS NOT NULL OR host_id = ANY (coalesce(CAST(:hosts AS uuid[]), ARRAY[host_id])))
      RETURNING id, machine_id, host_id, counted
    )
    SELECT released.id, machine_id, pod_id, host_id, counted
      FROM released LEFT JOIN machines ON machines.id = machine_id
    """,
    _Returned,
)
_FREE = Query(
    """
    WITH freed AS (
      UPDATE allocations SET freed_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
      RETURNING id, machine_id, host_id, counted
    )
    SELECT freed.id, machine_id, pod_id, host_id, counted FROM freed LEFT JOIN machines ON machines.id = machine_id
    """,
    _Returned,
)
_LOCK_MACHINES = sa.text(
    """
    SELECT id FROM machines
     WHERE id IN (SELECT machine_id FROM allocations
                   WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL)
     ORDER BY id FOR NO KEY UPDATE
    """
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


async def release(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, hosts: Sequence[UUID] | None
) -> None:
    """Mark the machines and these hosts, None for all, as left by the customer. Nobody else may have them yet."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "hosts": hosts}
    released = await _RELEASE.all(connection, values)
    await settle_pods(connection, _pods(released))


async def free(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, validated: bool, to_reservation: bool = True
) -> int:
    """Give back what was released and was observed clean; the number of machines among it that a quota counts.

    `validated`: machines are to be validated before other clusters get them. What is of an active reservation goes
    back to it, and is not among them; unless not `to_reservation`, as other hardware is taken in its place.
    """
    key = {"project_id": project_id, "cluster_id": cluster_id}
    if validated:  # machines before pods, in the order of locks
        await connection.execute(_LOCK_MACHINES, key)
    freed = await _FREE.all(connection, key)
    pods = _pods(freed)
    if to_reservation:
        kept = await hold_again(connection, **key, freed=[each.id for each in freed])
        freed = [each for each in freed if each.id not in kept]
    if validated:
        machines = [each.machine_id for each in freed if each.machine_id is not None]
        pods.update(await require_unsettled(connection, machines, "release"))
    await settle_pods(connection, pods)
    if hosts := [each.host_id for each in freed if each.host_id is not None]:
        await connection.execute(_FREE_HOSTS, {"hosts": hosts})
    return sum(each.pod_id is not None and each.counted for each in freed)


def _pods(returned: list[_Returned]) -> set[UUID]:
    return {each.pod_id for each in returned if each.pod_id is not None}
