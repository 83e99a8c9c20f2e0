"""What fits into a region now, how its free machines lie, and which are expected back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ipucloud.contract.catalogue import Flavor
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.allocator import SIZES, Fit
from ipucloud.inventory.placement import Need, Room, read_room
from ipucloud.inventory.queries import FlavorCapacity, flavor_capacity
from ipucloud.inventory.snapshot import DOMAIN, SlotState, machines_in, usable

HORIZONS = (3_600, 86_400, 604_800)
"""Seconds from now: an hour, a day, a week."""


class Expiries(NamedTuple):
    """Clusters that will be deleted automatically within so many seconds, and their machines."""

    machine_type: str
    within_seconds: int
    clusters: int
    machines: int


@dataclass(frozen=True, slots=True)
class TypeCapacity:
    """The machines of a type in a region.

    `blocks` maps the size of an aligned block, in machines, to how many of them are free side by side.
    """

    machine_type: str
    states: dict[str, int]
    free_hosts: int
    blocks: dict[int, int]
    largest_block: int
    fragmentation: float | None
    flavors: Sequence[FlavorCapacity]
    expiries: Sequence[Expiries]


@dataclass(frozen=True, slots=True)
class RegionCapacity:
    """A region at the database's time `as_of`."""

    region: str
    as_of: datetime
    simulated: bool
    types: Sequence[TypeCapacity]


_NOW = Query("SELECT app_now()", datetime)
_SIMULATED = Query("SELECT simulated FROM site_regions WHERE region = :region", bool)
_EXPIRIES = Query(
    """
    SELECT machine_type, horizon.within_seconds, count(*) AS clusters, sum(machines) AS machines
      FROM clusters JOIN unnest(CAST(:horizons AS int[])) AS horizon (within_seconds)
           ON expires_at <= app_now() + make_interval(secs => horizon.within_seconds)
     WHERE region = :region AND NOT delete_protection
       AND state NOT IN ('suspended', 'error', 'deleting', 'deleted')
     GROUP BY machine_type, horizon.within_seconds ORDER BY machine_type, horizon.within_seconds
    """,
    Expiries,
)


async def region_capacity(connection: Statements, *, region: str, flavors: Sequence[Flavor]) -> RegionCapacity:
    """The capacity for the flavors of a region. Nothing is locked: the figures may be outdated already."""
    now = await _NOW.one(connection)
    expiries = await _EXPIRIES.all(connection, {"region": region, "horizons": list(HORIZONS)})
    types = []
    for machine_type in sorted({flavor.machine_type for flavor in flavors}):
        sold = [flavor for flavor in flavors if flavor.machine_type == machine_type]
        room = await read_room(connection, region, Need.of(sold[0]))
        types.append(
            _of_type(machine_type, room, sold, [each for each in expiries if each.machine_type == machine_type])
        )
    simulated = await _SIMULATED.one_or_none(connection, {"region": region})
    return RegionCapacity(region, now, simulated or False, types)


def _of_type(machine_type: str, room: Room, sold: Sequence[Flavor], expiries: Sequence[Expiries]) -> TypeCapacity:
    masks = usable(room.pods, SlotState.FREE)
    fit = Fit(room.pods, masks)
    blocks = {size: count for size in SIZES if (count := fit.count(size))}
    return TypeCapacity(
        machine_type=machine_type,
        states={state: machines_in(room.pods, state) for state in SlotState},
        free_hosts=room.free_hosts,
        blocks=blocks,
        largest_block=max(blocks, default=0),
        fragmentation=fragmentation(masks),
        flavors=[flavor_capacity(flavor, room) for flavor in sold],
        expiries=expiries,
    )


def fragmentation(masks: Sequence[int]) -> float | None:
    """Of the whole IPU-Link domains that the free machines would make if they were packed, the share that is broken.

    `masks` has a mask of free slots for each domain. 0: nothing would be gained by packing; 1: no domain is free as a
    whole. None: the free machines do not suffice for one domain.
    """
    possible = sum(mask.bit_count() for mask in masks) // DOMAIN
    whole = sum(mask.bit_count() == DOMAIN for mask in masks)
    return None if possible == 0 else round(1 - whole / possible, 4)
