"""The steps that build a cluster. Each reads first, requests what is missing, and succeeds only by an observation.

After every wait, failure or change of worker a step runs again from its start; no other recovery is needed.

Each volume is brought to its server by its own work item (`clusters/volumes/reconciler.py`), which the start of the
server wakes; one that is detached meanwhile is not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ipucloud.clusters import step_objects, vipu_access
from ipucloud.clusters.inputs import ClusterInputs, KeptPartition
from ipucloud.clusters.steps.faulty import Faulty, explained, faulty, silent
from ipucloud.kernel.errors import CAPACITY_WAIT_EXPIRED, Problem
from ipucloud.kernel.vipu import SELF_RESET_SECONDS, PartitionShape
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site, SiteRefused
from ipucloud.site.vipu_ports import (
    Allocation,
    PartitionRequest,
    PartitionState,
    PartitionStatus,
    TestState,
    UserEndpoint,
)
from ipucloud.wire.redfish import RedfishSystem
from ipucloud.wire.site import Host, NetworkSpec, NetworkState

_ADVICE = {
    "cluster.create": "Nothing was taken or charged. Delete cluster {name}; then create it with a later `wait_until`,"
    " of another flavor or in another region.",
    "cluster.resume": "Nothing was taken or charged, and cluster {name} is suspended as before. Resume it with a later"
    " `wait_until`.",
    "cluster.resize": "Cluster {name} has kept its size and was in use meanwhile. Resize it with a later"
    " `wait_until`, or to another size.",
}
RECHECK_SECONDS = 30.0
"""Until the step checks again whether its time is over."""


async def wait_for_capacity(site: Site, cluster: ClusterInputs) -> StepResult:  # noqa: ARG001  # every step's signature
    """Nothing is asked of the site: nothing is to change there yet."""
    wait = cluster.wait
    if wait is None or wait.granted:
        return Achieved()
    if wait.remaining <= 0:
        advice = _ADVICE[cluster.operation.kind].format(name=cluster.name)
        sentence = f"No machines were free for the cluster until `wait_until`. {advice}"
        return Failed("its time to wait is over", final=True, problem=Problem(CAPACITY_WAIT_EXPIRED, sentence))
    return Pending(
        "waiting for capacity; `waiting` of the cluster has its place in the queue",
        recheck=min(wait.remaining, RECHECK_SECONDS),
        blocked=True,
    )


ATTACH_VOLUMES = "attach_volumes"


async def attach_volumes(site: Site, cluster: ClusterInputs) -> StepResult:  # noqa: ARG001  # every step's signature
    if cluster.attaching_volumes:
        return Pending(f"attaching {step_objects.listed('volume', cluster.attaching_volumes)}")
    return Achieved()


USER_DATA_NOTE = 500
"""Characters of what is told of user data that failed."""


async def attach_network(site: Site, cluster: ClusterInputs) -> StepResult:
    spec = NetworkSpec(
        region=cluster.region,
        machines=list(cluster.network_machines),
        hosts=[host.name for host in cluster.hosts],
    )
    network = await site.networks.get(cluster.external_name)
    if network is None:
        network = await site.networks.put(cluster.external_name, spec)
    if network.spec != spec:
        return Failed("the tenant network has other machines than the cluster's", final=True)
    if network.state is not NetworkState.READY:
        return Pending(f"joining the machines to {step_objects.network(cluster)}")
    return Achieved()


async def power_on_machines(site: Site, cluster: ClusterInputs) -> StepResult:
    names = [machine.name for machine in cluster.machines]
    answers = await asyncio.gather(*(_powered(site, cluster, name) for name in names), return_exceptions=True)
    unanswered = await silent(site, cluster, "machine", zip(names, answers, strict=True))
    if unanswered is not None:
        return unanswered
    systems = [(name, system) for name, system in zip(names, answers, strict=True) if isinstance(system, RedfishSystem)]
    if unhealthy := [name for name, system in systems if system.Status.Health == "Critical"]:
        return faulty("machine", unhealthy, "failed")
    if waiting := [name for name, system in systems if system.PowerState != "On"]:
        if cluster.operation.step.running_for > cluster.power_limit:
            return faulty("machine", waiting, f"did not switch on within {cluster.power_limit:.0f} seconds")
        return Pending(f"switching on {step_objects.listed('machine', waiting)}")
    if len({system.BiosVersion for _, system in systems}) > 1:
        return Failed("the IPU machines run different firmware", final=True)
    return Achieved()


async def _powered(site: Site, cluster: ClusterInputs, machine: str) -> RedfishSystem:
    system = await site.machines.get(machine)
    if system.PowerState == "Off":
        await site.machines.power_on(machine, cluster.external_name)
        return await site.machines.get(machine)
    return system


@dataclass(frozen=True, slots=True)
class AllocationAnswer(Achieved):
    """The cluster's allocation, with its user endpoint, was observed."""

    endpoint: UserEndpoint


