"""What customers can see of the inventory: the room for each flavor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ipucloud.contract.catalogue import Flavor
from ipucloud.db.statements import Statements
from ipucloud.inventory.allocator import capacity
from ipucloud.inventory.placement import Need, NoRoom, Room, read_room


@dataclass(frozen=True, slots=True)
class FlavorCapacity:
    """How many clusters of a flavor could be created now, at the same time; if none, why not."""

    flavor: str
    machine_type: str
    machines: int
    ipus: int
    available: int
    why_not: NoRoom | None


async def region_capacity(connection: Statements, *, region: str, flavors: Sequence[Flavor]) -> list[FlavorCapacity]:
    """The room for each of the region's flavors, each considered alone. Quotas are ignored."""
    needs = {flavor.machine_type: Need.of(flavor) for flavor in flavors}
    rooms = {machine_type: await read_room(connection, region, needs[machine_type]) for machine_type in sorted(needs)}
    return [flavor_capacity(flavor, rooms[flavor.machine_type]) for flavor in flavors]


def flavor_capacity(flavor: Flavor, room: Room) -> FlavorCapacity:
    """The room for a flavor of the room's machine type."""
    available = min(capacity(room.pods, flavor.machines), room.free_hosts // flavor.poplar_servers)
    return FlavorCapacity(
        flavor=flavor.name,
        machine_type=flavor.machine_type,
        machines=flavor.machines,
        ipus=flavor.ipus,
        available=available,
        why_not=room.why_not(Need.of(flavor)) if available == 0 else None,
    )
