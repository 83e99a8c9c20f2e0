"""What the controller knows of its hardware: clusters of IPU-Link domains of agents. Pure.

An IPU's place in its domain is `4 * slot + ipu`, 0 to 63, whether or not every slot holds a machine; sets of IPUs of
one domain are bit masks over these places.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from ipucloud.simulator.hardware import IPUS_PER_MACHINE, Machine, Region

DOMAIN_IPUS = 64


@dataclass(frozen=True)
class Cluster:
    """Agents of one GW-Link group, by domain and slot. Topologies are those of the inventory."""

    id: str
    agents: tuple[Machine, ...]
    torus: bool
    looped: bool

    @cached_property
    def by_place(self) -> dict[tuple[int, int], Machine]:
        """Agents by (domain, slot)."""
        return {(agent.domain, agent.slot): agent for agent in self.agents}

    @cached_property
    def domains(self) -> tuple[int, ...]:
        return tuple(sorted({agent.domain for agent in self.agents}))


@dataclass(frozen=True)
class Fleet:
    """Every cluster and agent of one controller."""

    clusters: dict[str, Cluster] = field(default_factory=dict)
    agents: dict[str, Machine] = field(default_factory=dict)


def fleet_of(region: Region) -> Fleet:
    """The clusters that a region's inventory describes."""
    members: dict[str, list[Machine]] = {}
    for machine in region.machines.values():
        members.setdefault(machine.cluster_id, []).append(machine)
    pods = {pod.cluster_id: [p for p in region.pods if p.cluster_id == pod.cluster_id] for pod in region.pods}
    return Fleet(
        clusters={
            cluster_id: Cluster(
                cluster_id,
                tuple(agents),
                torus=all(pod.topology == "torus" for pod in pods[cluster_id]),
                looped=all(pod.gateway_topology == "looped" for pod in pods[cluster_id]),
            )
            for cluster_id, agents in members.items()
        },
        agents=region.machines,
    )


def machine_mask(slot: int) -> int:
    """The four IPUs of the machine in `slot`."""
    return 0b1111 << IPUS_PER_MACHINE * slot


def masks_of(agents: Iterable[Machine]) -> dict[int, int]:
    """The IPUs of these agents: a mask for every domain."""
    masks: dict[int, int] = {}
    for agent in agents:
        masks[agent.domain] = masks.get(agent.domain, 0) | machine_mask(agent.slot)
    return masks