async def create_allocation(site: Site, cluster: ClusterInputs) -> StepResult:
    """One allocation per cluster, in one V-IPU cluster, because a cluster's machines are all in one."""
    name, vipu_cluster = cluster.external_name, cluster.machines[0].vipu_cluster_id
    if vipu_cluster is None:
        return Failed("the machines are not under V-IPU", final=True)
    desired = Allocation(name, vipu_cluster, frozenset(machine.name for machine in cluster.machines))
    actual = await site.vipu.allocation(name)
    if actual is None:
        await site.vipu.create_allocation(desired)
        actual = await site.vipu.allocation(name)
    if actual is None:
        return Pending(f"{step_objects.controller(cluster)} makes allocation {name}")
    if (actual.cluster_id, actual.agent_ids) != (desired.cluster_id, desired.agent_ids):
        return Failed("the V-IPU allocation holds other machines than the cluster's", final=True)
    if actual.endpoint is None:
        return Failed(f"{step_objects.controller(cluster)} reports no user endpoint of allocation {name}")
    return AllocationAnswer(actual.endpoint)


async def test_cluster(site: Site, cluster: ClusterInputs) -> StepResult:
    if cluster.vipu is not None and not cluster.vipu.cluster_test:
        return Achieved(note=f"{step_objects.controller(cluster)} has no cluster test")
    # Each attempt gets its own test name: names are never used again.
    name = f"{cluster.external_name}-t{cluster.operation.step.attempts}"
    test = await site.vipu.cluster_test(name)
    if test is None:
        await site.vipu.start_cluster_test(name, cluster.external_name)
        test = await site.vipu.cluster_test(name)
    if test is None or test.state is TestState.RUNNING:
        return Pending(f"{step_objects.controller(cluster)} tests links and traffic between the IPUs")
    if test.state is TestState.FAILED:
        return await explained(site, cluster, f"the cluster test failed: {len(test.failures)} links failed")
    return Achieved()


async def create_partition(site: Site, cluster: ClusterInputs) -> StepResult:
    """Make the cluster's partition; in a repair or resize, those that it had.

    Those that do not fit any more, or that the controller refuses, are left out.
    """
    refused: list[str] = []
    requests = _partitions(cluster)
    fit = vipu_access.fitting({each.id: each.size for each in requests}, cluster.ipus)
    for request in sorted(requests, key=lambda each: -each.size):
        if request.id not in fit:
            refused.append(request.id)
            continue
        try:
            result = await _partition(site, cluster, request)
        except SiteRefused:
            if cluster.kept_partitions is None:
                raise
            refused.append(request.id)
            continue
        if not isinstance(result, Achieved):
            return result
    if refused:
        return Achieved(note=f"not made again, for want of room: {step_objects.listed('partition', refused)}")
    return Achieved()


def _partitions(cluster: ClusterInputs) -> list[PartitionRequest]:
    name, domains = cluster.external_name, vipu_access.gcds(cluster.ipus)
    # Over several IPU-Link domains it cannot be reconfigurable (V-IPU rule 5).
    whole = PartitionShape(cluster.ipus, gcds=domains, reconfigurable=cluster.reconfigurable and domains == 1)
    partitions = (KeptPartition(name, None),) if cluster.kept_partitions is None else cluster.kept_partitions
    return [PartitionRequest(each.name, name, **asdict(each.shape or whole)) for each in partitions]


