"""Failures of a build step because of hardware of the cluster, which other hardware could replace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.step_objects import listed
from ipucloud.operations.results import Failed
from ipucloud.site.ports import Site, SiteBusy, SiteUnknown
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.site import Host, HostState

Answer = TypeVar("Answer")

_BEFORE_POWER = frozenset({"attach_network", "power_on_machines"})
"""Steps during which machines may be off."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A machine or host, and what is wrong with it."""

    kind: Literal["machine", "host"]
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Faulty(Failed):
    """The step failed because of these machines and hosts."""

    hardware: tuple[Fault, ...] = ()


def faulty(kind: Literal["machine", "host"], names: Sequence[str], why: str, *, outage: bool = False) -> Faulty:
    """`why` follows the names in the sentence."""
    hardware = tuple(Fault(kind, name, f"{kind} {name} {why}") for name in names)
    return Faulty(f"{listed(kind, names)} {why}", outage=outage, hardware=hardware)


async def silent(
    site: Site,
    cluster: ClusterInputs,
    kind: Literal["machine", "host"],
    answers: Iterable[tuple[str, Answer | BaseException]],
) -> Faulty | None:
    """The hardware that did not answer. Raises SiteError when the site itself does not, and what else was raised."""
    pairs = list(answers)
    for _, answer in pairs:
        if isinstance(answer, BaseException) and not isinstance(answer, (SiteBusy, SiteUnknown)):
            raise answer
    names = [name for name, answer in pairs if isinstance(answer, BaseException)]
    if not names:
        return None
    await site.networks.get(cluster.external_name)
    return faulty(kind, names, "did not answer; the next check reads the state first", outage=True)


async def explained(site: Site, cluster: ClusterInputs, detail: str) -> Failed:
    """A failure of the machines together, with those that their BMCs and links show to be the cause."""
    return _because(detail, await _machine_faults(site, cluster, switched_on=True))


async def examined(site: Site, cluster: ClusterInputs, detail: str) -> Faulty | None:
    """The failure of a step that does not come to its end, if any of the cluster's hardware is seen to be the cause.

    Raises SiteError.
    """
    on = cluster.operation.step.name not in _BEFORE_POWER
    faults = await _machine_faults(site, cluster, switched_on=on) if cluster.vipu is not None else []
    working = [host.name for host in cluster.hosts if not host.failed]
    hosts = await asyncio.gather(*(site.hosts.get(name) for name in working), return_exceptions=True)
    faults += [
        Fault("host", host.name, f"host {host.name} has failed")
        for host in hosts
        if isinstance(host, Host) and host.state is HostState.FAILED
    ]
    failed = _because(detail, faults)
    return failed if isinstance(failed, Faulty) else None


async def _machine_faults(site: Site, cluster: ClusterInputs, *, switched_on: bool) -> list[Fault]:
    """Of machines and the links between them. `switched_on`: one that is off has failed, too."""
    reads = (site.machines.get(machine.name) for machine in cluster.machines)
    systems = await asyncio.gather(*reads, return_exceptions=True)
    down = [link for link in await site.vipu.links(cluster.external_name) if link.state is LinkState.DOWN]
    faults = {
        end: f"the {link.kind} link between machines {link.ends[0]} and {link.ends[1]} is down"
        for link in down
        for end in link.ends
    }
    for machine, system in zip(cluster.machines, systems, strict=True):
        if isinstance(system, BaseException):
            continue  # a silent BMC alone keeps no step from its end, but those that ask it, which say so
        if system.Status.Health == "Critical" or (switched_on and system.PowerState != "On"):
            faults[machine.name] = f"machine {machine.name} has failed"
    return [Fault("machine", name, why) for name, why in sorted(faults.items())]


def _because(detail: str, faults: Sequence[Fault]) -> Failed:
    if not faults:
        return Failed(detail)
    causes = "; ".join(dict.fromkeys(fault.why for fault in faults))
    return Faulty(f"{detail}: {causes}", hardware=tuple(faults))
