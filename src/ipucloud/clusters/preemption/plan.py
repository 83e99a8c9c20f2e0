"""What the database says of a region's room, and which preemptible clusters would have to stop to make some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from ipucloud.clusters.preemption.victims import Candidate, choose_victims
from ipucloud.clusters.states import BILLABLE
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Need, read_room
from ipucloud.inventory.snapshot import SlotState, usable

_COMING = (SlotState.FREE, SlotState.CLEANING, SlotState.VALIDATING)
"""Slots that are free, or become so by themselves."""
HOLDS_ON = BILLABLE | {ClusterState.REBUILDING, ClusterState.RESIZING}
"""States in which a cluster that was told keeps its notice."""


ADVICE = (
    "Preemptible clusters use such machines: create the cluster with `wait_for_capacity`, and they are told to make"
    " room in {minutes} minutes."
)


class Holder(NamedTuple):
    """A cluster that can be stopped, or leaves its machines already; `mask`: its slots of one pod.

    `noticed_for`: when it is to be suspended.
    """

    project_id: UUID
    cluster_id: UUID
    leaving: bool
    since: datetime
    preempt_at: datetime | None
    gw_group: str
    position: int
    mask: int


class Victim(NamedTuple):
    """A cluster that has to stop; `preempt_at`: when it was told that it does, None: it was not told yet."""

    project_id: UUID
    cluster_id: UUID
    preempt_at: datetime | None


# Machines that no other cluster would get make no room: those with reports against them, of a controller that is
# withheld, or of a reservation.
_LEAVES = """
(c.state IN ('suspending', 'deleting')
 OR c.state IN ('creating', 'resuming')
    AND EXISTS (SELECT FROM operations AS o WHERE o.cluster_id = c.id AND o.finished_at IS NULL AND o.undoing))
"""
_HOLDERS = Query(
    f"""
    SELECT c.project_id, c.id AS cluster_id, {_LEAVES} AS leaving,
           coalesce((SELECT max(o.finished_at) FROM operations AS o
                      WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.state = 'succeeded'
                        AND o.kind IN ('cluster.create', 'cluster.resume')), c.created_at) AS since,
           notice.preempt_at, p.gw_group, p.position, bit_or(1 << m.slot) AS mask
      FROM clusters AS c
      JOIN allocations AS a
        ON a.project_id = c.project_id AND a.cluster_id = c.id AND a.released_at IS NULL AND a.reservation_id IS NULL
      JOIN machines AS m ON m.id = a.machine_id AND m.allocatable
      JOIN pods AS p ON p.id = m.pod_id
      LEFT JOIN vipu_controllers AS v ON v.region = p.region AND v.name = p.controller
      LEFT JOIN preemptions AS notice ON notice.cluster_id = c.id AND notice.ended_at IS NULL
     WHERE c.region = :region AND c.machine_type = :machine_type AND c.deleted_at IS NULL
       AND c.allocated_through = 'v-ipu' AND NOT coalesce(v.withheld, false)
       AND ({_LEAVES} OR c.id = CAST(:resized AS uuid)
            OR c.preemptible AND (c.state = ANY (CAST(:billable AS text[]))
                                  OR notice.id IS NOT NULL AND c.state = ANY (CAST(:holds_on AS text[]))))
     GROUP BY c.project_id, c.id, notice.preempt_at, p.gw_group, p.position
     ORDER BY c.id, p.gw_group, p.position
    """,  # noqa: S608  # our own text
    Holder,
)
_ANY = Query(
    """
    SELECT EXISTS (SELECT FROM clusters
                    WHERE region = :region AND machine_type = :machine_type AND preemptible AND deleted_at IS NULL
                      AND state = ANY (CAST(:billable AS text[])))
    """,
    bool,
)


@dataclass(slots=True)
class _Held:
    """A holder with all of its pods, by index."""

    first: Holder
    pods: dict[int, int]


async def victims_of(
    connection: Statements, region: str, need: Need, *, resized: UUID | None = None
) -> list[Victim] | None:
    """The clusters that have to stop for this need; none: it finds room without. None: stopping them would not do.

    `resized`: the cluster that is to get that size. It can use the machines that it holds already.

    A suspended cluster keeps its hosts, so hosts that are lacking cannot be made free. Nothing is locked.
    """
    room = await read_room(connection, region, need)
    if need.own_hosts or room.free_hosts < need.hosts:
        return None
    places = {(pod.gw_group, pod.position): index for index, pod in enumerate(room.pods)}
    free = usable(room.pods, *_COMING)
    held: dict[UUID, _Held] = {}
    for holder in await _holders(connection, region, need.machine_type, resized):
        pod = places[holder.gw_group, holder.position]
        if holder.leaving or holder.cluster_id == resized:
            free[pod] |= holder.mask
        else:
            held.setdefault(holder.cluster_id, _Held(holder, {})).pods[pod] = holder.mask
    known = [*held.values()]
    candidates = [
        Candidate(each.pods, each.first.since, each.first.preempt_at is not None, str(each.first.cluster_id))
        for each in known
    ]
    chosen = choose_victims(room.pods, free, candidates, need.machines)
    if chosen is None:
        return None
    firsts = (known[index].first for index in sorted(chosen))
    return [Victim(each.project_id, each.cluster_id, each.preempt_at) for each in firsts]


async def minutes_to_room(
    connection: Statements, region: str, need: Need, settings: Settings, *, resized: UUID | None = None
) -> int | None:
    """After how many minutes preemptible clusters can have stopped for this need, which finds no room now.

    None: stopping them would not do.
    """
    values = {"region": region, "machine_type": need.machine_type, "billable": sorted(BILLABLE)}
    if not await _ANY.one(connection, values):  # the refusal of a full region stays cheap where there are none
        return None
    victims = await victims_of(connection, region, need, resized=resized)
    return math.ceil(settings.preemption_notice / 60) if victims else None


async def _holders(connection: Statements, region: str, machine_type: str, resized: UUID | None) -> Sequence[Holder]:
    states = {"billable": sorted(BILLABLE), "holds_on": sorted(HOLDS_ON), "resized": resized}
    return await _HOLDERS.all(connection, {"region": region, "machine_type": machine_type, **states})
