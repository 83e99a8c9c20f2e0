"""The machines and hosts of reservations.

A reservation holds whole blocks from the moment it is made, by allocations like those of a cluster: the constraint that
a machine has one live allocation is what keeps it from being reserved twice. A cluster that is created from an active
reservation gets one of its blocks, and gives it back to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.placement import ReservedBlock
from ipucloud.inventory.validations import require_unsettled
from ipucloud.kernel.failpoints import failpoint

_BLOCK_OF = Query(
    """
    SELECT a.reservation_id, a.block
      FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
     WHERE a.project_id = :project_id AND a.cluster_id = :cluster_id AND a.freed_at IS NULL AND a.machine_id IS NOT NULL
       AND r.state = 'active'
     LIMIT 1
    """,
    ReservedBlock,
)
_HAND_OVER = Query(
    """
    WITH ready AS (
      SELECT a.block
        FROM allocations a LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
       WHERE a.project_id = :project_id AND a.reservation_id = :reservation_id AND a.freed_at IS NULL
       GROUP BY a.block
      HAVING bool_and(a.cluster_id IS NULL) AND bool_and(coalesce(m.allocatable, h.allocatable))
         AND count(a.machine_id) = :machines AND count(a.host_id) = :servers
       ORDER BY a.block LIMIT 1
    ), assigned AS (
      UPDATE allocations SET cluster_id = :cluster_id
       WHERE project_id = :project_id AND reservation_id = :reservation_id AND freed_at IS NULL
         AND block = (SELECT block FROM ready)
      RETURNING id
    )
    SELECT count(*) FROM assigned
    """,
    int,
)
_LOCK = sa.text(
    """
    SELECT FROM reservations
     WHERE project_id = :project_id
       AND id IN (SELECT reservation_id FROM allocations WHERE project_id = :project_id AND cluster_id = :cluster_id)
     ORDER BY id FOR SHARE
    """
)
_HOLD_AGAIN = Query(
    """
    WITH back AS (
      SELECT a.* FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
       WHERE a.project_id = :project_id AND a.id = ANY (CAST(:freed AS uuid[])) AND r.state = 'active'
    ), held AS (
      INSERT INTO allocations (id, project_id, machine_id, host_id, ordinal, reservation_id, block)
      SELECT gen_random_uuid(), project_id, machine_id, host_id, ordinal, reservation_id, block FROM back
    )
    SELECT id FROM back
    """,
    UUID,
)


class _LetGo(NamedTuple):
    """`used`: clusters had the machine while it was reserved."""

    machine_id: UUID | None
    pod_id: UUID | None
    host_id: UUID | None
    used: bool


_LET_GO = Query(
    """
    WITH freed AS (
      UPDATE allocations SET released_at = app_now(), freed_at = app_now()
       WHERE project_id = :project_id AND reservation_id = :reservation_id AND cluster_id IS NULL AND freed_at IS NULL
         AND block = coalesce(CAST(:block AS integer), block)
      RETURNING machine_id, host_id
    )
    SELECT machine_id, pod_id, host_id,
           EXISTS (SELECT FROM allocations a
                    WHERE a.machine_id = freed.machine_id AND a.reservation_id = :reservation_id
                      AND a.cluster_id IS NOT NULL) AS used
      FROM freed LEFT JOIN machines ON machines.id = machine_id
    """,
    _LetGo,
)
_LOCK_UNUSED = sa.text(
    """
    SELECT id FROM machines
     WHERE id IN (SELECT machine_id FROM allocations
                   WHERE project_id = :project_id AND reservation_id = :reservation_id AND cluster_id IS NULL
                     AND freed_at IS NULL AND block = coalesce(CAST(:block AS integer), block))
     ORDER BY id FOR NO KEY UPDATE
    """
)
_FREE_HOSTS = sa.text(
    """
    WITH freed AS (SELECT id FROM hosts WHERE id = ANY (:hosts) ORDER BY name FOR NO KEY UPDATE)
    UPDATE hosts SET held = false FROM freed WHERE hosts.id = freed.id
    """
)
_BROKEN = Query(
    """
    SELECT a.block
      FROM allocations a LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
     WHERE a.project_id = :project_id AND a.reservation_id = :reservation_id AND a.freed_at IS NULL
     GROUP BY a.block
    HAVING bool_and(a.cluster_id IS NULL) AND NOT bool_and(coalesce(m.allocatable, h.allocatable))
     ORDER BY a.block
    """,
    int,
)


async def block_of(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> ReservedBlock | None:
    """The block of an active reservation that the cluster has."""
    return await _BLOCK_OF.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})


async def hand_over(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    reservation_id: UUID,
    cluster_id: UUID,
    machines: int,
    servers: int,
) -> bool:
    """Give the cluster a block that nobody uses; False: no usable one is left. The reservation is locked."""
    values = {
        "project_id": project_id,
        "reservation_id": reservation_id,
        "cluster_id": cluster_id,
        "machines": machines,
        "servers": servers,
    }
    count = await _HAND_OVER.one(connection, values)
    failpoint("reservation.handed_over")
    return count > 0


async def hold_again(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, freed: Sequence[UUID]
) -> frozenset[UUID]:
    """What a cluster has just given back is held by its reservation again, if that is active.

    `freed`: the cluster's allocations that have just ended; those that the reservation goes on from are returned.
    """
    await connection.execute(_LOCK, {"project_id": project_id, "cluster_id": cluster_id})
    values = {"project_id": project_id, "freed": list(freed)}
    return frozenset(await _HOLD_AGAIN.all(connection, values))


async def free_unused(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    reservation_id: UUID,
    block: int | None = None,
    validated: bool = False,
) -> int:
    """Free what the reservation holds and no cluster uses, of one block or of all; the number of machines among it.

    `validated`: machines that clusters had are to be validated before others get them.
    """
    values = {"project_id": project_id, "reservation_id": reservation_id, "block": block}
    if validated:  # machines before pods, in the order of locks
        await connection.execute(_LOCK_UNUSED, values)
    freed = await _LET_GO.all(connection, values)
    pods = {each.pod_id for each in freed if each.pod_id is not None}
    if validated:
        used = [each.machine_id for each in freed if each.machine_id is not None and each.used]
        pods.update(await require_unsettled(connection, used, "release"))
    await settle_pods(connection, pods)
    if hosts := [each.host_id for each in freed if each.host_id is not None]:
        await connection.execute(_FREE_HOSTS, {"hosts": hosts})
    return sum(each.machine_id is not None for each in freed)


async def broken_blocks(connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID) -> list[int]:
    """The blocks that no cluster uses and none could, because a machine or host in them is not usable."""
    return await _BROKEN.all(connection, {"project_id": project_id, "reservation_id": reservation_id})
