"""What the controller reports about each IPU of an agent. Pure; serial numbers derive from the machine's name."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.laboratory.simulator.sensors import correctable_errors
from ipucloud.laboratory.simulator.vipu.links import BrokenLinks, link_name
from ipucloud.vipu_cli.spellings import sync_type_name, word
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.inventory import LinkKind, LinkState

FIRMWARE_VERSION = "2.6.8"
DRIVER_VERSION = "1.3.0"
_BOARD_TYPE = {"m2000": "M2000", "bow-2000": "Bow-2000"}


def board_serial(machine: str, ipu: int) -> str:
    """The serial number of the board that holds the IPU: a machine has one for IPUs 3 and 2, one for 1 and 0."""
    digest = int.from_bytes(blake2b(machine.encode(), digest_size=6).digest(), "big")
    board = 2 if ipu >= 2 else 1
    return f"{digest % 1000:04d}.{board:04d}.{8200000 + digest // 1000 % 1000000:07d}"


def machine_serial(machine: str) -> str:
    """The serial number of the machine itself."""
    return "GC" + blake2b(f"chassis:{machine}".encode(), digest_size=5).hexdigest().upper()


def chip_id(machine: str, ipu: int) -> str:
    """The unique id of one chip."""
    return blake2b(f"{machine}/{ipu}".encode(), digest_size=8).hexdigest()


def board_type(machine: Machine) -> str:
    """The type of the machine's boards, as the tools name it."""
    return _BOARD_TYPE.get(machine.region.machine_type, machine.region.model)


@dataclass(frozen=True)
class Health:
    """What is wrong with a machine: a sentence, and the worst state of the links that begin there."""

    error: str
    links: LinkState


def machine_health(machine: Machine, reachable: bool, broken: BrokenLinks) -> Health:
    """The health of a machine as its agent reports it."""
    states = [broken.get(link_name(machine.name, kind), LinkState.UP) for kind in LinkKind] if broken else []
    worst = max(states, key=list(LinkState).index, default=LinkState.UP)
    if not reachable:
        return Health("unreachable", worst)
    return Health("link down" if worst is LinkState.DOWN else "no errors", worst)


def attributes_of(
    machine: Machine, ipu: int, device: tuple[int, pb.PartitionSpec] | None, health: Health
) -> dict[str, str]:
    """All attributes of one IPU; `device` is its routing id and partition, None while it is in none."""
    attributes = {
        "board ipu index": str(ipu),
        "board serial number": board_serial(machine.name, ipu),
        "board type": board_type(machine),
        "board variant": board_type(machine),
        "clock": machine.region.clock,
        "driver version": DRIVER_VERSION,
        **_FIRMWARE,
        "hexopt active size (bytes)": "0",
        "hexopt total size (bytes)": "268435456",
        "ipu architecture": "ipu2",
        "ipu error state": health.error,
        "link correctable error count": str(correctable_errors(machine.name, ipu, health.links)),
        "link speed": "16 GT/s",
        "link width": "8",
    }
    if device is None:
        return attributes
    routing_id, spec = device
    return attributes | {
        "ipuof routing id": str(routing_id),
        "ipuof routing type": routing_name(spec.ipulink_routing_type),
        "partition sync type": sync_type_name(spec.sync_type),
        "reconfigurable partition": "true" if spec.reconfigurable else "false",
    }


def routing_name(routing: pb.IpuLinkRoutingType) -> str:
    """A routing as attributes have it: DNC."""
    return word(pb.IpuLinkRoutingType, routing)


def version_parts(version: str) -> dict[str, str]:
    """The attributes of a firmware version and its three numbers."""
    numbers = zip(("major", "minor", "patch"), version.split("."), strict=True)
    return {"firmware version": version} | {f"firmware {part} version": number for part, number in numbers}


_FIRMWARE = version_parts(FIRMWARE_VERSION)
