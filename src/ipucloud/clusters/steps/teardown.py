"""The steps that remove a cluster from the site. They work in any state of construction, and never give up.

Hardware that is dead is left, isolated (`cleaning`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ipucloud.clusters.inputs import ClusterAct, ClusterInputs, MachineInput
from ipucloud.clusters.step_objects import controller, listed, network
from ipucloud.clusters.steps.cleaning import Cleaned, Leftover, Progress, clean
from ipucloud.clusters.steps.poplar_servers import switch_off_poplar_servers, wipe_poplar_servers
from ipucloud.clusters.steps.vipu_user import remove_vipu_user
from ipucloud.inventory.cleanings import Evidence
from ipucloud.operations.results import Achieved, Pending, StepResult
from ipucloud.site.ports import Site

QUARANTINE = "waiting until no earlier request can take effect any more"
"""What is shown while the released machines are in quarantine."""


async def remove_partitions(site: Site, cluster: ClusterInputs) -> StepResult:
    """Ours and the customer's: all of this cluster's allocation and of no other."""
    if await site.vipu.list_partitions(cluster.external_name):
        await site.vipu.remove_partitions(cluster.external_name)
        if remaining := await site.vipu.list_partitions(cluster.external_name):
            return Pending(f"{controller(cluster)} removes {listed('partition', sorted(remaining))}")
    return Achieved()


async def remove_allocation(site: Site, cluster: ClusterInputs) -> StepResult:
    if await site.vipu.allocation(cluster.external_name) is not None:
        # A request in flight when the partitions were removed may have made one since, which would stay for ever.
        emptied = await remove_partitions(site, cluster)
        if not isinstance(emptied, Achieved):
            return emptied
        await site.vipu.remove_allocation(cluster.external_name)
        if await site.vipu.allocation(cluster.external_name) is not None:
            return Pending(f"{controller(cluster)} removes allocation {cluster.external_name}")
    return Achieved()


async def detach_network(site: Site, cluster: ClusterInputs) -> StepResult:
    if await site.networks.get(cluster.external_name) is not None:
        await site.networks.delete(cluster.external_name)
        if await site.networks.get(cluster.external_name) is not None:
            return Pending(f"removing {network(cluster)}")
    return Achieved()


async def power_off_machines(site: Site, cluster: ClusterInputs) -> StepResult:
    """Switching off clears the IPUs' memory and the streaming memory, so no data is left for the next customer.

    A server with IPUs of its own is switched off when it is wiped; here its BMC is asked to confirm that.
    """
    off = partial(_off, site, cluster)
    return await clean(site, cluster, cluster.machines, off, kind="machine", doing="switching off")


async def _off(site: Site, cluster: ClusterInputs, machine: MachineInput) -> Progress:
    system = await site.machines.get(machine.name)
    if system.PowerState == "On":
        await site.machines.power_off(machine.name, cluster.external_name)
        system = await site.machines.get(machine.name)
    failed = f"machine {machine.name} failed" if system.Status.Health == "Critical" else None
    return Progress(system.PowerState == "Off", failed, observed={"power": system.PowerState})


async def verify_clean(site: Site, cluster: ClusterInputs) -> StepResult:
    """Confirm that nothing is left, by an observation made after the longest life of any earlier request.

    A delayed duplicate of an old request may have built something meanwhile: it is removed here, and the machines stay
    held until a reconcile pass finds nothing.
    """
    return await _verified(site, cluster, (wipe_poplar_servers, *_TAKE_DOWNS))


async def verify_suspended(site: Site, cluster: ClusterInputs) -> StepResult:
    """The same, except for the servers: they are off, and stay."""
    return await _verified(site, cluster, (switch_off_poplar_servers, *_TAKE_DOWNS))


async def _verified(site: Site, cluster: ClusterInputs, removals: Sequence[ClusterAct]) -> StepResult:
    if cluster.quarantine_left > 0:
        return Pending(QUARANTINE, recheck=cluster.quarantine_left)
    leftovers: list[Leftover] = []
    observed: dict[str, Evidence] = {}
    for remove in removals:
        result = await remove(site, cluster)
        if not isinstance(result, Achieved):
            return result
        if isinstance(result, Cleaned):
            leftovers += result.leftovers
            observed |= result.observed
    ours = {machine.name for machine in cluster.machines}
    for vipu_cluster in {machine.vipu_cluster_id for machine in cluster.machines if machine.vipu_cluster_id}:
        for allocation in await site.vipu.list_allocations(vipu_cluster):
            if held := sorted(allocation.agent_ids & ours):
                sentence = f"{controller(cluster)} has {listed('machine', held)} of this cluster in another allocation"
                return Pending(f"{sentence}; if this persists, an operator must act")
    # Each removal has ended by reading that its object is not there.
    gone = {"network": "none"} | ({} if cluster.vipu is None else {"vipu_allocation": "none", "partitions": "none"})
    return Cleaned(tuple(leftovers), {each: {**facts, **gone} for each, facts in observed.items()})


_TAKE_DOWNS = (
    remove_partitions,
    remove_vipu_user,
    remove_allocation,
    detach_network,
    power_off_machines,
)