async def _partition(site: Site, cluster: ClusterInputs, request: PartitionRequest) -> StepResult:
    allocation, name = request.allocation_id, request.id
    status = await site.vipu.partition_status(allocation, name)
    if status is None:
        await site.vipu.create_partition(request)
        status = await site.vipu.partition_status(allocation, name)
    match None if status is None else status.state:
        case PartitionState.ACTIVE:
            return Achieved()
        case PartitionState.ERROR if status is not None:
            return await _in_error(site, cluster, name, status)
        case PartitionState.REMOVED:
            return Failed("the partition was removed while the cluster was being built", final=True)
        case PartitionState.UNKNOWN:
            return Failed("the V-IPU controller reports a partition state that this version does not know")
        case _:
            return Pending(f"{step_objects.controller(cluster)} prepares partition {name}")


async def _in_error(site: Site, cluster: ClusterInputs, name: str, status: PartitionStatus) -> StepResult:
    """Failed hardware is exchanged at once. Otherwise the controller resets the partition by itself, a few times.

    A reset from here could arrive late, when the partition is in use.
    """
    errors = "; ".join(status.errors) or "no reason given"
    controller = step_objects.controller(cluster)
    failed = await explained(site, cluster, f"{controller} could not bring partition {name} up: {errors}")
    waits = status.resets_itself and cluster.operation.step.running_for < SELF_RESET_SECONDS
    if waits and not isinstance(failed, Faulty):
        resets = f"{status.resets} of {status.max_resets} times so far"
        return Pending(f"{controller} could not bring partition {name} up ({errors}) and resets it by itself, {resets}")
    return failed


async def check_ipus(site: Site, cluster: ClusterInputs) -> StepResult:
    """Every Poplar server must count every IPU of its graph compile domain with its own tools."""
    kept = cluster.kept_partitions
    if kept is not None and all(each.name != cluster.external_name for each in kept):
        return Achieved(note="not counted: the partition that the servers know was removed by the customer")
    working = [host.name for host in cluster.hosts if not host.failed]
    if cluster.hosts and not working:
        return Achieved(note="not counted: no Poplar server of the cluster works")
    answers = await asyncio.gather(*(site.hosts.get(name) for name in working), return_exceptions=True)
    unanswered = await silent(site, cluster, "host", zip(working, answers, strict=True))
    if unanswered is not None:
        return unanswered
    return await _counted(site, cluster, [answer for answer in answers if isinstance(answer, Host)])


async def _counted(site: Site, cluster: ClusterInputs, hosts: Sequence[Host]) -> StepResult:
    counts = [(host.name, host.ipus_visible) for host in hosts]
    if waiting := [name for name, count in counts if count is None]:
        return Pending(f"counting the IPUs from {step_objects.listed('host', waiting)}")
    expected = cluster.ipus if cluster.vipu is None else vipu_access.ipus_of_server(cluster.ipus)
    if wrong := [name for name, count in counts if count != expected]:
        detail = f"{step_objects.listed('host', wrong)} does not see {expected} IPUs"
        return Failed(detail) if cluster.vipu is None else await explained(site, cluster, detail)
    if preparing := [host.name for host in hosts if host.cloud_init and host.cloud_init.status == "running"]:
        return Pending(f"carrying out the user data on {step_objects.listed('host', preparing)}", endless=True)
    return Achieved(note=_user_data_errors(hosts))


def _user_data_errors(hosts: Sequence[Host]) -> str | None:
    """What of the user data failed. The cluster works without it, and its customer can look into it there."""
    failed = [(host.name, host.cloud_init.errors) for host in hosts if host.cloud_init and host.cloud_init.errors]
    if not failed:
        return None
    (name, errors), *others = failed
    more = f", and on {len(others)} more" if others else ""
    return f"the user data failed at the first boot of host {name}{more}: {'; '.join(errors)}"[:USER_DATA_NOTE]
