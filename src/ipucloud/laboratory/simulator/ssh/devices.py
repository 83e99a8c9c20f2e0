"""The IPUs that programs on a Poplar server see, as devices with ids. Pure.

N single IPUs are devices 0 to N - 1; then come pairs, quads and so on to the whole: 2N - 1 ids in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain

from ipucloud.laboratory.simulator.hardware import Machine, ServerPlan
from ipucloud.laboratory.simulator.sensors import sensors_of
from ipucloud.laboratory.simulator.vipu.attributes import FIRMWARE_VERSION
from ipucloud.wire import vipu_pb2 as pb

Attributes = Mapping[str, str]


@dataclass(frozen=True)
class Device:
    """One IPU. `target` is how it is reached, `place` where it is, as the tools show it."""

    target: str
    place: str
    attributes: Attributes


@dataclass(frozen=True)
class Partition:
    """The partition that the devices are of."""

    id: str
    config: pb.PartitionConfig


@dataclass(frozen=True)
class Devices:
    """All devices: `ipus` in the order of their ids, `groups` of them from the id `first_group` on.

    `singles`: each IPU is a device by itself; in a partition that is not reconfigurable only the groups are.
    """

    ipus: Sequence[Device]
    groups: Sequence[range]
    partition: Partition | None = None
    singles: bool = True
    links: Sequence[tuple[int, int]] = field(default_factory=tuple)

    @property
    def first_group(self) -> int:
        return len(self.ipus) if self.singles else 0

    @property
    def ids(self) -> range:
        return range(self.first_group + len(self.groups))

    def members(self, device_id: int) -> range:
        """The IPUs of a device."""
        if device_id < self.first_group:
            return range(device_id, device_id + 1)
        return self.groups[device_id - self.first_group]


def device_groups(count: int) -> list[range]:
    """The multi-IPU devices over `count` IPUs, in the order of their ids: pairs, quads, and so on to the whole."""
    sizes = (1 << k for k in range(1, count.bit_length()))
    return [range(first, first + size) for size in sizes for first in range(0, count, size)]


def of_partition(partition: str, config: pb.PartitionConfig, attributes: Sequence[Attributes]) -> Devices:
    """The devices of a partition; `attributes` in the order of its devices."""
    found = list(chain.from_iterable(gcd.devices for gcd in config.gcd_configs))
    singles = config.reconfigurable or len(found) == 1
    return Devices(
        ipus=[
            Device("Fabric", f"IPU-M host: [{device.ip}], IPU#: [{device.ipu_id}]", attributes[number])
            for number, device in enumerate(found)
        ],
        groups=device_groups(len(found)) if singles else list(_gcd_groups(config)),
        partition=Partition(partition, config),
        singles=singles,
    )


def of_server(machine: Machine, plan: ServerPlan, opened: int) -> Devices:
    """The devices of a server with IPUs of its own, of which the first `opened` are the customer's."""
    links = [pair for pair in ipu_links(plan.topology, plan.ipus) if max(pair) < opened]
    ipus = []
    for number in range(opened):
        attributes = _server_attributes(machine, plan, number)
        peers = sorted(sum(pair) - number for pair in links if number in pair)
        attributes["ipu links to"] = " ".join(map(str, peers)) or "none"
        ipus.append(Device("PCIe", f"PCI Id: [{attributes['pci id']}]", attributes))
    return Devices(ipus, device_groups(opened), links=links)


def ipu_links(topology: str, count: int) -> Iterator[tuple[int, int]]:
    """Which IPUs are joined by IPU-Links. A line joins neighbours; a ladder joins pairs, and each pair to the next."""
    if topology == "line":
        yield from ((number, number + 1) for number in range(count - 1))
        return
    for number in range(0, count, 2):
        yield number, number + 1
    for number in range(count - 2):
        yield number, number + 2


def _server_attributes(machine: Machine, plan: ServerPlan, ipu: int) -> dict[str, str]:
    board, index = divmod(ipu, plan.ipus_per_board)
    sensors = sensors_of(machine.name, ipu, busy=False)
    serial = int.from_bytes(blake2b(f"{machine.name}/board{board}".encode(), digest_size=6).digest(), "big")
    return {
        "average board temp": f"{sensors.board_celsius:.1f} C",
        "average die temp": f"{sensors.die_celsius:.1f} C",
        "board ipu index": str(index),
        "board serial number": f"{serial % 10000:04d}.0063.{820000 + serial // 10000 % 10000:06d}",
        "board type": plan.board,
        "board variant": plan.board,
        "clock": plan.clock,
        "firmware version": FIRMWARE_VERSION,
        "ipu architecture": plan.architecture,
        "ipu error state": "no errors",
        "ipu link topology": plan.topology,
        "ipu power": f"{sensors.watts:.1f} W",
        "link speed": "16 GT/s" if plan.architecture == "ipu21" else "8 GT/s",
        "link width": "8",
        "numa node": str(2 * ipu // plan.ipus),
        "pci id": f"0000:{0x1A + ipu:02x}:00.0",
        "pcie physical slot": str(board),
    }


def _gcd_groups(config: pb.PartitionConfig) -> Iterator[range]:
    """A partition that is not reconfigurable shows one device for each GCD."""
    first = 0
    for gcd in config.gcd_configs:
        yield range(first, first + len(gcd.devices))
        first += len(gcd.devices)
