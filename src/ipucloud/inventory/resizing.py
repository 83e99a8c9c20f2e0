"""The machines of a cluster that is resized: it holds those of both sizes until the resize has ended.

So a resize can be undone at any step. A cluster stays where it is when the aligned block of the new size that contains
its block, or lies within it, is free and healthy; otherwise it moves to another block. Each allocation that is not of
both sizes has a part: it joins the cluster, or leaves it. The project's quota counts one of the two blocks, the larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.placement import Demand, allocate, allocate_slots, waiting_for_room
from ipucloud.inventory.release import free
from ipucloud.inventory.snapshot import DOMAIN, RUN, span
from ipucloud.kernel.failpoints import failpoint

WHOLE_POD = span(0, DOMAIN)


class ResizePart(StrEnum):
    """What an allocation that is not of both sizes does in a resize."""

    JOINS = "joins"
    LEAVES = "leaves"


class HeldMachine(NamedTuple):
    """A machine of the cluster. `position` and `run_id` are its pod's; `allocatable`: no live report is against it."""

    id: UUID
    pod_id: UUID
    run_id: UUID
    position: int
    slot: int
    allocatable: bool

    @property
    def place(self) -> int:
        """Its number in its GW-Link group, counted from the first slot of the first pod."""
        return self.position * DOMAIN + self.slot


_HELD = Query(
    """
    SELECT m.id, m.pod_id, p.run_id, p.position, m.slot, m.allocatable
      FROM allocations a JOIN machines m ON m.id = a.machine_id JOIN pods p ON p.id = m.pod_id
     WHERE a.project_id = :project_id AND a.cluster_id = :cluster_id AND a.freed_at IS NULL
       AND (:joining OR a.resize IS DISTINCT FROM 'joins')
     ORDER BY p.position, m.slot
    """,
    HeldMachine,
)
_LOCK_RUN = Query("SELECT whole_mask FROM pod_runs WHERE id = :id FOR NO KEY UPDATE", int)
_LOCK_POD = Query("SELECT free_mask FROM pods WHERE id = :id FOR NO KEY UPDATE", int)
_READ_RUN = Query("SELECT whole_mask FROM pod_runs WHERE id = :id", int)
_READ_POD = Query("SELECT free_mask FROM pods WHERE id = :id", int)
_JOIN = sa.text(
    """
    UPDATE allocations SET resize = 'joins', counted = :counted
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL
       AND machine_id <> ALL (CAST(:held AS uuid[]))
    """
)
_LEAVE = sa.text(
    """
    UPDATE allocations SET resize = 'leaves', counted = :counted
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL
       AND machine_id = ANY (CAST(:leaving AS uuid[]))
    """
)
_RELEASE = Query(
    """
    WITH released AS (
      UPDATE allocations SET released_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NULL
         AND machine_id IS NOT NULL AND coalesce(resize, 'both') = ANY (:parts)
      RETURNING machine_id
    )
    SELECT pod_id FROM released JOIN machines ON machines.id = machine_id
    """,
    UUID,
)
_FREE_JOINING = Query(
    """
    WITH freed AS (
      UPDATE allocations SET freed_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
         AND resize = 'joins'
      RETURNING machine_id
    )
    SELECT pod_id FROM freed JOIN machines ON machines.id = machine_id
    """,
    UUID,
)
_TAKE_BACK = Query(
    """
    WITH back AS (
      UPDATE allocations SET released_at = NULL
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
         AND machine_id IS NOT NULL AND resize IS DISTINCT FROM :but
      RETURNING machine_id
    )
    SELECT pod_id FROM back JOIN machines ON machines.id = machine_id
    """,
    UUID,
)
_NUMBER = sa.text(
    """
    UPDATE allocations AS a SET ordinal = numbered.ordinal
      FROM (SELECT held.id, row_number() OVER (ORDER BY p.position, m.slot) - 1 AS ordinal
              FROM allocations AS held JOIN machines AS m ON m.id = held.machine_id JOIN pods AS p ON p.id = m.pod_id
             WHERE held.project_id = :project_id AND held.cluster_id = :cluster_id AND held.freed_at IS NULL
               AND held.resize IS DISTINCT FROM :idle) AS numbered
     WHERE a.id = numbered.id AND a.ordinal <> numbered.ordinal
    """
).bindparams(sa.bindparam("idle", type_=sa.Text))
_FORMER = sa.text(
    """
    UPDATE allocations SET resize = NULL, counted = true
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND machine_id IS NOT NULL
    """
)
_SETTLE = sa.text(
    """
    UPDATE allocations SET resize = NULL, counted = true
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND resize IS NOT NULL
    """
)


@dataclass(frozen=True, slots=True)
class Around:
    """What a cluster takes to grow where it is: slots of its own pod, and whole pods of its run, as masks."""

    slots: int
    places: int


def within(held: Sequence[HeldMachine], machines: int) -> frozenset[UUID] | None:
    """The machines that a smaller cluster keeps: the first healthy aligned block of its own; None: it has none."""
    if machines > len(held):
        return None
    for start in range(0, len(held), machines):
        block = held[start : start + machines]
        if all(each.allocatable for each in block):
            return frozenset(each.id for each in block)
    return None


