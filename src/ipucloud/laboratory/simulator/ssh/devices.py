"""The IPUs that programs on a Poplar server see, as devices with ids. Pure.

N single IPUs are devices 0 to N - 1; then come pairs, quads and so on to the whole: 2N - 1 ids in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ipucloud.laboratory.simulator.hardware import Machine, ServerPlan
from ipucloud.laboratory.simulator.ssh.attachments import Attachments, Holder, Ipu, Load
from ipucloud.laboratory.simulator.ssh.device_attributes import card_attributes
from ipucloud.wire import vipu_pb2 as pb

Attributes = Mapping[str, str]

LADDER = (5, 7, 4, 6, 3, 1, 2, 0, 13, 15, 12, 14, 9, 11, 10, 8)
"""The IPUs of a DSS 8440 in the order in which its multi-IPU devices are made of them: device 25 is IPUs 0 to 3.

Source: the listing of a system with 16 C2 IPUs in the vendor's documentation of TensorFlow for the IPU.
"""


@dataclass(frozen=True)
class Device:
    """One IPU. `target` is how it is reached, `place` where it is, as the tools show it.

    `ipu`: which one of the site it is; `holder`: the program of this server that holds it, `seconds` since when.
    """

    target: str
    place: str
    attributes: Attributes
    ipu: Ipu
    holder: Holder | None = None
    seconds: int = 0


@dataclass(frozen=True)
class Partition:
    """The partition that the devices are of; `gcd` if it is only those of one GCD."""

    id: str
    config: pb.PartitionConfig
    gcd: int | None = None


@dataclass(frozen=True)
class Devices:
    """All devices: `ipus` in the order of their ids, `groups` of them from the id `first_group` on.

    `singles`: each IPU is a device by itself; in a partition that is not reconfigurable only the groups are.
    """

    ipus: Sequence[Device]
    groups: Sequence[Sequence[int]]
    partition: Partition | None = None
    singles: bool = True

    @property
    def first_group(self) -> int:
        return len(self.ipus) if self.singles else 0

    @property
    def ids(self) -> range:
        return range(self.first_group + len(self.groups))

    def members(self, device_id: int) -> Sequence[int]:
        """The IPUs of a device."""
        if device_id < self.first_group:
            return range(device_id, device_id + 1)
        return self.groups[device_id - self.first_group]


def device_groups(ipus: Sequence[int]) -> list[Sequence[int]]:
    """The multi-IPU devices over these IPUs, in the order of their ids: pairs, quads, and so on to the whole."""
    sizes = (1 << k for k in range(1, len(ipus).bit_length()))
    return [ipus[first : first + size] for size in sizes for first in range(0, len(ipus), size)]


def of_partition(
    partition: Partition, attributes: Sequence[Attributes], machines: Mapping[str, Machine], load: Load
) -> Devices:
    """The devices of a partition; `attributes` in the order of its devices, `machines` by their addresses."""
    config = partition.config
    devices = list(chain.from_iterable(gcd.devices for gcd in config.gcd_configs))
    singles = config.reconfigurable or len(devices) == 1
    return Devices(
        ipus=[
            _device(
                Device(
                    "Fabric",
                    f"IPU-M host: [{device.ip}], IPU#: [{device.ipu_id}]",
                    attributes[number],
                    (machines[device.ip].name, device.ipu_id),
                ),
                load,
            )
            for number, device in enumerate(devices)
        ],
        groups=device_groups(range(len(devices))) if singles else list(_gcd_groups(config)),
        partition=partition,
        singles=singles,
    )


def of_server(machine: Machine, plan: ServerPlan, opened: int, load: Load | None = None) -> Devices:
    """The devices of a server with IPUs of its own, of which the first `opened` are the customer's."""
    order = LADDER if plan.topology == "ladder" and opened == len(LADDER) else range(opened)
    load = load or Load(Attachments(), "")
    ipus = []
    for number in range(opened):
        ipu = machine.name, number
        attributes = card_attributes(machine, plan, number, busy=load.is_busy(ipu))
        ipus.append(_device(Device("PCIe", f"PCI Id: [{attributes['pci id']}]", attributes, ipu), load))
    return Devices(ipus, device_groups(order))


def _device(device: Device, load: Load) -> Device:
    holder = load.here(device.ipu)
    return device if holder is None else replace(device, holder=holder, seconds=load.seconds(holder))


def _gcd_groups(config: pb.PartitionConfig) -> Iterator[range]:
    """A partition that is not reconfigurable shows one device for each GCD."""
    first = 0
    for gcd in config.gcd_configs:
        yield range(first, first + len(gcd.devices))
        first += len(gcd.devices)
