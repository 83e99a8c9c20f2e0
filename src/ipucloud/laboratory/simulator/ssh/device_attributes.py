"""The attributes of an IPU as `gc-info` shows them, with the names and forms of the vendor's samples. Pure.

Nothing is computed on simulated IPUs. One that a program holds shows the utilisation, temperatures and power of a board
under load, any other those of an idle one. The memory sizes are those of the samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from ipucloud.laboratory.simulator.hardware import Machine, ServerPlan
from ipucloud.laboratory.simulator.sensors import sensors_of, utilisation_of
from ipucloud.laboratory.simulator.vipu.attributes import DRIVER_VERSION, FIRMWARE_VERSION, routing_name, version_parts
from ipucloud.wire import vipu_pb2 as pb

_PCI_IDS = {
    "C600": ("35", "36", "49", "4a", "99", "9a", "b8", "b9"),
    "C2": ("1a", "1b", "23", "24", "3d", "3e", "43", "44", "8b", "8c", "8e", "8f", "b8", "b9", "ba", "bb"),
}
"""The buses of the cards: of C2 as in the vendor's listing of 16 IPUs; of C600 the first as in its sample."""
_CARDS: dict[str, dict[str, str]] = {
    "C600": {
        "board variant": "C600",
        "clock": "20MHz",  # while nothing runs
        "driver version": DRIVER_VERSION,
        **version_parts(FIRMWARE_VERSION),
        "hexoatt total size (bytes)": "16911433728",
        "hexopt active size (bytes)": "0",
        "hexopt total size (bytes)": "268435456",
        "icu bootloader version": "2.6.2",
        "ipu power": "N/A",
        "link correctable error count (session)": "0",
        "link speed": "16.0 GT/s",
        "parity error count threshold": "4",
        "parity error threshold interval": "7776000 seconds",
    },
    "C2": {
        "clock": "1300MHz",
        "driver version": "1.0.56",
        "firmware version": "1.4.14",
        "hexoatt total size (bytes)": "17045651456",
        "hexopt active size (bytes)": "134217728",
        "hexopt total size (bytes)": "134217728",
        "link speed": "8 GT/s",
    },
}


def fabric_attributes(
    reported: Mapping[str, str],
    device: pb.IpuofDevice,
    partition: tuple[str, pb.PartitionConfig, pb.PartitionConfig.Gcd],
    machine: Machine,
    readings: Mapping[str, float],
    *,
    busy: bool = False,
) -> dict[str, str]:
    """Of an IPU in a partition: what the controller has `reported`, and what the server knows by itself.

    `readings` are those of the machine's sensors that differ from the usual. `busy`: a program holds it.
    """
    name, config, gcd = partition
    sensors = sensors_of(machine.name, device.ipu_id, busy=busy)
    return {
        **reported,
        **_utilisation(machine.name, device.ipu_id, busy=busy),
        "average board temp": f"{sensors.board_celsius:.1f} C",
        "average die temp": f"{readings.get('die_temperature', sensors.die_celsius):.1f} C",
        "config domain": _config_domain(name, gcd),
        "gateway software version": device.gwsw_version,
        "graph streaming": "true",
        "hexoatt active size (bytes)": "0",
        "hexoatt total size (bytes)": "34082914304",
        "host link correctable error count": "0",
        "ipu power": f"{sensors.watts:.1f} W",
        "ipuof host": device.ip,
        "ipuof partition id": name,
        "ipuof routing id": str(device.routing_id),
        "ipuof routing type": routing_name(config.ipulink_routing_type),
        "ipuof server version": config.ipuof_server_version,
        "number of replicas": gcd.attributes.get("Number of replicas", "1"),
        "pci id": str(device.ipu_id),
        "pcie physical slot": str(device.ipu_id),
        "remote buffers supported": "1",
        "total board power": "N/A",
    }


def _config_domain(partition: str, gcd: pb.PartitionConfig.Gcd) -> str:
    """A number that the IPUs of a GCD have in common. The sample's is as large, and means nothing to its reader."""
    named = f"{partition}/{gcd.attributes.get('GCD Id', '0')}".encode()
    return str(94_000_000_000_000 + int.from_bytes(blake2b(named, digest_size=5).digest(), "big"))


def card_attributes(machine: Machine, plan: ServerPlan, ipu: int, *, busy: bool = False) -> dict[str, str]:
    """Of an IPU on a card of a server with IPUs of its own."""
    board, index = divmod(ipu, plan.ipus_per_board)
    sensors = sensors_of(machine.name, ipu, busy=busy)
    serial = int.from_bytes(blake2b(f"{machine.name}/board{board}".encode(), digest_size=6).digest(), "big")
    return {
        **_utilisation(machine.name, ipu, busy=busy),
        **_CARDS[plan.board],
        "average board temp": f"{sensors.board_celsius:.1f} C",
        "average die temp": f"{sensors.die_celsius:.1f} C",
        "board ipu index": str(index),
        "board serial number": f"{serial % 10000:04d}.{_REVISION[plan.board]}.{820000 + serial // 10000 % 10000:06d}",
        "board type": plan.board,
        "hexoatt active size (bytes)": "0",
        "ipu architecture": plan.architecture,
        "ipu error state": "no errors",
        "link correctable error count": "0",
        "link width": "8",
        "numa node": str(2 * ipu // plan.ipus),
        "parity initialised": "1",
        "pci id": f"0000:{_PCI_IDS[plan.board][ipu]}:00.0",
        "pcie physical slot": str(board + 1),
        "remote buffers supported": "1",
        "sysfs file id": str(ipu),
        "total board power": f"{sensors.watts:.1f} W",
    }


def _utilisation(machine: str, ipu: int, *, busy: bool) -> dict[str, str]:
    percent = f"{utilisation_of(machine, ipu, busy=busy):.2f}%"
    return {"ipu utilisation": percent, "ipu utilisation (session)": percent}


_REVISION = {"C600": "0063", "C2": "0004"}
"""The middle part of a board's serial number."""
