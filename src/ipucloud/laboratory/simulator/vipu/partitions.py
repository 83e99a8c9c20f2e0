"""Partitions: what callers do with them, and the life of each.

    create   PENDING/CREATING  -> ACTIVE/IDLE, or ERROR/FAILED when a machine or link does not answer
    reset    PENDING/RESETTING -> the same
    machine  ERROR/FAILED, then resets itself while retries are left
    remove   PENDING/REMOVING  -> gone

Calls return at once; what they started ends at the partition's `due`, when the next caller reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ipucloud.laboratory.simulator.durations import Action
from ipucloud.laboratory.simulator.refusal import exists, not_found, precondition
from ipucloud.laboratory.simulator.vipu import rules
from ipucloud.laboratory.simulator.vipu.allocations import Allocations
from ipucloud.laboratory.simulator.vipu.callers import EVERYBODY, Caller
from ipucloud.laboratory.simulator.vipu.context import Context, Deadlines
from ipucloud.laboratory.simulator.vipu.devices import check_routing_ids
from ipucloud.laboratory.simulator.vipu.links import down_among
from ipucloud.laboratory.simulator.vipu.model import Operation, Partition, Ready
from ipucloud.laboratory.simulator.vipu.placing import Placing
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.vipu_calls import ALLOCATION

MAX_AUTO_RESETS = 3


class Partitions:
    """Every partition of one controller. Each allocation has partition ids of its own."""

    def __init__(self, context: Context, allocations: Allocations) -> None:
        self._context = context
        self._partitions = context.state.partitions
        self._allocations = allocations
        self._deadlines = Deadlines()
        self._placing = Placing(context, allocations)
        self._by_id: defaultdict[str, dict[str, Partition]] = defaultdict(dict)
        for partition in self._partitions.values():
            self._by_id[partition.id][partition.allocation_id] = partition
            self._placing.occupy(partition)
            self._deadlines.add(partition.due, partition.key)

    def get(self, name: str, caller: Caller = EVERYBODY) -> Partition:
        """The partition of this id that the caller sees. Refuses when there are several."""
        matches = self._named(name, caller)
        if not matches:
            raise not_found(f"partition {name!r} does not exist")
        if len(matches) > 1:
            owners = ", ".join(sorted(partition.allocation_id for partition in matches))
            raise precondition(f"partition {name!r} is in several allocations, {owners}: name one, as {ALLOCATION!r}")
        return matches[0]

    def all(self, allocation_id: str = "", caller: Caller = EVERYBODY) -> list[Partition]:
        """Every partition that the caller sees (of one allocation, when it is named), by allocation and id."""
        if allocation_id:
            self._allocations.get(allocation_id, caller)
            return [self._partitions[key] for key in sorted(self._allocations.partitions_in(allocation_id))]
        return [partition for _, partition in sorted(self._partitions.items()) if caller.sees(partition.allocation_id)]

    def on(self, agent: str) -> list[Partition]:
        """The partitions that have IPUs of an agent."""
        return [self._partitions[key] for key in sorted(self._placing.on(agent))]

    def create(self, request: pb.CreatePartitionRequest, caller: Caller = EVERYBODY) -> Partition:
        """Place a partition and start it. Refuses what the rules forbid and what nothing free can hold."""
        requirements = request.requirements
        rules.check_id("partition", requirements.id)
        shape = rules.shape_of(requirements)
        candidates = self._placing.candidates(requirements, caller)
        if any(allocation.id in self._by_id.get(requirements.id, ()) for allocation in candidates):
            raise exists(f"partition {requirements.id!r} exists; read it before you create it again")
        allocation, blocks = self._placing.find(requirements, shape, candidates)
        cluster = self._allocations.cluster(allocation.cluster_id)
        check_routing_ids(requirements.ipus, blocks, cluster)
        partition = Partition(
            id=requirements.id,
            allocation_id=allocation.id,
            cluster_id=cluster.id,
            shape=rules.with_routing(shape, cluster),
            blocks=blocks,
            ready=Ready.PENDING,
            operation=Operation.CREATING,
            due=None,
            auto_reset=not request.disable_auto_reset,
            relocatable=request.relocatable,
        )
        self._partitions[partition.key] = partition
        self._by_id[partition.id][partition.allocation_id] = partition
        self._placing.occupy(partition)
        self._start(partition, Operation.CREATING, Action.PARTITION_CREATE)
        return partition

    def remove(self, name: str, caller: Caller = EVERYBODY, *, force: bool) -> None:
        """Start the removal. Without force it fails on a machine that does not answer."""
        partition = self.get(name, caller)
        if partition.operation == Operation.REMOVING and partition.forced >= force:
            return
        partition.forced = force
        self._start(partition, Operation.REMOVING, Action.PARTITION_REMOVE)

    def reset(self, name: str, caller: Caller = EVERYBODY, *, relocatable: bool) -> None:
        """Start a reset of a partition at rest."""
        partition = self.get(name, caller)
        if partition.operation not in {Operation.IDLE, Operation.FAILED}:
            raise precondition(f"partition {name!r} is busy ({partition.operation}); wait until it is idle")
        partition.retries = 0
        self._start_reset(partition, relocatable=relocatable or partition.relocatable)

    def spoil(self, name: str, caller: Caller, error: str, times: int) -> None:
        """Let the operation under way of a partition, if it exists, and the next ones fail with this error."""
        for partition in self._named(name, caller):
            partition.spoiled, partition.spoils = error, times
            self._context.changed()

    def hang(self, name: str, caller: Caller) -> None:
        """Let the operation under way of a partition, if there is one, never end by itself."""
        for partition in self._named(name, caller):
            if partition.ready == Ready.PENDING:
                self._due(partition, None)

    def fail_on(self, agents: Iterable[str]) -> None:
        """Let the active partitions on these agents fail that lost a machine or a link."""
        for key in sorted({key for agent in agents for key in self._placing.on(agent)}):
            partition = self._partitions[key]
            errors = self._errors(partition) if partition.ready == Ready.ACTIVE else []
            if errors:
                partition.retries = 0
                self._fail(partition, errors)

    def advance(self) -> None:
        """Let everything happen whose time has come."""
        clock = self._context.clock
        for key in self._deadlines.passed(clock):
            partition = self._partitions.get(key)
            if partition is not None and partition.due is not None and partition.due <= clock.now():
                self._finish(partition)

    def _named(self, name: str, caller: Caller) -> list[Partition]:
        return [partition for owner, partition in self._by_id.get(name, {}).items() if caller.sees(owner)]

    def _start(self, partition: Partition, operation: Operation, action: Action) -> None:
        machines = sum(len(block.slots) for block in partition.blocks)
        partition.ready = Ready.PENDING
        partition.operation = operation
        partition.errors = []
        self._due(partition, self._context.durations.seconds(action, partition.id, machines))

    def _start_reset(self, partition: Partition, *, relocatable: bool) -> None:
        if relocatable and self._errors(partition):
            self._placing.relocate(partition)
        self._start(partition, Operation.RESETTING, Action.PARTITION_RESET)

    def _finish(self, partition: Partition) -> None:
        """End the operation under way, or begin the reset that a failed partition waited for."""
        if partition.operation == Operation.FAILED:
            partition.retries += 1
            partition.last_auto_reset = self._context.clock.now()
            self._start_reset(partition, relocatable=partition.relocatable)
            return
        removing = partition.operation == Operation.REMOVING
        errors = [] if removing and partition.forced else self._errors(partition, links=not removing)
        if partition.spoils and not removing:
            partition.spoils -= 1
            errors.append(partition.spoiled)
        if errors:
            self._fail(partition, errors)
        elif removing:
            self._placing.vacate(partition)
            del self._partitions[partition.key], self._by_id[partition.id][partition.allocation_id]
            if not self._by_id[partition.id]:
                del self._by_id[partition.id]
            self._context.changed()
        else:
            partition.ready, partition.operation = Ready.ACTIVE, Operation.IDLE
            self._due(partition, None)

    def _fail(self, partition: Partition, errors: list[str]) -> None:
        removing = partition.operation == Operation.REMOVING
        partition.ready, partition.operation, partition.errors = Ready.ERROR, Operation.FAILED, errors
        retry = partition.auto_reset and not removing and partition.retries < MAX_AUTO_RESETS
        wait = self._context.durations.seconds(Action.AUTO_RESET_WAIT, partition.id)
        self._due(partition, wait if retry else None)

    def _due(self, partition: Partition, seconds: float | None) -> None:
        partition.due = None if seconds is None else self._context.clock.now() + seconds
        self._deadlines.add(partition.due, partition.key)
        self._context.changed()

    def _errors(self, partition: Partition, *, links: bool = True) -> list[str]:
        """What is wrong with the hardware of a partition now, a sentence each."""
        machines = self._placing.machines(partition)
        silent = sorted(machine.name for machine in machines if not self._context.reachable(machine.name))
        errors = [f"agent {name} is unreachable" for name in silent]
        if links:
            down = down_among(machines, self._context.broken)
            errors += [f"link {link.name} from {link.one.name} to {link.other.name} is down" for link in down]
        return errors
