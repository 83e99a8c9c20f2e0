"""The steps that build a cluster. Each reads first, requests what is missing, and succeeds only by an observation.

After every wait, failure or change of worker a step runs again from its start; no other recovery is needed.
"""

from __future__ import annotations

import asyncio

from ipucloud.clusters import objects
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.steps.faulty import explained, faulty, silent
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Allocation, PartitionRequest, PartitionState, Site, TestState
from ipucloud.wire.site import NetworkSpec, NetworkState, RedfishSystem

DOMAIN_IPUS = 64
"""IPUs of one IPU-Link domain: 16 machines of 4. A larger partition cannot be reconfigurable (V-IPU rule 5)."""


async def attach_network(site: Site, cluster: ClusterInputs) -> StepResult:
    wanted = NetworkSpec(
        region=cluster.region,
        machines=list(cluster.network_machines),
        hosts=[host.name for host in cluster.hosts],
    )
    network = await site.networks.get(cluster.external_name)
    if network is None:
        network = await site.networks.put(cluster.external_name, wanted)
    if network.spec != wanted:
        return Failed("the tenant network has other machines than the cluster's", final=True)
    if network.state is not NetworkState.READY:
        return Pending(f"joining the machines to {objects.network(cluster)}")
    return Achieved()


async def power_on_machines(site: Site, cluster: ClusterInputs) -> StepResult:
    names = [machine.name for machine in cluster.machines]
    answers = await asyncio.gather(*(_powered(site, cluster, name) for name in names), return_exceptions=True)
    unanswered = await silent(site, cluster, "machine", zip(names, answers, strict=True))
    if unanswered is not None:
        return unanswered
    seen = [(name, system) for name, system in zip(names, answers, strict=True) if isinstance(system, RedfishSystem)]
    if unhealthy := [name for name, system in seen if system.Status.Health == "Critical"]:
        return faulty("machine", unhealthy, "failed")
    if waiting := [name for name, system in seen if system.PowerState != "On"]:
        return Pending(f"switching on {objects.listed('machine', waiting)}")
    if len({system.BiosVersion for _, system in seen}) > 1:
        return Failed("the IPU machines run different firmware", final=True)
    return Achieved()


async def _powered(site: Site, cluster: ClusterInputs, machine: str) -> RedfishSystem:
    system = await site.machines.get(machine)
    if system.PowerState == "Off":
        await site.machines.power_on(machine, cluster.external_name)
        return await site.machines.get(machine)
    return system


async def create_allocation(site: Site, cluster: ClusterInputs) -> StepResult:
    """One allocation per cluster, in one V-IPU cluster, because a cluster's machines are all in one."""
    name, vipu_cluster = cluster.external_name, cluster.machines[0].vipu_cluster_id
    if vipu_cluster is None:
        return Failed("the machines are not under V-IPU", final=True)
    wanted = Allocation(name, vipu_cluster, frozenset(machine.name for machine in cluster.machines))
    found = await site.vipu.allocation(name)
    if found is None:
        await site.vipu.create_allocation(wanted)
        found = await site.vipu.allocation(name)
    if found is None:
        return Pending(f"{objects.controller(cluster)} makes allocation {name}")
    if found != wanted:
        return Failed("the V-IPU allocation holds other machines than the cluster's", final=True)
    return Achieved()


async def test_cluster(site: Site, cluster: ClusterInputs) -> StepResult:
    # Each attempt gets its own test name: names are never used again.
    name = f"{cluster.external_name}-t{cluster.operation.step.attempts}"
    test = await site.vipu.cluster_test(name)
    if test is None:
        await site.vipu.start_cluster_test(name, cluster.external_name)
        test = await site.vipu.cluster_test(name)
    if test is None or test.state is TestState.RUNNING:
        return Pending(f"{objects.controller(cluster)} tests links and traffic between the IPUs")
    if test.state is TestState.FAILED:
        return await explained(site, cluster, f"the cluster test failed: {len(test.failures)} links failed")
    return Achieved()


async def create_partition(site: Site, cluster: ClusterInputs) -> StepResult:
    name = cluster.external_name
    status = await site.vipu.partition_status(name)
    if status is None:
        domains = max(1, cluster.ipus // DOMAIN_IPUS)
        request = PartitionRequest(
            id=name,
            allocation_id=name,
            size=cluster.ipus,
            gcds=domains,
            reconfigurable=cluster.reconfigurable and domains == 1,
        )
        await site.vipu.create_partition(request)
        status = await site.vipu.partition_status(name)
    match None if status is None else status.state:
        case PartitionState.ACTIVE:
            return Achieved()
        case PartitionState.ERROR:
            # The controller resets it by itself. A reset from here could arrive late, when the partition is in use.
            return await explained(site, cluster, f"{objects.controller(cluster)} could not bring partition {name} up")
        case PartitionState.REMOVED:
            return Failed("the partition was removed while the cluster was being built", final=True)
        case PartitionState.UNKNOWN:
            return Failed("the V-IPU controller reports a partition state that this version does not know")
        case _:
            return Pending(f"{objects.controller(cluster)} prepares partition {name}")


async def check_ipus(site: Site, cluster: ClusterInputs) -> StepResult:
    """Every Poplar server must count every IPU of the cluster with its own tools."""
    hosts = await asyncio.gather(*(site.hosts.get(host.name) for host in cluster.hosts))
    counts = [(host.name, seen.ipus_visible) for host, seen in zip(cluster.hosts, hosts, strict=True)]
    if waiting := [name for name, count in counts if count is None]:
        return Pending(f"counting the IPUs from {objects.listed('host', waiting)}")
    if wrong := [name for name, count in counts if count != cluster.ipus]:
        return Failed(f"{objects.listed('host', wrong)} does not see {cluster.ipus} IPUs")
    return Achieved()
