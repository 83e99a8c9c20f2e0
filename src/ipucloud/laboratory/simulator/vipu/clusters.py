"""Agents and clusters: which machines the controller knows, and how it joins them."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found, precondition
from ipucloud.laboratory.simulator.vipu.context import Context
from ipucloud.laboratory.simulator.vipu.model import ClusterRecord
from ipucloud.laboratory.simulator.vipu.rules import check_id
from ipucloud.laboratory.simulator.vipu.topology import Cluster


class Clusters:
    """Every agent and cluster of one controller. An agent is a machine under its own name, in one cluster at most."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._fleet = context.fleet

    def agent(self, name: str) -> Machine:
        agent = self._fleet.agents.get(name)
        if agent is None:
            raise not_found(f"agent {name!r} does not exist")
        return agent

    def create_agent(self, name: str, host: str) -> Machine:
        """Take a machine up as an agent. It may be silent; `host` is checked when it is given."""
        if name in self._fleet.agents:
            raise exists(f"agent {name!r} exists")
        machine = self._fleet.region.machines.get(name)
        if machine is None:
            raise not_found(f"no machine of this site is named {name!r}; discover agents to see those that answer")
        if host not in {"", machine.rnic}:
            raise invalid(f"agent {name!r} answers at {machine.rnic}, not at {host}")
        self._context.state.fleet.removed_agents.remove(name)
        self._fleet.enlist(machine)
        self._context.changed()
        return self._fleet.agents[name]

    def remove_agent(self, name: str) -> None:
        """Forget an agent that is in no cluster."""
        agent = self.agent(name)
        if agent.cluster_id:
            raise precondition(f"agent {name!r} is in cluster {agent.cluster_id!r}; remove the cluster first")
        del self._fleet.agents[name]
        self._context.state.fleet.removed_agents.append(name)
        self._context.changed()

    def discover(self) -> list[Machine]:
        """The machines that answer and are no agents."""
        names = self._context.state.fleet.removed_agents
        return [self._fleet.region.machines[name] for name in sorted(names) if self._context.reachable(name)]

    def get(self, name: str) -> Cluster:
        cluster = self._fleet.clusters.get(name)
        if cluster is None:
            raise not_found(f"cluster {name!r} does not exist")
        return cluster

    def all(self) -> list[Cluster]:
        """Every cluster, by id."""
        return [cluster for _, cluster in sorted(self._fleet.clusters.items())]

    def create(
        self, name: str, agent_ids: Sequence[str], *, torus: bool | None, domains: int, looped: bool | None
    ) -> Cluster:
        """Join agents. None, and 0 domains, mean: as they are cabled."""
        check_id("cluster", name)
        if name in self._fleet.clusters:
            raise exists(f"cluster {name!r} exists")
        self._check_agents(agent_ids)
        self._check_domains(agent_ids, domains)
        torus, looped = self._topology(agent_ids, torus, looped)
        record = ClusterRecord(name, list(agent_ids), torus, looped)
        self._context.state.fleet.clusters[name] = record
        self._context.changed()
        return self._fleet.join(record)

    def remove(self, name: str) -> None:
        """Dissolve a cluster that holds no allocation."""
        self.get(name)
        state = self._context.state
        held = sorted(a.id for a in state.allocations.values() if a.cluster_id == name)
        if held:
            raise precondition(f"cluster {name!r} holds allocations: {', '.join(held)}; remove them first")
        self._fleet.part(name)
        if state.fleet.clusters.pop(name, None) is None:
            state.fleet.removed_clusters.append(name)
        self._context.changed()

    def _check_agents(self, agent_ids: Sequence[str]) -> None:
        if not agent_ids:
            raise invalid("a cluster needs at least one agent")
        if len(set(agent_ids)) != len(agent_ids):
            raise invalid("an agent is listed twice")
        for name in agent_ids:
            cluster_id = self.agent(name).cluster_id
            if cluster_id:
                raise invalid(f"agent {name!r} is in cluster {cluster_id!r}; an agent is in one cluster only")

    def _check_domains(self, agent_ids: Sequence[str], domains: int) -> None:
        names = self._fleet.pods_of(agent_ids)
        if domains not in {0, len(names)}:
            raise invalid(f"the agents lie in {len(names)} IPU-Link domains ({', '.join(names)}), not in {domains}")
        if not self._fleet.neighbours(names):
            raise invalid(f"the IPU-Link domains {', '.join(names)} are not joined by GW-Links, one after the other")

    def _topology(self, agent_ids: Sequence[str], torus: bool | None, looped: bool | None) -> tuple[bool, bool]:
        cabled_torus, cabled_loop = self._fleet.cabling(agent_ids)
        if torus and not cabled_torus:
            raise precondition("a torus needs whole IPU-Link domains whose chain is closed; these agents form a mesh")
        if looped not in {None, cabled_loop}:
            raise precondition(f"the gateways of these agents are cabled {'looped' if cabled_loop else 'switched'}")
        return cabled_torus if torus is None else torus, cabled_loop
