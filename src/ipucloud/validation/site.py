"""What a validation does at the site. Every function reads first, and can be repeated.

A machine that is in no tenant network accepts requests about its power under any network's name. Naming the validation
makes the site refuse them once a tenant has the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ipucloud.site.ports import Site, SiteBusy, SiteUnknown
from ipucloud.site.vipu_ports import Allocation, ClusterTest, TestState
from ipucloud.validation.inputs import Pod
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.redfish import RedfishSystem

FINDINGS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is waited for. `for_machines`: the machines that are not there yet.

    `requested`: others were asked to do something, and did it.
    """

    why: str
    for_machines: tuple[str, ...] = ()
    requested: bool = False


@dataclass(frozen=True, slots=True)
class Tested:
    """The end of a test. `failures`: what is wrong with which machine.

    `unexplained`: why it did not pass although no machine is known to be the cause. `concluded`: it was carried out.
    """

    failures: Mapping[str, str]
    unexplained: str | None = None
    concluded: bool = False


async def test(site: Site, pod: Pod, name: str) -> Waiting | Tested:
    """Switch the machines on, join them into an allocation, and test it. Raises SiteError when the site is silent."""
    machines = [each.machine for each in pod.batch]
    allocation = await site.vipu.allocation(name)
    switched = await _switch(site, machines, name, on=True)
    systems = {each: None if seen is None else seen.system for each, seen in switched.items()}
    if critical := {each for each, seen in systems.items() if seen is not None and seen.Status.Health == "Critical"}:
        return Tested(dict.fromkeys(critical, "its BMC reports its health as Critical"))
    off = tuple(each for each, seen in systems.items() if seen is None or seen.PowerState != "On")
    if off:
        return Waiting("switching on", off)
    if allocation is None:
        await site.vipu.create_allocation(Allocation(name, pod.vipu_cluster_id, frozenset(machines)))
        allocation = await site.vipu.allocation(name)
    if allocation is None:
        return Waiting("the controller makes the allocation")
    if pod.vipu is not None and not pod.vipu.cluster_test:
        # Without traffic, what the controller shows of links and agents is all that there is to judge by.
        return Tested(await _at_fault(site, name, machines, "the controller has no cluster test"), concluded=True)
    return await _test_links(site, name, machines)


async def _test_links(site: Site, name: str, machines: Sequence[str]) -> Waiting | Tested:
    result = await site.vipu.cluster_test(f"{name}-t")
    if result is None:
        await site.vipu.start_cluster_test(f"{name}-t", name)
        result = await site.vipu.cluster_test(f"{name}-t")
    if result is None or result.state is TestState.RUNNING:
        return Waiting("the controller tests links and traffic")
    if result.state is TestState.PASSED:
        return Tested({})
    return await _explained(site, result, name, machines)


async def _explained(site: Site, failed: ClusterTest, name: str, machines: Sequence[str]) -> Tested:
    what = f"the cluster test failed: {'; '.join(failed.failures[:FINDINGS_SHOWN])}"
    failures = await _at_fault(site, name, machines, what)
    return Tested(failures, None if failures else what, concluded=True)


async def _at_fault(site: Site, name: str, machines: Sequence[str], what: str) -> Mapping[str, str]:
    """Both ends of a link are at fault: which of them, or the cable, a person must find out."""
    links = [link for link in await site.vipu.links(name) if link.state is not LinkState.UP]
    failures = {
        end: f"{what}; {link.kind} link {' to '.join(link.ends)} {link.state}" for link in links for end in link.ends
    }
    answering = {agent.id for agent in await site.vipu.agents() if agent.reachable}
    return failures | dict.fromkeys(set(machines) - answering, f"{what}; its V-IPU agent does not answer")


async def clear(site: Site, name: str, machines: Sequence[str]) -> Waiting | None:
    """Remove the allocation and switch the machines off; None when neither was left to do, so no request was sent.

    Raises SiteError when the site is silent.
    """
    if await site.vipu.allocation(name) is not None:
        if await site.vipu.list_partitions(name):
            await site.vipu.remove_partitions(name)
        await site.vipu.remove_allocation(name)
        return Waiting("the controller removes the allocation")
    switched = await _switch(site, machines, name, on=False)
    running = tuple(each for each, seen in switched.items() if seen is None or seen.system.PowerState != "Off")
    requested = any(seen.requested for each, seen in switched.items() if seen is not None and each not in running)
    return Waiting("switching off", running, requested) if running or requested else None


async def foreign_allocation(site: Site, pod: Pod, machines: Sequence[str]) -> str | None:
    """An allocation of the pod's V-IPU cluster that has some of the machines."""
    for allocation in await site.vipu.list_allocations(pod.vipu_cluster_id):
        if not allocation.agent_ids.isdisjoint(machines):
            return allocation.id
    return None


class _Switched(NamedTuple):
    """A machine after it was looked at. `requested`: it was asked to switch itself on or off first."""

    system: RedfishSystem
    requested: bool


async def _switch(site: Site, machines: Sequence[str], name: str, *, on: bool) -> Mapping[str, _Switched | None]:
    """Have the machines switch themselves on or off; None for one that does not answer."""
    results = await asyncio.gather(*(_switched(site, each, name, on=on) for each in machines), return_exceptions=True)
    answers: dict[str, _Switched | None] = {}
    for machine, answer in zip(machines, results, strict=True):
        if isinstance(answer, BaseException) and not isinstance(answer, SiteBusy | SiteUnknown):
            raise answer
        answers[machine] = None if isinstance(answer, BaseException) else answer
    if None in answers.values():
        # Only a site that answers shows that it is the hardware which does not.
        await site.networks.get(name)
    return answers


async def _switched(site: Site, machine: str, name: str, *, on: bool) -> _Switched:
    system = await site.machines.get(machine)
    if on and system.PowerState == "Off" and system.Status.Health != "Critical":
        await site.machines.power_on(machine, name)
    elif not on and system.PowerState == "On":
        await site.machines.power_off(machine, name)
    else:
        return _Switched(system, requested=False)
    return _Switched(await site.machines.get(machine), requested=True)
