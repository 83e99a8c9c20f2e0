"""The devices of a partition: their order, ids and ports, and the IPUoF configuration built of them. Pure.

Device d is the highest IPU of its machine first: IPU 3 - (d mod 4) of the partition's machine d // 4, machines by
ascending address. An IPUoF server listens at 50055 minus the device's number within its machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ipucloud.laboratory.simulator.hardware import IPUS_PER_MACHINE, Machine
from ipucloud.laboratory.simulator.refusal import invalid, not_found
from ipucloud.laboratory.simulator.vipu.attributes import chip_id
from ipucloud.laboratory.simulator.vipu.model import Block, Partition
from ipucloud.laboratory.simulator.vipu.topology import Cluster
from ipucloud.wire import vipu_pb2 as pb

IPUOF_SERVER_VERSION = "1.11.0"
GATEWAY_VERSION = "2.6.0"
MACHINE_VERSION = "2.6.0"
FIRST_SERVER_PORT = 50055
RDMA_PORT = 1
IPU_ARCH = 2


def agent_properties(machine: Machine) -> dict[str, str]:
    """What the agent of a machine reports of it, by the names of `vipu-admin get agent`."""
    return {
        "Manufacturer": "Graphcore",
        "Platform": machine.region.model,
        "GWSW Version": GATEWAY_VERSION,
        "IPUoF server version": IPUOF_SERVER_VERSION,
    }


@dataclass(frozen=True)
class Device:
    """One IPU of a partition: where it is, and its logical number and domain."""

    machine: Machine
    ipu: int
    routing_id: int
    segment: int

    @property
    def number(self) -> int:
        """The device's number within its machine."""
        return IPUS_PER_MACHINE - 1 - self.ipu


def devices_of(blocks: list[Block], cluster: Cluster) -> list[Device]:
    """The devices of a partition, in the order of their ids."""
    placed = [(segment, *place) for segment, block in enumerate(blocks) for place in _places(block, cluster)]
    return [Device(machine, ipu, number, segment) for number, (segment, machine, ipu) in enumerate(placed)]


def _places(block: Block, cluster: Cluster) -> Iterator[tuple[Machine, int]]:
    for slot in block.slots:
        for ipu in reversed(range(IPUS_PER_MACHINE)):
            if IPUS_PER_MACHINE * slot + ipu in range(block.start, block.start + block.size):
                yield cluster.by_place[block.domain, slot], ipu


def partition_ipus(blocks: list[Block], cluster: Cluster) -> list[pb.PartitionIpu]:
    """The partition's IPUs with their physical and logical numbers."""
    return [
        pb.PartitionIpu(
            ipulink_domain_topology_id=device.machine.domain,
            ipulink_domain_routing_id=device.segment,
            topology_id=device.machine.topology_ids[device.ipu],
            routing_id=device.routing_id,
        )
        for device in devices_of(blocks, cluster)
    ]


def check_routing_ids(listed: Iterable[pb.PartitionIpu], blocks: list[Block], cluster: Cluster) -> None:
    """Refuse logical numbers of listed IPUs that are not those which they get; a list without any leaves them open."""
    ipus = list(listed)
    if not any(ipu.routing_id or ipu.ipulink_domain_routing_id for ipu in ipus):
        return
    gets = {(ipu.ipulink_domain_topology_id, ipu.topology_id): ipu for ipu in partition_ipus(blocks, cluster)}
    for ipu in ipus:
        due = gets[ipu.ipulink_domain_topology_id, ipu.topology_id]
        if (ipu.routing_id, ipu.ipulink_domain_routing_id) != (due.routing_id, due.ipulink_domain_routing_id):
            raise invalid(
                f"IPU {ipu.topology_id} of domain {ipu.ipulink_domain_topology_id} has routing id {due.routing_id} in"
                f" IPU-Link domain {due.ipulink_domain_routing_id} of the partition, not {ipu.routing_id} in"
                f" {ipu.ipulink_domain_routing_id}"
            )


def ipuof_config(partition: Partition, cluster: Cluster, gcd: int | None) -> pb.PartitionConfig:
    """The IPUoF configuration of one GCD, or of all when `gcd` is None."""
    shape = partition.shape
    if gcd is not None and gcd >= shape.gcds:
        raise not_found(f"partition {partition.id} has GCDs 0 to {shape.gcds - 1}, not {gcd}")
    devices = devices_of(partition.blocks, cluster)
    per_gcd = shape.size // shape.gcds
    numbers = range(shape.gcds) if gcd is None else [gcd]
    return pb.PartitionConfig(
        ipulink_routing_type=shape.routing,
        sync_type=shape.sync_type,
        reconfigurable=shape.reconfigurable,
        gw_routing_type=shape.gw_routing,
        num_ipulink_segments=shape.segments,
        ipuof_server_version=IPUOF_SERVER_VERSION,
        gcd_configs=[_gcd(partition, n, devices[n * per_gcd : (n + 1) * per_gcd]) for n in numbers],
    )


def _gcd(partition: Partition, number: int, devices: list[Device]) -> pb.PartitionConfig.Gcd:
    attributes = {
        "GCD Id": str(number),
        "Number of GCDs": str(partition.shape.gcds),
        "Number of IPUs": str(len(devices)),
        "Number of replicas": str(partition.shape.replicas),
        "Partition Id": partition.id,
    }
    return pb.PartitionConfig.Gcd(devices=[_device(device) for device in devices], attributes=attributes)


def _device(device: Device) -> pb.IpuofDevice:
    return pb.IpuofDevice(
        ip=device.machine.rnic,
        server_port=FIRST_SERVER_PORT - device.number,
        rdma_port=RDMA_PORT,
        device_id=device.number,
        ipulink_segment_id=device.segment,
        routing_id=device.routing_id,
        ipu_arch_id=IPU_ARCH,
        ipu_id=device.ipu,
        chip_id=chip_id(device.machine.name, device.ipu),
        gwsw_version=GATEWAY_VERSION,
        ipum_sw_version=MACHINE_VERSION,
    )
