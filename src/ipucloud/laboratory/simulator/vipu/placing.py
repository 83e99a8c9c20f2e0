"""Where partitions are: the allocation and blocks that a new one gets, and which IPUs are taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.laboratory.simulator.refusal import Refusal, exhausted, invalid
from ipucloud.laboratory.simulator.vipu import blocks as placing
from ipucloud.laboratory.simulator.vipu.allocations import Allocations
from ipucloud.laboratory.simulator.vipu.callers import Caller
from ipucloud.laboratory.simulator.vipu.context import Context
from ipucloud.laboratory.simulator.vipu.links import down_among
from ipucloud.laboratory.simulator.vipu.model import Allocation, Block, Partition, Shape
from ipucloud.laboratory.simulator.vipu.topology import masks_of
from ipucloud.wire import vipu_pb2 as pb

SHOWN_ALLOCATIONS = 8


class Placing:
    """The IPUs of one controller's partitions."""

    def __init__(self, context: Context, allocations: Allocations) -> None:
        self._context = context
        self._allocations = allocations
        self._used: defaultdict[str, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._on: defaultdict[str, set[str]] = defaultdict(set)

    def on(self, agent: str) -> Collection[str]:
        """The keys of the partitions that have IPUs of the agent."""
        return self._on.get(agent, ())

    def machines(self, partition: Partition) -> list[Machine]:
        """The machines that a partition's blocks lie on."""
        return self._machines(partition.cluster_id, partition.blocks)

    def candidates(self, requirements: pb.PartitionRequirements, caller: Caller) -> list[Allocation]:
        """The allocations that a request lets the controller choose from. Refuses one that does not exist."""
        if requirements.cluster_id:
            self._allocations.cluster(requirements.cluster_id)
        if requirements.allocation_id:
            return [self._allocations.get(requirements.allocation_id, caller)]
        return self._allocations.all(requirements.cluster_id, caller)

    def find(
        self, requirements: pb.PartitionRequirements, shape: Shape, candidates: list[Allocation]
    ) -> tuple[Allocation, list[Block]]:
        """One of these allocations and free blocks in it, as the request wants them. Refuses when there are none."""
        chain = self._context.fleet.region.chain
        explicit = placing.explicit_blocks(requirements.ipus, shape.segments, chain) if requirements.ipus else None
        if explicit is not None:
            self._check_places(requirements.cluster_id, explicit)
        for allocation in candidates:
            if requirements.cluster_id not in {"", allocation.cluster_id}:
                continue
            blocks = self._blocks(allocation, shape, explicit)
            if blocks:
                return allocation, blocks
        raise self._no_room(shape, candidates, explicit=explicit is not None)

    def occupy(self, partition: Partition) -> None:
        """Take the IPUs of a partition."""
        used = self._used[partition.cluster_id]
        for block in partition.blocks:
            used[block.domain] |= block.mask
        for machine in self.machines(partition):
            self._on[machine.name].add(partition.key)
        self._allocations.partitions_in(partition.allocation_id).add(partition.key)

    def vacate(self, partition: Partition) -> None:
        """Give the IPUs of a partition back."""
        used = self._used[partition.cluster_id]
        for block in partition.blocks:
            used[block.domain] &= ~block.mask
        for machine in self.machines(partition):
            self._on[machine.name].discard(partition.key)
        self._allocations.partitions_in(partition.allocation_id).discard(partition.key)

    def relocate(self, partition: Partition) -> None:
        """Move a partition to sound IPUs of its allocation, if enough of them are free."""
        self.vacate(partition)
        blocks = self._blocks(self._allocations.get(partition.allocation_id), partition.shape, None)
        partition.blocks = blocks or partition.blocks
        self.occupy(partition)

    def _blocks(self, allocation: Allocation, shape: Shape, explicit: list[Block] | None) -> list[Block] | None:
        free = self._free(allocation)
        if explicit is not None:
            return explicit if placing.is_free(free, explicit) else None
        if not self._context.broken:
            return placing.find_blocks(free, shape.size, shape.segments)
        return placing.find_blocks(
            free, shape.size, shape.segments, sound=lambda block: self._sound(allocation.cluster_id, block)
        )

    def _sound(self, cluster_id: str, block: Block) -> bool:
        return not down_among(self._machines(cluster_id, [block]), self._context.broken)

    def _free(self, allocation: Allocation) -> dict[int, int]:
        """The IPUs of the allocation that are in no partition and whose machine answers, by domain."""
        agents = self._context.fleet.agents
        answering = (agents[name] for name in allocation.agent_ids if self._context.reachable(name))
        used = self._used[allocation.cluster_id]
        return {domain: mask & ~used[domain] for domain, mask in masks_of(answering).items()}

    def _machines(self, cluster_id: str, blocks: list[Block]) -> list[Machine]:
        places = self._allocations.cluster(cluster_id).by_place
        return [places[block.domain, slot] for block in blocks for slot in block.slots]

    def _check_places(self, cluster_id: str, blocks: list[Block]) -> None:
        """Refuse IPUs of a place where the cluster has no machine: they will never be free."""
        known = self._allocations.cluster(cluster_id).by_place
        for block in blocks:
            for slot in block.slots:
                if (block.domain, slot) not in known:
                    raise invalid(f"cluster {cluster_id!r} has no machine {slot} in an IPU-Link domain {block.domain}")

    def _no_room(self, shape: Shape, candidates: list[Allocation], *, explicit: bool) -> Refusal:
        if not candidates:
            return exhausted("no free allocation: there is no allocation that could hold a partition")
        if explicit:
            return exhausted("no free allocation holds all the listed IPUs: some are in a partition or do not answer")
        reported = "; ".join(f"{each.id} has {self._described(each)}" for each in candidates[:SHOWN_ALLOCATIONS])
        more = f"; and {len(candidates) - SHOWN_ALLOCATIONS} more" if len(candidates) > SHOWN_ALLOCATIONS else ""
        per_domain = shape.size // shape.segments
        each_in = ", each in another of neighbouring IPU-Link domains," if shape.segments > 1 else ""
        return exhausted(
            f"no free allocation for {shape.size} IPUs: {shape.segments} aligned block(s) of {per_domain} IPUs{each_in}"
            f" are needed in one allocation; {reported}{more}"
        )

    def _described(self, allocation: Allocation) -> str:
        """The room of an allocation, and which of its machines have none because they are off or do not answer."""
        free = self._free(allocation)
        count = sum(mask.bit_count() for mask in free.values())
        silent = [name for name in allocation.agent_ids if not self._context.reachable(name)]
        if len(silent) == len(allocation.agent_ids):
            return f"no machine that answers: all {len(silent)} are switched off or unreachable"
        domains = f" in {len(free)} IPU-Link domains" if len(free) > 1 else ""
        room = f"{count} IPUs free{domains}, the largest aligned block {placing.largest_free(free)}"
        return f"{room}; {len(silent)} of {len(allocation.agent_ids)} machines do not answer" if silent else room
