"""The hardware of the simulated site, built from its settings: regions, pods, machines and hosts. Pure.

Addresses follow the plan of a real 16-machine pod P: machine n has RNIC 10.5.P.n, BMC 10.1.P.n and gateway 10.2.P.n.
Pods beyond 255 continue in 10.15, 10.11 and 10.12, and so on by tens.

Servers with IPUs of their own stand in a region without V-IPU: each is a machine, a pod of one and a host at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ipucloud.laboratory.simulator.settings import Numbering, Settings
from ipucloud.wire.inventory import SiteHost, SiteMachine, SitePod

IPUS_PER_MACHINE = 4
DOMAIN_MACHINES = 16
DOMAIN_IPUS = IPUS_PER_MACHINE * DOMAIN_MACHINES
PODS_PER_GW_GROUP = 16
_BY_IPU = [IPUS_PER_MACHINE * slot + ipu for ipu in range(IPUS_PER_MACHINE) for slot in range(DOMAIN_MACHINES)]
CLOCK = "1850MHz"
"""Of the IPUs of machine types that the site does not know."""


@dataclass(frozen=True)
class RegionPlan:
    """A machine type, and the region that has it. `short` begins the names of its machines."""

    slug: str
    short: str
    machine_type: str
    model: str
    clock: str


REGIONS = (
    RegionPlan("luxembourg-2", "lux2", "m2000", "IPU-M2000", "1330MHz"),
    RegionPlan("amsterdam-2", "ams2", "bow-2000", "Bow-2000", "1850MHz"),
)


@dataclass(frozen=True)
class ServerPlan(RegionPlan):
    """A kind of server with `ipus` IPUs of its own, so many on each board, cabled as a ladder or a line."""

    ipus: int
    ipus_per_board: int
    board: str
    architecture: str
    topology: Literal["ladder", "line"]


SERVERS = (
    ServerPlan("lab-1", "lab1-c", "c600-server", "C600 server", "1500MHz", 8, 1, "C600", "ipu21", "line"),
    ServerPlan("lab-1", "lab1-d", "dss8440", "DSS 8440", "1300MHz", 16, 2, "C2", "ipu1", "ladder"),
)


SLUGS = frozenset(plan.slug for plan in (*REGIONS, *SERVERS))
"""The regions of every site."""


@dataclass(frozen=True)
class Machine:
    """A machine and its place: `domain` counts the pods of its V-IPU cluster, `slot` the machines of its pod.

    `topology_ids` are the numbers of its IPUs at the V-IPU controller. A server with IPUs of its own is in no V-IPU
    cluster.
    """

    name: str
    region: RegionPlan
    cluster_id: str
    pod: str
    domain: int
    slot: int
    rnic: str
    topology_ids: tuple[int, ...]


@dataclass(frozen=True)
class Region:
    """All hardware of one region: machines of one type under V-IPU, or servers of several kinds without it.

    `chain` has the place along its domain's chain of every IPU, by topology id.
    """

    slug: str
    plans: tuple[RegionPlan, ...]
    pods: tuple[SitePod, ...]
    hosts: tuple[SiteHost, ...]
    chain: Sequence[int] = range(DOMAIN_IPUS)

    @cached_property
    def machines(self) -> dict[str, Machine]:
        """Every machine by name, in the order of the pods and slots."""
        plans = {plan.machine_type: plan for plan in self.plans}
        return {
            wire.name: Machine(
                wire.name,
                plans[pod.machine_type],
                pod.cluster_id or "",
                pod.name,
                pod.position,
                wire.slot,
                wire.rnic,
                tuple(wire.numbers),
            )
            for pod in self.pods
            for wire in pod.machines
        }

    @cached_property
    def controlled(self) -> dict[str, Region]:
        """The part of the region that each of its V-IPU controllers has, by the controller's name."""
        pods: dict[str, list[SitePod]] = {}
        for pod in self.pods:
            if pod.cluster_id is not None:
                pods.setdefault(pod.controller or self.slug, []).append(pod)
        return {name: replace(self, pods=tuple(members)) for name, members in pods.items()}

    @property
    def under_vipu(self) -> bool:
        return not any(isinstance(plan, ServerPlan) for plan in self.plans)

    def server_on(self, host: str) -> Machine | None:
        """The machine that the host itself is."""
        return None if self.under_vipu else self.machines.get(host)

    @cached_property
    def host_names(self) -> frozenset[str]:
        return frozenset(host.name for host in self.hosts)


