"""What machines and hosts show of themselves: serial numbers, models, firmware, places; as built or changed since."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from ipucloud.laboratory.simulator.hardware import Machine, Region
from ipucloud.laboratory.simulator.refusal import invalid, not_found
from ipucloud.laboratory.simulator.vipu.attributes import machine_serial
from ipucloud.laboratory.simulator.vipu.devices import GATEWAY_VERSION, MACHINE_VERSION
from ipucloud.wire.faults import HardwareShown

HOST_MODEL = "PowerEdge R6525"
HOST_FIRMWARE = "2.14.1"
BMC_VERSION = "2.6.0"
PARTS = ("board", "ipu-0", "ipu-1", "ipu-2", "ipu-3", "rnic")
"""Parts of a machine that have serial numbers of their own."""


@dataclass(frozen=True)
class Identity:
    """What one machine or host shows; `parts` has the firmware of its parts, `serials` their serial numbers."""

    serial_number: str
    model: str
    firmware: str
    parts: dict[str, str]
    serials: dict[str, str]


class Identities:
    """Of all hardware of the site. Only what was changed has a record, by name; a host that is a machine shares it."""

    def __init__(
        self, regions: Mapping[str, Region], records: dict[str, HardwareShown], *, changed: Callable[[], None]
    ) -> None:
        self._regions = regions
        self._records = records
        self._changed = changed
        self._names = {
            name for region in regions.values() for name in (*region.machines, *(host.name for host in region.hosts))
        }

    def all(self) -> list[HardwareShown]:
        """The records, by name."""
        return [self._records[name] for name in sorted(self._records)]

    def put(self, name: str, shown: HardwareShown) -> HardwareShown:
        """Let hardware show this from now on. Refuses a name without hardware, unless its region is given."""
        if name not in self._names and shown.region not in self._regions:
            raise not_found(f"no machine or host is named {name!r}; give a region to add a machine that nobody ordered")
        if (shown.pod is None) != (shown.slot is None):
            raise invalid("a place is a pod and a slot")
        if unknown := (shown.part_serials or {}).keys() - PARTS:
            raise invalid(f"{unknown.pop()!r} is none of a machine's parts: {', '.join(PARTS)}")
        self._records[name] = shown.model_copy(update={"name": name})
        self._changed()
        return self._records[name]

    def remove(self, name: str) -> None:
        """Let hardware show what it was built with."""
        if self._records.pop(name, None) is None:
            raise not_found(f"{name!r} shows what it was built with")
        self._changed()

    def is_hidden(self, name: str) -> bool:
        record = self._records.get(name)
        return record is not None and record.hidden

    def surplus(self, region: str | None) -> list[str]:
        """The machines of a region, or of all, that nobody ordered and whose BMC answers."""
        return [
            name
            for name, record in sorted(self._records.items())
            if name not in self._names and not record.hidden and region in {None, record.region}
        ]

    def is_surplus(self, name: str) -> bool:
        return name in self._records and name not in self._names

    def surplus_machine(self, name: str) -> Identity:
        """What a machine that nobody ordered shows: the model of its region."""
        region = self._regions[self._records[name].region or ""]
        return self.of_machine(name, region.plans[0].model)

    def of_machine(self, name: str, model: str) -> Identity:
        """What a machine's BMC shows; `model` is what it was built as."""
        parts = {"bmc": BMC_VERSION, "gateway": GATEWAY_VERSION}
        serials = {part: _serial(f"{part}:{name}") for part in PARTS}
        return self._shown(name, Identity(machine_serial(name), model, MACHINE_VERSION, parts, serials))

    def of_host(self, name: str, machine: Machine | None) -> Identity:
        """What a host shows; `machine` is the one that it is itself."""
        if machine is not None:
            return self.of_machine(name, machine.region.model)
        return self._shown(name, Identity(_serial(f"host:{name}"), HOST_MODEL, HOST_FIRMWARE, {}, {}))

    def place_of(self, machine: Machine) -> tuple[str, int]:
        """The pod and slot of a machine, as its V-IPU controller shows them."""
        record = self._records.get(machine.name)
        if record is None or record.pod is None or record.slot is None:
            return machine.pod, machine.slot
        return record.pod, record.slot

    def _shown(self, name: str, built: Identity) -> Identity:
        record = self._records.get(name)
        if record is None:
            return built
        return Identity(
            record.serial_number or built.serial_number,
            record.model or built.model,
            record.firmware or built.firmware,
            built.parts,
            built.serials | (record.part_serials or {}),
        )


@cache
def _serial(of: str) -> str:
    return blake2b(of.encode(), digest_size=4).hexdigest().upper()
