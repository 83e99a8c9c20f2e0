"""What callers see of a site's state, now or as it was: pure functions of the state and the instant."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.kernel.vipu import IpuNumber, PartitionShape
from ipucloud.site.ports import SiteRefused
from ipucloud.site.vipu_ports import (
    Agent,
    Allocation,
    ClusterTest,
    IpuofGcd,
    Link,
    Partition,
    PartitionIpu,
    PartitionState,
    PartitionStatus,
    SeenPartition,
    TestState,
    VipuUser,
)
from ipucloud.wire.inventory import LinkKind, LinkState
from ipucloud.wire.redfish import RedfishStatus, RedfishSystem
from ipucloud.wire.site import Host, HostState, Network, Ssh
from tests.sim.site.state import SiteState

FIRMWARE = "2.6.0"


def partition_status(state: SiteState, allocation_id: str, partition_id: str) -> PartitionStatus | None:
    partition = state.partitions.get((allocation_id, partition_id))
    return None if partition is None else PartitionStatus(partition.state)


def list_partitions(state: SiteState, allocation_id: str) -> Sequence[str]:
    return sorted(name for owner, name in state.partitions if owner == allocation_id)


def all_partitions(state: SiteState) -> Sequence[Partition]:
    partitions = sorted(state.partitions)
    return [Partition(name, owner, state.partitions[owner, name].state) for owner, name in partitions]


def partitions_of(state: SiteState, allocation_id: str) -> Sequence[SeenPartition]:
    """The machines of each are taken to follow each other."""
    held = state.allocations.get(allocation_id)
    slots = {} if held is None else {agent: slot for slot, agent in enumerate(sorted(held.agent_ids))}
    return [
        SeenPartition(
            name,
            partition.state,
            PartitionShape(size=partition.ipus, replicas=1, segments=1),
            tuple(
                PartitionIpu(IpuNumber(0, 4 * slots.get(agent, 0) + ipu), 0, number)
                for number, (agent, ipu) in enumerate(partition.devices())
            ),
        )
        for name in list_partitions(state, allocation_id)
        for partition in [state.partitions[allocation_id, name]]
    ]


def ipuof_config(state: SiteState, allocation_id: str, partition_id: str) -> Sequence[IpuofGcd] | None:
    partition = state.partitions.get((allocation_id, partition_id))
    return (
        [IpuofGcd((), {"GCD Id": "0"})] if partition is not None and partition.state is PartitionState.ACTIVE else None
    )


def allocation(state: SiteState, allocation_id: str) -> Allocation | None:
    return state.allocations.get(allocation_id)


def list_allocations(state: SiteState, cluster_id: str) -> Sequence[Allocation]:
    allocations = [each for each in state.allocations.values() if cluster_id in {"", each.cluster_id}]
    return sorted(allocations, key=lambda each: each.id)


def cluster_test(state: SiteState, test_id: str) -> ClusterTest | None:
    test = state.tests.get(test_id)
    if test is None:
        return None
    if test.due is not None:
        return ClusterTest(TestState.RUNNING)
    return ClusterTest(TestState.PASSED) if test.passes else ClusterTest(TestState.FAILED, ("a link",))


def links(state: SiteState, allocation_id: str) -> Sequence[Link]:
    """The links that the machines of an allocation have among themselves."""
    held = state.allocations.get(allocation_id)
    machines = frozenset() if held is None else held.agent_ids
    return [
        Link(LinkKind.NEXT, ends, state.links.get(ends[0], LinkState.UP))
        for ends in state.chain()
        if machines.issuperset(ends)
    ]


def impaired_links(state: SiteState) -> Sequence[Link]:
    """The links that are not up although both ends answer."""
    return [
        Link(LinkKind.NEXT, ends, state.links[ends[0]])
        for ends in state.chain()
        if ends[0] in state.links and all(map(state.answers, ends))
    ]


def agents(state: SiteState) -> Sequence[Agent]:
    return [Agent(name, reachable=state.answers(name)) for name in sorted(state.machines)]


def machines(state: SiteState) -> Sequence[RedfishSystem]:
    return [machine(state, name) for name in sorted(state.machines)]


def list_users(state: SiteState) -> Sequence[VipuUser]:
    return sorted(state.users.values(), key=lambda each: each.id)


def user(state: SiteState, user_id: str) -> VipuUser | None:
    return state.users.get(user_id)


def network(state: SiteState, name: str) -> Network | None:
    present = state.networks.get(name)
    return None if present is None else Network(name=name, spec=present.spec, state=present.state)


def networks(state: SiteState) -> Sequence[Network]:
    return [
        Network(name=name, spec=present.spec, state=present.state) for name, present in sorted(state.networks.items())
    ]


def hosts(state: SiteState, now: float) -> Sequence[Host]:
    return [host(state, name, now) for name in sorted(state.hosts)]


def host(state: SiteState, name: str, now: float) -> Host:
    entry = state.hosts.get(name)
    if entry is None:
        raise SiteRefused(f"host {name}: the site does not know it")
    running = entry.state is HostState.RUNNING
    return Host(
        name=name,
        region="luxembourg-2",
        state=entry.state,
        server=entry.server,
        boot_id=str(entry.boots) if entry.server is not None else None,
        ssh=Ssh(host=name, port=22, user="ubuntu", host_key=host_key(name), fingerprint="SHA256:") if running else None,
        ipus_visible=_ipus_visible(state, name) if running and now >= entry.set_up_at else None,
    )


def host_key(name: str) -> str:
    return f"ssh-ed25519 {name}"


def ssh_host_key(state: SiteState, name: str) -> str | None:
    return host_key(name) if state.hosts[name].state is HostState.RUNNING else None


def machine(state: SiteState, name: str) -> RedfishSystem:
    entry = state.machines.get(name)
    if entry is None:
        raise SiteRefused(f"machine {name}: the site does not know it")
    return RedfishSystem(
        Id=name,
        Name=name,
        Model="IPU-M2000",
        SerialNumber=name,
        PowerState=entry.power,
        Status=RedfishStatus(State="Enabled", Health="Critical" if entry.broken else "OK"),
        BiosVersion=FIRMWARE,
    )


def _ipus_visible(state: SiteState, name: str) -> int:
    """What the server counts: the IPUs of its partition, if it is up and the network reaches all its machines."""
    server = state.hosts[name].server
    if server is None:
        return 0
    partition = state.partitions.get((server.network, server.environment["IPUOF_VIPU_API_PARTITION_ID"]))
    network = state.networks.get(server.network)
    if partition is None or network is None or partition.state is not PartitionState.ACTIVE:
        return 0
    reached = name in network.spec.hosts and partition.agents <= set(network.spec.machines)
    return partition.ipus if reached and all(state.machines[agent].power == "On" for agent in partition.agents) else 0
