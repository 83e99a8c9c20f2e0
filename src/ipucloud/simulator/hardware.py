"""The hardware of the simulated site, built from its settings: regions, pods, machines and hosts. Pure.

Addresses follow the plan of a real 16-machine pod P: machine n has RNIC 10.5.P.n, BMC 10.1.P.n and gateway 10.2.P.n.
Pods beyond 255 continue in 10.15, 10.11 and 10.12, and so on by tens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ipucloud.simulator.settings import Settings
from ipucloud.wire.site import SiteHost, SiteMachine, SitePod

IPUS_PER_MACHINE = 4
DOMAIN_MACHINES = 16
PODS_PER_GW_GROUP = 16


@dataclass(frozen=True)
class RegionPlan:
    """A region of the first operator and the machine type that it sells."""

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
class Machine:
    """A machine and its place: `domain` counts the pods of its V-IPU cluster, `slot` the machines of its pod."""

    name: str
    region: RegionPlan
    cluster_id: str
    pod: str
    domain: int
    slot: int
    rnic: str


@dataclass(frozen=True)
class Region:
    """All hardware of one region."""

    plan: RegionPlan
    pods: tuple[SitePod, ...]
    hosts: tuple[SiteHost, ...]

    @cached_property
    def machines(self) -> dict[str, Machine]:
        """Every machine by name, in the order of the pods and slots."""
        return {
            wire.name: Machine(wire.name, self.plan, pod.cluster_id, pod.name, pod.position, wire.slot, wire.rnic)
            for pod in self.pods
            for wire in pod.machines
        }

    @cached_property
    def host_names(self) -> frozenset[str]:
        return frozenset(host.name for host in self.hosts)


def build_regions(settings: Settings) -> dict[str, Region]:
    """The regions of a site of this size, by slug."""
    return {plan.slug: _region(plan, settings) for plan in REGIONS}


def _region(plan: RegionPlan, settings: Settings) -> Region:
    pods = tuple(_pods(plan, settings))
    hosts = tuple(
        SiteHost(name=f"{plan.short}-h{number:03d}", address=f"10.3.{number // 250}.{number % 250 + 1}")
        for number in range(1, settings.hosts + 1)
    )
    return Region(plan, pods, hosts)


def _pods(plan: RegionPlan, settings: Settings) -> Iterator[SitePod]:
    machines, pod_size = settings.machines, settings.pod_size
    for index, first in enumerate(range(0, machines, pod_size)):
        group = f"{plan.short}-gw{index // PODS_PER_GW_GROUP + 1}"
        size = min(pod_size, machines - first)
        yield SitePod(
            name=f"{plan.short}-p{index + 1:03d}",
            machine_type=plan.machine_type,
            cluster_id=f"{group}-cluster",
            gw_group=group,
            position=index % PODS_PER_GW_GROUP,
            topology=_topology(size),
            gateway_topology=settings.gateway_topology,
            machines=[_machine(plan, index + 1, slot) for slot in range(size)],
        )


def _topology(size: int) -> Literal["mesh", "torus"]:
    return "torus" if size == DOMAIN_MACHINES else "mesh"


def _machine(plan: RegionPlan, pod: int, slot: int) -> SiteMachine:
    tens, octet = pod // 256 * 10, pod % 256
    return SiteMachine(
        name=f"{plan.short}-p{pod:03d}-m{slot + 1:02d}",
        slot=slot,
        rnic=f"10.{5 + tens}.{octet}.{slot + 1}",
        bmc=f"10.{1 + tens}.{octet}.{slot + 1}",
        gateway=f"10.{2 + tens}.{octet}.{slot + 1}",
    )
