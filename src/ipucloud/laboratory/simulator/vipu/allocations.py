"""Allocations: whole machines of one cluster, set apart for one tenant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ipucloud.laboratory.simulator.hardware import DOMAIN_IPUS, IPUS_PER_MACHINE, Machine
from ipucloud.laboratory.simulator.refusal import exhausted, exists, invalid, not_found, precondition
from ipucloud.laboratory.simulator.vipu.blocks import find_blocks
from ipucloud.laboratory.simulator.vipu.callers import EVERYBODY, Caller
from ipucloud.laboratory.simulator.vipu.context import Context
from ipucloud.laboratory.simulator.vipu.model import Allocation
from ipucloud.laboratory.simulator.vipu.rules import check_id, is_power_of_two
from ipucloud.laboratory.simulator.vipu.topology import Cluster, masks_of


class Allocations:
    """Creates, finds and removes allocations. An agent is in one allocation at most."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._owner = {
            agent: allocation.id for allocation in context.state.allocations.values() for agent in allocation.agent_ids
        }
        self._partitions: defaultdict[str, set[str]] = defaultdict(set)

    def owner_of(self, agent: str) -> str | None:
        """The allocation that holds the agent."""
        return self._owner.get(agent)

    def partitions_in(self, name: str) -> set[str]:
        """The keys of an allocation's partitions, as the placing of partitions keeps them."""
        return self._partitions[name]

    def get(self, name: str, caller: Caller = EVERYBODY) -> Allocation:
        allocation = self._context.state.allocations.get(name)
        if allocation is None or not caller.sees(name):
            raise not_found(f"allocation {name!r} does not exist")
        return allocation

    def all(self, cluster_id: str = "", caller: Caller = EVERYBODY) -> list[Allocation]:
        """Every allocation that the caller sees (of one cluster, when it is named), by id."""
        allocations = (a for _, a in sorted(self._context.state.allocations.items()))
        return [a for a in allocations if cluster_id in {"", a.cluster_id} and caller.sees(a.id)]

    def cluster(self, name: str) -> Cluster:
        cluster = self._context.fleet.clusters.get(name)
        if cluster is None:
            raise not_found(f"cluster {name!r} does not exist")
        return cluster

    def create(self, name: str, cluster_id: str, agent_ids: Sequence[str], size: int) -> Allocation:
        """An allocation of the named agents, or of `size` free machines when none is named."""
        check_id("allocation", name)
        if name in self._context.state.allocations:
            raise exists(f"allocation {name!r} exists")
        cluster = self.cluster(cluster_id)
        agents = list(agent_ids) if agent_ids else self._choose(cluster, size)
        if agent_ids:
            self._check_agents(cluster, agents)
        allocation = Allocation(name, cluster_id, agents)
        self._context.state.allocations[name] = allocation
        self._owner.update(dict.fromkeys(agents, name))
        self._context.changed()
        return allocation

    def remove(self, name: str) -> None:
        """Give the machines back. Refused while partitions live in the allocation."""
        allocation = self.get(name)
        state = self._context.state
        living = sorted(key.partition("/")[2] for key in self._partitions[name])
        if living:
            raise precondition(f"allocation {name!r} holds partitions: {', '.join(living)}; remove them first")
        del state.allocations[name], self._partitions[name]
        for user in state.users.values():
            if name in user.allocation_ids:
                user.allocation_ids.remove(name)
        for agent in allocation.agent_ids:
            self._owner.pop(agent, None)
        for test in [t.id for t in state.tests.values() if t.allocation_id == name]:
            del state.tests[test]
        self._context.changed()

    def _check_agents(self, cluster: Cluster, agents: list[str]) -> None:
        if len(set(agents)) != len(agents):
            raise invalid("an agent is listed twice")
        for agent in agents:
            machine = self._context.fleet.agents.get(agent)
            if machine is None:
                raise not_found(f"agent {agent!r} does not exist")
            if machine.cluster_id != cluster.id:
                raise invalid(f"agent {agent!r} is in {_where(machine)}, not in cluster {cluster.id!r}")
            if agent in self._owner:
                raise exhausted(f"no free allocation: agent {agent!r} is in allocation {self._owner[agent]!r}")

    def _choose(self, cluster: Cluster, size: int) -> list[str]:
        if size < 1:
            raise invalid("an allocation needs agent_ids, or a size of at least one machine")
        free = [a for a in cluster.agents if a.name not in self._owner and self._context.reachable(a.name)]
        if len(free) < size:
            silent = sum(a.name not in self._owner for a in cluster.agents) - len(free)
            off = f" and switched on; {silent} more are free, but switched off or do not answer" if silent else ""
            raise exhausted(f"no free allocation: {size} machines are asked for, {len(free)} are free{off}")
        return [agent.name for agent in self._aligned(cluster, free, size) or free[:size]]

    @staticmethod
    def _aligned(cluster: Cluster, free: list[Machine], size: int) -> list[Machine] | None:
        """Machines that form whole buddy blocks, when the size allows any and one is free."""
        if not is_power_of_two(size):
            return None
        ipus = size * IPUS_PER_MACHINE
        blocks = find_blocks(masks_of(free), ipus, max(1, ipus // DOMAIN_IPUS))
        if blocks is None:
            return None
        return [cluster.by_place[block.domain, slot] for block in blocks for slot in block.slots]


def _where(machine: Machine) -> str:
    return f"cluster {machine.cluster_id!r}" if machine.cluster_id else "no cluster"
