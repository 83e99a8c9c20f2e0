"""Partitions: where they are placed, and the life of each.

    create   PENDING/CREATING  -> ACTIVE/IDLE, or ERROR/FAILED when a machine does not answer
    reset    PENDING/RESETTING -> the same
    machine  ERROR/FAILED, then resets itself while retries are left
    remove   PENDING/REMOVING  -> gone

Calls return at once; what they started ends at the partition's `due`, whenever the next caller looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ipucloud.simulator.durations import Action
from ipucloud.simulator.refusal import Refusal, exhausted, exists, not_found, precondition
from ipucloud.simulator.vipu import blocks as placing
from ipucloud.simulator.vipu import rules
from ipucloud.simulator.vipu.allocations import Allocations
from ipucloud.simulator.vipu.context import Context, Deadlines
from ipucloud.simulator.vipu.model import Allocation, Block, Operation, Partition, Ready, Shape
from ipucloud.simulator.vipu.topology import masks_of
from ipucloud.wire import vipu_pb2 as pb

MAX_AUTO_RESETS = 3


class Partitions:
    """Every partition of one controller."""

    def __init__(self, context: Context, allocations: Allocations) -> None:
        self._context = context
        self._allocations = allocations
        self._deadlines = Deadlines()
        self._used: dict[str, dict[int, int]] = {name: {} for name in context.fleet.clusters}
        for partition in context.state.partitions.values():
            self._occupy(partition.cluster_id, partition.blocks)
            self._deadlines.add(partition.due, partition.id)

    def get(self, name: str) -> Partition:
        partition = self._context.state.partitions.get(name)
        if partition is None:
            raise not_found(f"partition {name!r} does not exist")
        return partition

    def all(self, allocation_id: str = "") -> list[Partition]:
        """Every partition (of one allocation, when it is named), by id."""
        if allocation_id:
            self._allocations.get(allocation_id)
        partitions = sorted(self._context.state.partitions.values(), key=lambda p: p.id)
        return [p for p in partitions if allocation_id in {"", p.allocation_id}]

    def create(self, request: pb.CreatePartitionRequest) -> Partition:
        """Place a partition and start it. Refuses what the rules forbid and what nothing free can hold."""
        wanted = request.requirements
        rules.check_id("partition", wanted.id)
        if wanted.id in self._context.state.partitions:
            raise exists(f"partition {wanted.id!r} exists")
        shape = rules.shape_of(wanted)
        allocation, blocks = self._place(wanted, shape)
        cluster = self._allocations.cluster(allocation.cluster_id)
        partition = Partition(
            id=wanted.id,
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
        self._context.state.partitions[partition.id] = partition
        self._occupy(cluster.id, blocks)
        self._start(partition, Operation.CREATING, Action.PARTITION_CREATE)
        return partition

    def remove(self, name: str, *, force: bool) -> None:
        """Start the removal. Without force it fails on a machine that does not answer."""
        partition = self.get(name)
        if partition.operation == Operation.REMOVING and partition.forced >= force:
            return
        partition.forced = force
        self._start(partition, Operation.REMOVING, Action.PARTITION_REMOVE)

    def reset(self, name: str, *, relocatable: bool) -> None:
        """Start a reset of a partition at rest."""
        partition = self.get(name)
        if partition.operation not in {Operation.IDLE, Operation.FAILED}:
            raise precondition(f"partition {name!r} is busy ({partition.operation}); wait until it is idle")
        partition.retries = 0
        self._start_reset(partition, relocatable=relocatable or partition.relocatable)

    def fail_on(self, agents: Iterable[str]) -> None:
        """Let every active partition on these agents fail: their machines stopped answering."""
        lost = frozenset(agents)
        for partition in self._context.state.partitions.values():
            if partition.ready == Ready.ACTIVE and lost & self._agents(partition):
                partition.retries = 0
                self._fail(partition, self._unreachable(partition))

    def settle(self) -> None:
        """Let everything happen whose time has come."""
        clock = self._context.clock
        for name in self._deadlines.passed(clock):
            partition = self._context.state.partitions.get(name)
            if partition is not None and partition.due is not None and partition.due <= clock.now():
                self._finish(partition)

    def free_masks(self, allocation: Allocation) -> dict[int, int]:
        """The IPUs of the allocation that are in no partition and whose machine answers, by domain."""
        agents = (self._context.fleet.agents[name] for name in allocation.agent_ids if self._answers(name))
        used = self._used[allocation.cluster_id]
        return {domain: mask & ~used.get(domain, 0) for domain, mask in masks_of(agents).items()}

    def _place(self, wanted: pb.PartitionRequirements, shape: Shape) -> tuple[Allocation, list[Block]]:
        if wanted.cluster_id:
            self._allocations.cluster(wanted.cluster_id)
        if wanted.allocation_id:
            candidates = [self._allocations.get(wanted.allocation_id)]
        else:
            candidates = self._allocations.all(wanted.cluster_id)
        explicit = placing.explicit_blocks(wanted.ipus, shape.segments) if wanted.ipus else None
        for allocation in candidates:
            if wanted.cluster_id and allocation.cluster_id != wanted.cluster_id:
                continue
            free = self.free_masks(allocation)
            if explicit is None:
                blocks = placing.find_blocks(free, shape.size, shape.segments)
            else:
                blocks = explicit if placing.is_free(free, explicit) else None
            if blocks:
                return allocation, blocks
        raise self._no_room(shape, candidates, explicit=explicit is not None)

    def _no_room(self, shape: Shape, candidates: list[Allocation], *, explicit: bool) -> Refusal:
        if not candidates:
            return exhausted("no free allocation: the controller has no allocation that could hold a partition")
        if explicit:
            return exhausted("no free allocation holds all the listed IPUs")
        free = {allocation.id: self.free_masks(allocation) for allocation in candidates}
        told = "; ".join(f"{name} has {_told(masks)}" for name, masks in list(free.items())[:8])
        per_domain = shape.size // shape.segments
        return exhausted(
            f"no free allocation for {shape.size} IPUs: {shape.segments} aligned block(s) of {per_domain} IPUs are"
            f" needed in one allocation; {told}"
        )

    def _start(self, partition: Partition, operation: Operation, action: Action) -> None:
        machines = sum(len(block.slots) for block in partition.blocks)
        partition.ready = Ready.PENDING
        partition.operation = operation
        partition.errors = []
        self._due(partition, self._context.durations.seconds(action, partition.id, machines))

    def _start_reset(self, partition: Partition, *, relocatable: bool) -> None:
        if relocatable and self._unreachable(partition):
            self._relocate(partition)
        self._start(partition, Operation.RESETTING, Action.PARTITION_RESET)

    def _relocate(self, partition: Partition) -> None:
        self._vacate(partition)
        free = self.free_masks(self._allocations.get(partition.allocation_id))
        found = placing.find_blocks(free, partition.shape.size, partition.shape.segments)
        partition.blocks = found or partition.blocks
        self._occupy(partition.cluster_id, partition.blocks)

    def _finish(self, partition: Partition) -> None:
        """End the operation under way, or begin the reset that a failed partition waited for."""
        if partition.operation == Operation.FAILED:
            partition.retries += 1
            partition.last_auto_reset = self._context.clock.now()
            self._start_reset(partition, relocatable=partition.relocatable)
            return
        errors = self._unreachable(partition)
        if partition.operation == Operation.REMOVING and (partition.forced or not errors):
            self._vacate(partition)
            del self._context.state.partitions[partition.id]
            self._context.changed()
        elif errors:
            self._fail(partition, errors)
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
        self._deadlines.add(partition.due, partition.id)
        self._context.changed()

    def _agents(self, partition: Partition) -> frozenset[str]:
        places = self._allocations.cluster(partition.cluster_id).by_place
        return frozenset(places[b.domain, slot].name for b in partition.blocks for slot in b.slots)

    def _unreachable(self, partition: Partition) -> list[str]:
        agents = sorted(agent for agent in self._agents(partition) if not self._answers(agent))
        return [f"agent {agent} is unreachable" for agent in agents]

    def _answers(self, agent: str) -> bool:
        return self._context.reachable(agent)

    def _occupy(self, cluster_id: str, blocks: Iterable[Block]) -> None:
        used = self._used[cluster_id]
        for block in blocks:
            used[block.domain] = used.get(block.domain, 0) | block.mask

    def _vacate(self, partition: Partition) -> None:
        used = self._used[partition.cluster_id]
        for block in partition.blocks:
            used[block.domain] &= ~block.mask


def _told(free: Mapping[int, int]) -> str:
    count = sum(mask.bit_count() for mask in free.values())
    return f"{count} IPUs free, the largest aligned block {placing.largest_free(free)}"
