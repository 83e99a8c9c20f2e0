"""Which machines a new cluster gets, of those whose row is locked; and how many clusters fit. Pure.

Up to 16 machines come from one IPU-Link domain as an aligned block; more come as whole neighbouring domains, an aligned
run of consecutive positions of one GW-Link group. A run does not wrap around a ring's end: buddy alignment already
pairs every position once, and a wrapped run would break two aligned ones.

A cluster goes to the pod whose largest free block is smallest, and there into the smallest free block that holds it, so
that large free blocks stay whole. Whole pods are the last choice, of the run whose largest free run is smallest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ipucloud.inventory.snapshot import DOMAIN, Pod, SlotState, aligned_starts, bits, span, tightest, usable

LARGEST = 256
"""Machines of the largest cluster sold, a POD1024: 16 pods, which one run holds."""

SIZES = tuple(1 << power for power in range(LARGEST.bit_length()))
"""Possible numbers of machines of a cluster."""


def choose(mask: int, machines: int, *, whole: bool) -> tuple[int, int]:
    """The slots to take in each pod, and the pods to take in the run: 0 when `mask` is of a pod's free slots.

    `whole`: the mask is of the wholly free pods of a run. Raises ValueError when `machines` do not fit, or are not a
    size that is sold.
    """
    _check(machines)
    if not whole:
        return tightest(mask, machines), 0
    return span(0, min(machines, DOMAIN)), tightest(mask, max(machines // DOMAIN, 1))


def capacity(pods: Sequence[Pod], machines: int) -> int:
    """How many clusters of `machines` (1, 2, 4, … 256) could be created now, at the same time.

    Raises ValueError when `machines` is not such a size, or when two pods have one position of a GW-Link group.
    """
    _check(machines)
    return Fit(pods, usable(pods, SlotState.FREE)).count(machines)


def _check(machines: int) -> None:
    if machines not in SIZES:
        raise ValueError(f"a cluster has {SIZES[0]} to {LARGEST} machines, a power of two, not {machines}")


Block = tuple[tuple[int, int], ...]
"""The parts of a block by position: (index of the pod in the snapshot, mask of its slots)."""

_WHOLE = span(0, DOMAIN)


@dataclass(frozen=True)
class _Neighbours:
    """The pods of one GW-Link group: their indices by position, and the mask of positions that are wholly usable."""

    pods: dict[int, int]
    whole: int

    def starts(self, domains: int) -> int:
        return aligned_starts(self.whole, domains, self.whole.bit_length())

    def run(self, start: int, domains: int) -> Block:
        return tuple((self.pods[position], _WHOLE) for position in range(start, start + domains))


class Fit:
    """The aligned blocks that the usable slots of a snapshot form; `masks` holds one mask for each pod."""

    def __init__(self, pods: Sequence[Pod], masks: Sequence[int]) -> None:
        self._pods = pods
        self._masks = masks

    def count(self, machines: int) -> int:
        """How many blocks of that size fit side by side."""
        if machines > DOMAIN:
            return sum(group.starts(machines // DOMAIN).bit_count() for group in self._groups.values())
        alike = Counter[int]()
        for pod, mask in zip(self._pods, self._masks, strict=True):
            alike[mask] += pod.alike
        return sum(times * aligned_starts(mask, machines, DOMAIN).bit_count() for mask, times in alike.items())

    def blocks(self, machines: int) -> Iterator[Block]:
        """All blocks of that size."""
        if machines > DOMAIN:
            domains = machines // DOMAIN
            for group in self._groups.values():
                yield from (group.run(start, domains) for start in bits(group.starts(domains)))
            return
        for pod, mask in enumerate(self._masks):
            for start in bits(aligned_starts(mask, machines, DOMAIN)):
                yield ((pod, span(start, machines)),)

    @cached_property
    def _groups(self) -> dict[str, _Neighbours]:
        """Raises ValueError when two pods claim one position."""
        indices: dict[str, dict[int, int]] = {}
        for index, pod in enumerate(self._pods):
            group = indices.setdefault(pod.gw_group, {})
            if pod.position in group:
                raise ValueError(f"two pods are at position {pod.position} of {pod.gw_group}")
            group[pod.position] = index
        return {
            name: _Neighbours(
                group, sum(1 << position for position, pod in group.items() if self._masks[pod] == _WHOLE)
            )
            for name, group in indices.items()
        }
