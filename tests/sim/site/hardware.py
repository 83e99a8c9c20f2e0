"""The site itself: what changes do to it, and what time does. Semantics are those of the simulated site process.

A change is accepted or refused at once and completes later. Names are unique, a machine is in one allocation, a port
in one network, a partition lives in an allocation.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ipucloud.site.errors import SiteBusy, SiteRefused
from ipucloud.site.ports import Allocation, PartitionRequest, PartitionState, UserEndpoint, VipuUser
from ipucloud.wire.links import LinkState
from ipucloud.wire.site import HostState, NetworkSpec, NetworkState, ServerSpec
from tests.sim.faults import Faults
from tests.sim.site.state import IPUS_PER_MACHINE, Doing, Host, Machine, Network, Partition, Power, SiteState, Test

FIRST_PORT = 20_000
_REACHED: dict[Power, Power] = {"PoweringOn": "On", "PoweringOff": "Off"}
_SWITCHED = frozenset({HostState.BOOTING, HostState.RUNNING, HostState.OFF})
STALE_SECONDS = 10.0
"""How old an observation can be that the site still shows (F-05)."""


class Hardware:
    """One region's hardware. `palette`: the seconds that anything may take.

    `allocation_of`: where the partition of a name was made last. `endpoints`: the port of each allocation there ever
    was. `strays`: names of what nobody asked for. `failed_tests`: names of the cluster tests that the controller
    remembers and that did not pass, and when they first did not. `forgets`: how often the controller lost everything;
    `forgotten`: the allocations that it lost and nobody can use again, because they or their users were not made again,
    and when it lost them.
    """

    def __init__(
        self,
        machines: Sequence[str],
        hosts: Sequence[str],
        *,
        palette: Sequence[float],
        draw: random.Random,
        faults: Faults,
    ) -> None:
        self.state = SiteState(dict.fromkeys(machines, Machine()), dict.fromkeys(hosts, Host()))
        self.now = 0.0
        self._palette = palette
        self._draw = draw
        self._faults = faults
        self.allocation_of: dict[str, str] = {}
        self.endpoints: dict[str, int] = {}
        self.strays: set[str] = set()
        self.failed_tests: dict[str, float] = {}
        self.forgets = 0
        self.forgotten: dict[str, float] = {}
        self._past: deque[tuple[float, SiteState]] = deque()

    def advance(self, now: float) -> None:
        """Let everything happen whose time has come."""
        self.now = now
        self._settle_machines()
        self._settle_hosts()
        self._settle_networks()
        self._settle_tests()
        self._settle_partitions()

    def remember(self) -> None:
        """Keep the state as it is, for somebody to see it late."""
        self._past.append((self.now, self.state.copy()))
        while self._past[0][0] < self.now - STALE_SECONDS:
            self._past.popleft()

    def earlier(self) -> tuple[SiteState, float]:
        """A state of the last seconds, and its time."""
        recent = [(then, state) for then, state in self._past if then >= self.now - STALE_SECONDS]
        if not recent:
            return self.state, self.now
        then, state = self._draw.choice(recent)
        return state, then

    # Changes: each refuses, or is accepted.

    def create_allocation(self, wanted: Allocation) -> None:
        state = self.state
        if wanted.id in state.allocations:
            return  # the client takes ALREADY_EXISTS for done
        for held in state.allocations.values():
            if held.agent_ids & wanted.agent_ids:
                raise SiteBusy("CreateAllocation: an agent is in another allocation")
        port = self.endpoints.setdefault(wanted.id, FIRST_PORT + len(self.endpoints))
        state.allocations[wanted.id] = replace(wanted, endpoint=UserEndpoint("vipu", port))
        self._remembered(wanted.id)

    def _remembered(self, name: str) -> None:
        """An allocation can be used again once its user, who has the same name, sees it and has a key."""
        user = self.state.users.get(name)
        if name in self.state.allocations and user is not None and user.keys and name in user.allocations:
            self.forgotten.pop(name, None)

    def remove_allocation(self, name: str) -> None:
        state = self.state
        if name not in state.allocations:
            return
        if any(partition.allocation == name for partition in state.partitions.values()):
            raise SiteRefused("RemoveAllocation: it holds partitions")
        del state.allocations[name]
        for test in [test for test, found in state.tests.items() if found.allocation == name]:
            del state.tests[test]
        for user in state.users.values():
            state.users[user.id] = replace(user, allocations=user.allocations - {name})

    def create_user(self, name: str) -> None:
        self.state.users.setdefault(name, VipuUser(name, frozenset(), everything=False, keys=frozenset()))

    def set_user_allocation(self, name: str, allocation: str) -> None:
        if name not in self.state.users or allocation not in self.state.allocations:
            raise SiteRefused("SetUserAllocations: the user or the allocation does not exist")
        self.state.users[name] = replace(self.state.users[name], allocations=frozenset({allocation}))
        self._remembered(allocation)

    def remove_user(self, name: str) -> None:
        self.state.users.pop(name, None)

    def create_access_key(self, name: str, key: str) -> None:
        if name not in self.state.users:
            raise SiteRefused("CreateAccessKey: the user does not exist")
        self.state.users[name] = replace(self.state.users[name], keys=self.state.users[name].keys | {key})
        self._remembered(name)

    def remove_access_key(self, name: str, key: str) -> None:
        if name in self.state.users:
            self.state.users[name] = replace(self.state.users[name], keys=self.state.users[name].keys - {key})

    def start_test(self, name: str, allocation_id: str) -> None:
        state = self.state
        if name in state.tests:
            return
        if allocation_id not in state.allocations:
            raise SiteRefused("TestCluster: the allocation does not exist")
        state.tests[name] = Test(allocation_id, self._later(), passes=not self._faults.hardware())

    def create_partition(self, wanted: PartitionRequest) -> bool:
        """False when it exists already."""
        state = self.state
        if (wanted.allocation_id, wanted.id) in state.partitions:
            return False
        held = state.allocations.get(wanted.allocation_id)
        if held is None:
            raise SiteRefused("CreatePartition: the allocation does not exist")
        room = self._room(held, wanted.size)
        if room is None:
            raise SiteBusy("CreatePartition: no free IPUs in the allocation")
        self.allocation_of[wanted.id] = held.id
        agents, first = room
        state.partitions[held.id, wanted.id] = self._starting(
            Partition(held.id, agents, wanted.size, PartitionState.PENDING, Doing.NOTHING, None, first=first)
        )
        return True

    def _room(self, held: Allocation, size: int) -> tuple[frozenset[str], int] | None:
        """The machines of a new partition, and the first of its IPUs there: partitions are aligned to their size."""
        used = {agent: set[int]() for agent in held.agent_ids}
        for found in self.state.partitions.values():
            for agent, ipu in found.devices() if found.allocation == held.id else ():
                used.get(agent, set()).add(ipu)
        if size < IPUS_PER_MACHINE:
            starts = range(0, IPUS_PER_MACHINE, size)
            free = ((agent, at) for agent in sorted(used) for at in starts if not used[agent] & {*range(at, at + size)})
            return next(((frozenset({agent}), first) for agent, first in free), None)
        whole = [agent for agent in sorted(used) if not used[agent]]
        count = size // IPUS_PER_MACHINE
        return None if len(whole) < count else (frozenset(whole[:count]), 0)

    def remove_partition(self, allocation: str, name: str) -> None:
        found = self.state.partitions.get((allocation, name))
        if found is not None and found.doing is not Doing.REMOVING:
            self.state.partitions[allocation, name] = replace(
                found, state=PartitionState.PENDING, doing=Doing.REMOVING, due=self._later()
            )

    def reset_partition(self, allocation: str, name: str) -> bool:
        found = self.state.partitions.get((allocation, name))
        if found is None:
            return False
        if found.doing is not Doing.NOTHING:
            raise SiteRefused("ResetPartition: the partition is busy")
        self.state.partitions[allocation, name] = self._starting(found)
        return True

    def remove_partitions(self, allocation: str) -> None:
        for owner, name in list(self.state.partitions):
            if owner == allocation:
                self.remove_partition(owner, name)

    def put_network(self, name: str, spec: NetworkSpec) -> None:
        state = self.state
        present = state.networks.get(name)
        if present is not None:
            if present.spec != spec or present.state is NetworkState.DETACHING:
                raise SiteBusy(f"PUT network {name}: it exists otherwise")
            return
        ports = {*spec.machines, *spec.hosts}
        for found in state.networks.values():
            if ports & {*found.spec.machines, *found.spec.hosts}:
                raise SiteBusy(f"PUT network {name}: a port is in another network")
        state.networks[name] = Network(spec, NetworkState.ATTACHING, self._later())

    def delete_network(self, name: str) -> None:
        found = self.state.networks.get(name)
        if found is not None and found.state is not NetworkState.DETACHING:
            self.state.networks[name] = replace(found, state=NetworkState.DETACHING, due=self._later())

    def put_server(self, name: str, spec: ServerSpec) -> None:
        host = self.state.hosts[name]
        if host.server is not None:
            if host.server != spec or host.state is HostState.WIPING:
                raise SiteBusy(f"PUT server on {name}: the host is not clean")
            return
        network = self.state.networks.get(spec.network)
        if network is None or name not in network.spec.hosts:
            raise SiteBusy(f"PUT server on {name}: the host is not in the network")
        self.state.hosts[name] = Host(HostState.DEPLOYING, spec, self._later(), fails=self._faults.hardware())

    def delete_server(self, name: str, server: str) -> None:
        host = self.state.hosts[name]
        if host.server is not None and host.server.name == server and host.state is not HostState.WIPING:
            self.state.hosts[name] = replace(host, state=HostState.WIPING, due=self._later())

    def switch_on(self, name: str, server: str, network: str, environment: Mapping[str, str]) -> None:
        host, spec = self._carrying(name, server)
        if self._network_of(name) != network:
            raise SiteBusy(f"power of {name}: it is not in that network")
        if host.state is HostState.OFF or spec.network != network:
            moved = spec.model_copy(update={"network": network, "environment": dict(environment)})
            fails = self._faults.hardware()
            self.state.hosts[name] = replace(
                host,
                state=HostState.BOOTING,
                server=moved,
                due=self._later(),
                set_up_at=0.0,
                fails=fails,
                died=False,
                boots=host.boots + 1,
            )

    def switch_off(self, name: str, server: str, network: str) -> None:
        host, spec = self._carrying(name, server)
        if self._network_of(name) not in {None, network}:
            raise SiteBusy(f"power of {name}: it is in another tenant's network")
        self.state.hosts[name] = Host(HostState.OFF, spec, boots=host.boots, rebuilds=host.rebuilds)

    def restart(self, name: str, server: str, network: str, boot_id: str) -> None:
        host, _ = self._carrying(name, server)
        if self._network_of(name) not in {None, network}:
            raise SiteBusy(f"power of {name}: it is in another tenant's network")
        if str(host.boots) != boot_id:
            raise SiteBusy(f"power of {name}: it has started again since")
        fails = self._faults.hardware()
        self.state.hosts[name] = replace(
            host,
            state=HostState.BOOTING,
            due=self._later(),
            set_up_at=0.0,
            fails=fails,
            died=fails,
            boots=host.boots + 1,
        )

    def put_keys(self, name: str, server: str, network: str, keys: Sequence[str], revision: int) -> None:
        host = self.state.hosts[name]
        if host.server is None or host.server.name != server or host.state is HostState.WIPING:
            raise SiteBusy(f"PUT keys on {name}: it does not carry that server")
        if self._network_of(name) != network:
            raise SiteBusy(f"PUT keys on {name}: it is not in that network")
        spec = host.server.model_copy(update={"ssh_authorized_keys": [*keys], "keys_revision": revision})
        if spec != host.server and revision <= host.server.keys_revision:
            raise SiteBusy(f"PUT keys on {name}: it has had a later revision")
        self.state.hosts[name] = replace(host, server=spec)

    def rebuild(self, name: str, spec: ServerSpec) -> None:
        host = self.state.hosts[name]
        gone = host.server is None or host.server.name != spec.name
        if host.server is None or gone or host.state in {HostState.WIPING, HostState.FAILED}:
            raise SiteBusy(f"rebuild on {name}: it does not carry that server")
        if self._network_of(name) != spec.network:
            raise SiteBusy(f"rebuild on {name}: it is not in that network")
        if host.server == spec:
            return
        if spec.generation <= host.server.generation:
            raise SiteBusy(f"rebuild on {name}: it has had a later generation")
        fails = self._faults.hardware()
        self.state.hosts[name] = Host(
            HostState.DEPLOYING,
            spec,
            self._later(),
            fails=fails,
            died=fails,
            boots=host.boots + 1,
            rebuilds=host.rebuilds + 1,
        )

    def _carrying(self, name: str, server: str) -> tuple[Host, ServerSpec]:
        host = self.state.hosts[name]
        if host.server is None or host.server.name != server or host.state not in _SWITCHED:
            raise SiteBusy(f"power of {name}: it does not carry that server")
        return host, host.server

    def _network_of(self, host: str) -> str | None:
        return next((name for name, found in self.state.networks.items() if host in found.spec.hosts), None)

    def power_on(self, name: str, network: str) -> None:
        self._require_network(name, network)
        machine = self.state.machines[name]
        if machine.power in {"Off", "PoweringOff"}:
            broken = machine.broken or self._faults.hardware()
            self.state.machines[name] = Machine("PoweringOn", self._later(), broken)

    def power_off(self, name: str, network: str) -> None:
        self._require_network(name, network)
        machine = self.state.machines[name]
        if machine.power != "Off":
            self.state.machines[name] = Machine("PoweringOff", self._later(), machine.broken)
            self._lose(name)

    def _require_network(self, machine: str, network: str) -> None:
        for name, found in self.state.networks.items():
            if machine in found.spec.machines and name != network:
                raise SiteBusy(f"reset of {machine}: it is in another tenant's network")

    def strike(self, name: str) -> None:
        """A machine breaks, or a host whose server runs dies."""
        if name in self.state.machines:
            self.state.machines[name] = replace(self.state.machines[name], broken=True)
            self._lose(name)
        elif self.state.hosts[name].state is HostState.RUNNING:
            self.state.hosts[name] = replace(self.state.hosts[name], state=HostState.FAILED, died=True)

    def impair(self, name: str, state: LinkState) -> None:
        """The link that begins at a machine has errors, or is down."""
        self.state.links[name] = state

    def working_partitions(self) -> Sequence[tuple[str, str]]:
        """Partitions that are active, by allocation and name."""
        return sorted(key for key, each in self.state.partitions.items() if each.state is PartitionState.ACTIVE)

    def fail_partition(self, allocation: str, name: str) -> None:
        """A partition fails although its machines work; the controller will reset it."""
        found = self.state.partitions[allocation, name]
        self.state.partitions[allocation, name] = self._failed(replace(found, resets=3))

    def forget(self) -> None:
        """The controller loses everything that it was told."""
        self.forgets += 1
        self.forgotten |= dict.fromkeys(self.state.allocations, self.now)
        for lost in (self.state.allocations, self.state.partitions, self.state.tests, self.state.users):
            lost.clear()
        self.failed_tests.clear()  # a test of the same name that is started again has a result of its own
        self.remember()

    def restore_link(self, name: str) -> None:
        """The link that begins at a machine works again."""
        del self.state.links[name]

    def restore(self, name: str) -> None:
        """What broke works again, but a host without a tenant network is off then. One that never came up stays so."""
        if name in self.state.machines:
            self.state.machines[name] = replace(self.state.machines[name], broken=False)
        elif (host := self.state.hosts[name]).died and host.state is HostState.FAILED:
            attached = host.server is not None and host.server.network in self.state.networks
            state = HostState.RUNNING if attached else HostState.OFF
            self.state.hosts[name] = replace(host, state=state, fails=False, died=False, boots=host.boots + 1)

    def repair(self) -> None:
        """Whatever is broken works again."""
        for name in (*self.state.machines, *self.state.hosts):
            self.restore(name)
        for name, host in self.state.hosts.items():
            if host.died:  # it is starting again, and would not come up
                self.state.hosts[name] = replace(host, fails=False, died=False)
        self.state.links.clear()

    # Time.

    def _later(self) -> float:
        return self.now + self._draw.choice(self._palette)

    def _starting(self, partition: Partition) -> Partition:
        return replace(
            partition,
            state=PartitionState.PENDING,
            doing=Doing.STARTING,
            due=self._later(),
            fails=self._faults.hardware(),
        )

    def _settle_machines(self) -> None:
        for name, machine in self.state.machines.items():
            if machine.due is not None and machine.due <= self.now:
                self.state.machines[name] = Machine(_REACHED[machine.power], None, machine.broken)

    def _settle_hosts(self) -> None:
        for name in self.state.hosts:
            while (host := self.state.hosts[name]).due is not None and host.due <= self.now:
                self.state.hosts[name] = self._next(host, host.due)

    def _next(self, host: Host, since: float) -> Host:
        if host.state is HostState.WIPING:
            return Host()
        if host.fails:
            return replace(host, state=HostState.FAILED, due=None)
        if host.state is HostState.DEPLOYING:
            due = since + self._draw.choice(self._palette)
            return replace(host, state=HostState.BOOTING, due=due, boots=host.boots + 1)
        set_up_at = since + self._draw.choice(self._palette)
        return replace(host, state=HostState.RUNNING, due=None, set_up_at=set_up_at)

    def _settle_networks(self) -> None:
        for name, network in list(self.state.networks.items()):
            if network.due is not None and network.due <= self.now:
                if network.state is NetworkState.DETACHING:
                    del self.state.networks[name]
                else:
                    self.state.networks[name] = Network(network.spec, NetworkState.READY, None)

    def _settle_partitions(self) -> None:
        for name, partition in list(self.state.partitions.items()):
            if partition.due is None or partition.due > self.now:
                continue
            if partition.doing is Doing.REMOVING:
                del self.state.partitions[name]
            elif partition.doing is Doing.NOTHING:
                self.state.partitions[name] = self._starting(replace(partition, resets=partition.resets - 1))
            elif not partition.fails and self._answer(partition.agents):
                self.state.partitions[name] = replace(
                    partition, state=PartitionState.ACTIVE, doing=Doing.NOTHING, due=None
                )
            else:
                self.state.partitions[name] = self._failed(partition)

    def _failed(self, partition: Partition) -> Partition:
        again = self._later() if partition.resets else None
        return replace(partition, state=PartitionState.ERROR, doing=Doing.NOTHING, due=again)

    def _settle_tests(self) -> None:
        for name, test in self.state.tests.items():
            if test.due is not None and test.due <= self.now:
                passes = test.passes and self._linked(self.state.allocations[test.allocation].agent_ids)
                self.state.tests[name] = replace(test, due=None, passes=passes)
                if not passes:
                    self.failed_tests.setdefault(name, self.now)

    def _answer(self, agents: Iterable[str]) -> bool:
        return all(map(self.state.answers, agents))

    def _linked(self, agents: Collection[str]) -> bool:
        """Whether the agents answer, and no link among them is down."""
        down = {name for name, state in self.state.links.items() if state is LinkState.DOWN}
        return self._answer(agents) and not any(
            ends[0] in down and set(ends) <= set(agents) for ends in self.state.chain()
        )

    def _lose(self, agent: str) -> None:
        """The partitions on a machine fail when it stops answering."""
        for name, partition in self.state.partitions.items():
            if agent in partition.agents and partition.state is PartitionState.ACTIVE:
                self.state.partitions[name] = self._failed(replace(partition, resets=3))
