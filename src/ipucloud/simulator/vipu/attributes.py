"""What the controller tells about each IPU of an agent. Pure; serial numbers derive from the machine's name."""

from __future__ import annotations

from hashlib import blake2b

from ipucloud.simulator.hardware import Machine
from ipucloud.wire import vipu_pb2 as pb

FIRMWARE_VERSION = "2.6.8"
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
    return _BOARD_TYPE[machine.region.machine_type]


def attributes_of(machine: Machine, ipu: int, device: tuple[int, pb.PartitionSpec] | None) -> dict[str, str]:
    """All attributes of one IPU; `device` is its routing id and partition, None while it is in none."""
    major, minor, patch = FIRMWARE_VERSION.split(".")
    attributes = {
        "board ipu index": str(ipu),
        "board serial number": board_serial(machine.name, ipu),
        "board type": board_type(machine),
        "board variant": board_type(machine),
        "clock": machine.region.clock,
        "firmware major version": major,
        "firmware minor version": minor,
        "firmware patch version": patch,
        "firmware version": FIRMWARE_VERSION,
        "ipu architecture": "ipu2",
        "ipu error state": "no errors",
        "link correctable error count": "0",
        "link speed": "16 GT/s",
        "link width": "8",
    }
    if device is None:
        return attributes
    routing_id, spec = device
    return attributes | {
        "ipuof routing id": str(routing_id),
        "ipuof routing type": pb.IpuLinkRoutingType.Name(spec.ipulink_routing_type),
        "partition sync type": pb.SyncType.Name(spec.sync_type),
        "reconfigurable partition": str(int(spec.reconfigurable)),
    }
