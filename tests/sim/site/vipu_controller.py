"""What changes do to a site's V-IPU controller, and what time does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ipucloud.site.ports import SiteBusy, SiteRefused
from ipucloud.site.vipu_ports import Allocation, PartitionRequest, PartitionState, UserEndpoint, VipuUser
from ipucloud.wire.inventory import LinkState
from tests.sim.site.state import IPUS_PER_MACHINE, Course, Doing, Partition, SiteState, Test

FIRST_PORT = 20_000


class VipuController:
    """A region's V-IPU controller: its allocations, partitions, users and cluster tests.

    `allocation_of`: where the partition of a name was made last. `endpoints`: the port of each allocation there ever
    was. `failed_tests`: names of the cluster tests that the controller remembers and that did not pass, and when they
    first did not. `forgotten`: the allocations that it lost and nobody can use again, because they or their users were
    not made again, and when it lost them.
    """

    def __init__(self, state: SiteState, course: Course) -> None:
        self.state = state
        self.allocation_of: dict[str, str] = {}
        self.endpoints: dict[str, int] = {}
        self.failed_tests: dict[str, float] = {}
        self.forgotten: dict[str, float] = {}
        self._course = course

    # Changes: each refuses, or is accepted.

    def create_allocation(self, allocation: Allocation) -> None:
        state = self.state
        if allocation.id in state.allocations:
            return  # the client takes ALREADY_EXISTS for done
        for held in state.allocations.values():
            if held.agent_ids & allocation.agent_ids:
                raise SiteBusy("CreateAllocation: an agent is in another allocation")
        port = self.endpoints.setdefault(allocation.id, FIRST_PORT + len(self.endpoints))
        state.allocations[allocation.id] = replace(allocation, endpoint=UserEndpoint("vipu", port))
        self._remembered(allocation.id)

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
        for test in [test for test, run in state.tests.items() if run.allocation == name]:
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
        state.tests[name] = Test(allocation_id, self._course.later(), passes=not self._course.fails())

    def create_partition(self, request: PartitionRequest) -> bool:
        """False when it exists already."""
        state = self.state
        if (request.allocation_id, request.id) in state.partitions:
            return False
        held = state.allocations.get(request.allocation_id)
        if held is None:
            raise SiteRefused("CreatePartition: the allocation does not exist")
        room = self._room(held, request.size)
        if room is None:
            raise SiteBusy("CreatePartition: no free IPUs in the allocation")
        self.allocation_of[request.id] = held.id
        agents, first = room
        state.partitions[held.id, request.id] = self._starting(
            Partition(held.id, agents, request.size, PartitionState.PENDING, Doing.NOTHING, None, first=first)
        )
        return True

    def _room(self, held: Allocation, size: int) -> tuple[frozenset[str], int] | None:
        """The machines of a new partition, and the first of its IPUs there: partitions are aligned to their size."""
        used = {agent: set[int]() for agent in held.agent_ids}
        for partition in self.state.partitions.values():
            for agent, ipu in partition.devices() if partition.allocation == held.id else ():
                used.get(agent, set()).add(ipu)
        if size < IPUS_PER_MACHINE:
            starts = range(0, IPUS_PER_MACHINE, size)
            free = ((agent, at) for agent in sorted(used) for at in starts if not used[agent] & {*range(at, at + size)})
            return next(((frozenset({agent}), first) for agent, first in free), None)
        whole = [agent for agent in sorted(used) if not used[agent]]
        count = size // IPUS_PER_MACHINE
        return None if len(whole) < count else (frozenset(whole[:count]), 0)

    def remove_partition(self, allocation: str, name: str) -> None:
        partition = self.state.partitions.get((allocation, name))
        if partition is not None and partition.doing is not Doing.REMOVING:
            self.state.partitions[allocation, name] = replace(
                partition, state=PartitionState.PENDING, doing=Doing.REMOVING, due=self._course.later()
            )

    def reset_partition(self, allocation: str, name: str) -> bool:
        partition = self.state.partitions.get((allocation, name))
        if partition is None:
            return False
        if partition.doing is not Doing.NOTHING:
            raise SiteRefused("ResetPartition: the partition is busy")
        self.state.partitions[allocation, name] = self._starting(partition)
        return True

    def remove_partitions(self, allocation: str) -> None:
        for owner, name in list(self.state.partitions):
            if owner == allocation:
                self.remove_partition(owner, name)

    def working_partitions(self) -> Sequence[tuple[str, str]]:
        """Partitions that are active, by allocation and name."""
        return sorted(key for key, each in self.state.partitions.items() if each.state is PartitionState.ACTIVE)

    def fail_partition(self, allocation: str, name: str) -> None:
        """A partition fails although its machines work; the controller will reset it."""
        partition = self.state.partitions[allocation, name]
        self.state.partitions[allocation, name] = self._failed(replace(partition, resets=3))

    def forget(self) -> None:
        """Lose everything that it was told."""
        self.forgotten |= dict.fromkeys(self.state.allocations, self._course.now)
        for lost in (self.state.allocations, self.state.partitions, self.state.tests, self.state.users):
            lost.clear()
        self.failed_tests.clear()  # a test of the same name that is started again has a result of its own

    def lose(self, agent: str) -> None:
        """The partitions on a machine fail when it stops answering."""
        for name, partition in self.state.partitions.items():
            if agent in partition.agents and partition.state is PartitionState.ACTIVE:
                self.state.partitions[name] = self._failed(replace(partition, resets=3))

    # Time.

    def advance(self) -> None:
        """Let tests and partitions end whose time has come."""
        self._advance_tests()
        self._advance_partitions()

    def _starting(self, partition: Partition) -> Partition:
        return replace(
            partition,
            state=PartitionState.PENDING,
            doing=Doing.STARTING,
            due=self._course.later(),
            fails=self._course.fails(),
        )

    def _advance_partitions(self) -> None:
        for name, partition in list(self.state.partitions.items()):
            if partition.due is None or partition.due > self._course.now:
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
        again = self._course.later() if partition.resets else None
        return replace(partition, state=PartitionState.ERROR, doing=Doing.NOTHING, due=again)

    def _advance_tests(self) -> None:
        for name, test in self.state.tests.items():
            if test.due is not None and test.due <= self._course.now:
                passes = test.passes and self._linked(self.state.allocations[test.allocation].agent_ids)
                self.state.tests[name] = replace(test, due=None, passes=passes)
                if not passes:
                    self.failed_tests.setdefault(name, self._course.now)

    def _answer(self, agents: Iterable[str]) -> bool:
        return all(map(self.state.answers, agents))

    def _linked(self, agents: Collection[str]) -> bool:
        """Whether the agents answer, and no link among them is down."""
        down = {name for name, state in self.state.links.items() if state is LinkState.DOWN}
        return self._answer(agents) and not any(
            ends[0] in down and set(ends) <= set(agents) for ends in self.state.chain()
        )
