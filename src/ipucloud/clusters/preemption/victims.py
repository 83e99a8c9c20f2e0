"""Which preemptible clusters have to stop so that a cluster of some machines finds room. Pure.

Every aligned block that could become free is looked at, so the answer is the best of all: the fewest machines are
taken from their clusters, from the fewest clusters, from those that were told already, and from those that have run
for the shortest time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.inventory.allocator import Block, Fit
from ipucloud.inventory.snapshot import Pod


@dataclass(frozen=True, slots=True)
class Candidate:
    """A preemptible cluster: what it holds, by the index of the pod, and since when it runs.

    `noticed`: it was told that it is to be suspended. `key` decides between equals.
    """

    held: Mapping[int, int]
    since: datetime
    noticed: bool
    key: str

    @property
    def machines(self) -> int:
        return sum(mask.bit_count() for mask in self.held.values())


def choose_victims(
    pods: Sequence[Pod], usable: Sequence[int], candidates: Sequence[Candidate], machines: int
) -> frozenset[int] | None:
    """The candidates, by index, that have to stop; empty: it has room without. None: not even all of them would do.

    `usable` has each pod's slots that are free, or become so by themselves.
    """
    if _fits(pods, usable, machines):
        return frozenset()
    with_all = [*usable]
    for candidate in candidates:
        for pod, mask in candidate.held.items():
            with_all[pod] |= mask
    sets = {_on(block, candidates) for block in Fit(pods, with_all).blocks(machines)}
    return min(sets, key=lambda chosen: _cost([candidates[index] for index in chosen]), default=None)


def _fits(pods: Sequence[Pod], masks: Sequence[int], machines: int) -> bool:
    return next(Fit(pods, masks).blocks(machines), None) is not None


def _on(block: Block, candidates: Sequence[Candidate]) -> frozenset[int]:
    """Those that hold some of the block."""
    return frozenset(
        index for index, each in enumerate(candidates) if any(each.held.get(pod, 0) & mask for pod, mask in block)
    )


def _cost(chosen: Sequence[Candidate]) -> tuple[object, ...]:
    machines = sum(each.machines for each in chosen)
    untold = sum(each.machines for each in chosen if not each.noticed)
    youngest_first = -sum(each.since.timestamp() for each in chosen)
    return machines, len(chosen), untold, youngest_first, sorted(each.key for each in chosen)