def around(held: Sequence[HeldMachine], machines: int) -> Around | None:
    """What completes the aligned block of `machines` that contains the cluster's; None: its own are not all healthy."""
    if not all(each.allocatable for each in held):
        return None
    first, pods = held[0], {each.position for each in held}
    start = first.place // machines * machines
    own = sum(1 << each.slot for each in held if each.position == first.position)
    if machines <= DOMAIN:
        return Around(span(start % DOMAIN, machines) & ~own, 0)
    places = span(start // DOMAIN % RUN, machines // DOMAIN)
    return Around(WHOLE_POD & ~own, places & ~sum(1 << position % RUN for position in pods))


async def held_machines(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> Sequence[HeldMachine]:
    """The machines of a cluster in use, in the order of their places."""
    return await _HELD.all(connection, {"project_id": project_id, "cluster_id": cluster_id, "joining": True})


async def former_machines(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> Sequence[HeldMachine]:
    """Those of the former size, during a resize."""
    return await _HELD.all(connection, {"project_id": project_id, "cluster_id": cluster_id, "joining": False})


async def stays(connection: Statements, held: Sequence[HeldMachine], machines: int) -> bool:
    """Whether the cluster could be resized where it is now. Nothing is locked: the answer may already be outdated."""
    if machines < len(held):
        return within(held, machines) is not None
    block = around(held, machines)
    if block is None or not _free(await _READ_POD.one(connection, {"id": held[0].pod_id}), block.slots):
        return False
    return not block.places or _free(await _READ_RUN.one(connection, {"id": held[0].run_id}), block.places)


async def take_for_resize(connection: AsyncConnection, demand: Demand, held: Sequence[HeldMachine]) -> bool:
    """Take what the cluster needs for its new size, and say whether it stays where it is.

    Call it last, as `placement.take`. Raises `Problem` capacity_exhausted, unavailable.
    """
    grows = demand.need.machines > len(held)
    ours = frozenset(each.id for each in held)
    kept = within(held, demand.need.machines)
    if grows:
        kept = ours if await _allocate_around(connection, demand, held) else None
    if kept is None:
        await allocate(connection, demand)
    leaving = ours - (kept or frozenset())
    key = {"project_id": demand.project_id, "cluster_id": demand.cluster_id}
    await connection.execute(_JOIN, key | {"held": sorted(ours), "counted": grows})
    await connection.execute(_LEAVE, key | {"leaving": sorted(leaving), "counted": not grows})
    failpoint("resize.machines_taken")
    return kept is not None


class _OthersHaveIt(Exception):
    """The block is not free; the savepoint gives back the locks."""


async def _allocate_around(connection: AsyncConnection, demand: Demand, held: Sequence[HeldMachine]) -> bool:
    block = around(held, demand.need.machines)
    if block is None or not await stays(connection, held, demand.need.machines):
        return False
    pod, run = held[0].pod_id, held[0].run_id
    try:
        async with connection.begin_nested(), waiting_for_room():
            if block.places and not _free(await _LOCK_RUN.one(connection, {"id": run}), block.places):
                raise _OthersHaveIt
            if block.slots and not _free(await _LOCK_POD.one(connection, {"id": pod}), block.slots):
                raise _OthersHaveIt
            if block.slots:
                await allocate_slots(connection, demand, pod_id=pod, slots=block.slots)
            if block.places:
                await allocate_slots(connection, demand, run_id=run, slots=WHOLE_POD, places=block.places)
    except _OthersHaveIt:
        return False
    return True


def _free(mask: int, slots: int) -> bool:
    return mask & slots == slots


async def release_part(connection: AsyncConnection, part: ResizePart, *, project_id: UUID, cluster_id: UUID) -> None:
    """Mark the machines of this part as left by the customer."""
    key = {"project_id": project_id, "cluster_id": cluster_id}
    await settle_pods(connection, await _RELEASE.all(connection, key | {"parts": [part.value]}))


async def release_new_size(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Mark the machines that have joined, and those of both sizes, as left by the customer."""
    key = {"project_id": project_id, "cluster_id": cluster_id}
    await settle_pods(connection, await _RELEASE.all(connection, key | {"parts": [ResizePart.JOINS.value, "both"]}))


async def take_others(connection: AsyncConnection, demand: Demand) -> bool:
    """Give back those that have joined, and take others for the new size; whether the cluster stays where it is.

    All of them were released and observed clean. Those of the former size that the new one has are taken back.
    Raises `Problem` capacity_exhausted, unavailable.
    """
    key = {"project_id": demand.project_id, "cluster_id": demand.cluster_id}
    await settle_pods(connection, await _FREE_JOINING.all(connection, key))
    await connection.execute(_FORMER, key)
    stays_here = await take_for_resize(connection, demand, await _HELD.all(connection, key | {"joining": False}))
    await settle_pods(connection, await _TAKE_BACK.all(connection, key | {"but": ResizePart.LEAVES.value}))
    await connection.execute(_NUMBER, key | {"idle": ResizePart.LEAVES.value})
    failpoint("resize.others_taken")
    return stays_here


async def number_machines(connection: AsyncConnection, idle: ResizePart, *, project_id: UUID, cluster_id: UUID) -> None:
    """Number the cluster's machines anew, without those of the part `idle`; it takes back what had begun to leave."""
    key = {"project_id": project_id, "cluster_id": cluster_id}
    if idle is ResizePart.JOINS:
        await settle_pods(connection, await _TAKE_BACK.all(connection, key | {"but": idle.value}))
    await connection.execute(_NUMBER, key | {"idle": idle.value})


async def end_resize(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, validated: bool) -> None:
    """Give back what was released, and let the cluster have the rest like any other."""
    await free(connection, project_id=project_id, cluster_id=cluster_id, validated=validated)
    await connection.execute(_SETTLE, {"project_id": project_id, "cluster_id": cluster_id})
    failpoint("resize.machines_settled")
