"""What the controller knows of its hardware: clusters of IPU-Link domains of agents. Pure.

An IPU's place in its domain is `4 * slot + ipu`, 0 to 63, whether or not every slot holds a machine; sets of IPUs of
one domain are bit masks over these places. On the wire an IPU has its topology id, which can be another number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ipucloud.laboratory.simulator.hardware import IPUS_PER_MACHINE, Machine, Region
from ipucloud.laboratory.simulator.vipu.model import ClusterRecord, FleetChanges


@dataclass(frozen=True)
class Cluster:
    """Agents by domain and slot. `domain` of an agent counts the pods of its cluster."""

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


class Fleet:
    """Every agent and cluster of one controller.

    It begins with the whole inventory: a cluster for every group of pods that are joined by GW-Links. `changes` is
    what the controller's administrators made of that since.
    """

    def __init__(self, region: Region, changes: FleetChanges) -> None:
        self.region = region
        removed = frozenset(changes.removed_agents)
        self.agents = {name: machine for name, machine in region.machines.items() if name not in removed}
        self.clusters: dict[str, Cluster] = {}
        self._pods = {pod.name: pod for pod in region.pods}
        members: dict[str, list[str]] = {}
        for machine in region.machines.values():
            members.setdefault(machine.cluster_id, []).append(machine.name)
        for cluster_id, names in members.items():
            if cluster_id in changes.removed_clusters:
                self._leave(names)
            else:
                self.join(ClusterRecord(cluster_id, names, *self.cabling(names)))
        for record in changes.clusters.values():
            self.join(record)

    def pods_of(self, names: Iterable[str]) -> list[str]:
        """The pods that these machines are in, in the order of the inventory."""
        pods = {self.region.machines[name].pod for name in names}
        return [name for name in self._pods if name in pods]

    def cabling(self, names: Iterable[str]) -> tuple[bool, bool]:
        """Whether these machines are cabled as tori, and their gateways in loops."""
        members = set(names)
        pods = [self._pods[pod] for pod in self.pods_of(members)]
        torus = all(pod.topology == "torus" and all(m.name in members for m in pod.machines) for pod in pods)
        return torus, all(pod.gateway_topology == "looped" for pod in pods)

    def neighbours(self, pods: Sequence[str]) -> bool:
        """Whether each of these pods is joined to the next by GW-Links."""
        places = [(self._pods[pod].gw_group, self._pods[pod].position) for pod in pods]
        return all(after == (group, position + 1) for (group, position), after in pairwise(places))

    def enlist(self, machine: Machine) -> None:
        """Take a machine up as an agent in no cluster."""
        self.agents[machine.name] = replace(machine, cluster_id="")

    def join(self, record: ClusterRecord) -> Cluster:
        """Make agents a cluster."""
        domains = {pod: number for number, pod in enumerate(self.pods_of(record.agent_ids))}
        members = [
            replace(machine, cluster_id=record.id, domain=domains[machine.pod])
            for machine in (self.agents[name] for name in record.agent_ids)
        ]
        members.sort(key=lambda machine: (machine.domain, machine.slot))
        cluster = Cluster(record.id, tuple(members), record.torus, record.looped)
        self.clusters[cluster.id] = cluster
        self.agents.update((machine.name, machine) for machine in members)
        return cluster

    def part(self, cluster_id: str) -> None:
        """Dissolve a cluster. Its agents stay, in none."""
        self._leave([agent.name for agent in self.clusters.pop(cluster_id).agents])

    def _leave(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.agents:
                self.agents[name] = replace(self.agents[name], cluster_id="")


def machine_mask(slot: int) -> int:
    """The four IPUs of the machine in `slot`."""
    return 0b1111 << IPUS_PER_MACHINE * slot


def masks_of(agents: Iterable[Machine]) -> dict[int, int]:
    """The IPUs of these agents: a mask for every domain."""
    masks: dict[int, int] = {}
    for agent in agents:
        masks[agent.domain] = masks.get(agent.domain, 0) | machine_mask(agent.slot)
    return masks