def build_regions(settings: Settings) -> dict[str, Region]:
    """The regions of a site of this size, by slug."""
    further = (_further(slug, machine_type) for slug, machine_type in settings.regions)
    regions = {plan.slug: _region(plan, settings) for plan in (*REGIONS, *further)}
    for slug in {plan.slug: None for plan in SERVERS}:
        regions[slug] = _laboratory(slug, [plan for plan in SERVERS if plan.slug == slug], settings.servers)
    return regions


def _further(slug: str, machine_type: str) -> RegionPlan:
    """A region of the site's configuration; of an unknown machine type only the name is known."""
    known = next((plan for plan in REGIONS if plan.machine_type == machine_type), None)
    return replace(known, slug=slug, short=slug) if known else RegionPlan(slug, slug, machine_type, machine_type, CLOCK)


def _region(plan: RegionPlan, settings: Settings) -> Region:
    pods = tuple(_pods(plan, settings))
    hosts = tuple(
        SiteHost(name=f"{plan.short}-h{number:03d}", address=f"10.3.{number // 250}.{number % 250 + 1}")
        for number in range(1, settings.hosts + 1)
    )
    chain = _BY_IPU if settings.numbering == "by-ipu" else range(DOMAIN_IPUS)
    return Region(plan.slug, (plan,), pods, hosts, chain)


def _laboratory(slug: str, plans: Sequence[ServerPlan], count: int) -> Region:
    """`count` servers of each kind."""
    pods, hosts = [], []
    for kind, plan in enumerate(plans):
        for number in range(1, count + 1):
            name, rnic = f"{plan.short}{number:03d}", f"10.6.{kind}.{number}"
            pods.append(
                SitePod(
                    name=name,
                    machine_type=plan.machine_type,
                    gw_group=name,
                    position=0,
                    topology=plan.topology,
                    machines=[SiteMachine(name=name, slot=0, rnic=rnic, bmc=f"10.7.{kind}.{number}")],
                )
            )
            hosts.append(SiteHost(name=name, address=rnic, machine=name))
    return Region(slug, tuple(plans), tuple(pods), tuple(hosts))


def _pods(plan: RegionPlan, settings: Settings) -> Iterator[SitePod]:
    machines, pod_size = settings.machines, settings.pod_size
    grouped = settings.pods_per_controller or PODS_PER_GW_GROUP
    for index, first in enumerate(range(0, machines, pod_size)):
        number, position = index // grouped + 1, index % grouped
        group = f"{plan.short}-gw{number}"
        size = min(pod_size, machines - first)
        yield SitePod(
            name=f"{plan.short}-p{index + 1:03d}",
            machine_type=plan.machine_type,
            cluster_id=f"{group}-cluster",
            controller=f"{plan.slug}-c{number}" if settings.pods_per_controller else None,
            gw_group=group,
            position=position,
            topology=_topology(size),
            gateway_topology=settings.gateway_topology,
            machines=[_machine(plan, index + 1, slot, settings.numbering) for slot in range(size)],
        )


def _topology(size: int) -> Literal["mesh", "torus"]:
    return "torus" if size == DOMAIN_MACHINES else "mesh"


def _machine(plan: RegionPlan, pod: int, slot: int, numbering: Numbering) -> SiteMachine:
    tens, octet = pod // 256 * 10, pod % 256
    return SiteMachine(
        name=f"{plan.short}-p{pod:03d}-m{slot + 1:02d}",
        slot=slot,
        rnic=f"10.{5 + tens}.{octet}.{slot + 1}",
        bmc=f"10.{1 + tens}.{octet}.{slot + 1}",
        gateway=f"10.{2 + tens}.{octet}.{slot + 1}",
        topology_ids=list(range(slot, DOMAIN_IPUS, DOMAIN_MACHINES)) if numbering == "by-ipu" else None,
    )
