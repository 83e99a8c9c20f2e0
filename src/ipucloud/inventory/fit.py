"""All aligned blocks of a snapshot, and the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ipucloud.inventory.blocks import DOMAIN, aligned_starts, bits, span, tightest
from ipucloud.inventory.snapshot import Pod

Block = tuple[tuple[int, int], ...]
"""The parts of a block by position: (index of the pod in the snapshot, mask of its slots)."""

_WHOLE = span(0, DOMAIN)


@dataclass(frozen=True)
class _Neighbours:
    """The pods of one GW-Link group: their indices by position, and the mask of positions that are wholly usable."""

    pods: dict[int, int]
    whole: int

    @property
    def length(self) -> int:
        return self.whole.bit_length()

    def starts(self, domains: int) -> int:
        return aligned_starts(self.whole, domains, self.length)

    @cached_property
    def enclosing(self) -> dict[int, int]:
        """For each wholly usable position, the domains of the largest aligned usable run around it."""
        around = dict.fromkeys(bits(self.whole), 1)
        domains, starts = 2, self.starts(2)
        while starts:
            for start in bits(starts):
                around.update(dict.fromkeys(range(start, start + domains), domains))
            domains *= 2
            starts = self.starts(domains)
        return around

    def run(self, start: int, domains: int) -> Block:
        return tuple((self.pods[position], _WHOLE) for position in range(start, start + domains))


class Fit:
    """The aligned blocks that the usable slots of a snapshot form; `masks` holds one mask for each pod."""

    def __init__(self, pods: Sequence[Pod], masks: Sequence[int]) -> None:
        self._pods = pods
        self._masks = masks

    def best(self, machines: int) -> Block | None:
        """The block of that size in the smallest enclosing usable block; ties by pod, then slot."""
        if machines > DOMAIN:
            return self._best_run(machines // DOMAIN)
        best: tuple[int, int, int] | None = None
        for pod, mask in enumerate(self._masks):
            found = tightest(mask, machines)
            if found is None:
                continue
            enclosing = found.enclosing if mask != _WHOLE else DOMAIN * self._domains_around(pod)
            if best is None or enclosing < best[0]:
                best = (enclosing, pod, found.start)
            if enclosing == machines:
                break
        return None if best is None else ((best[1], span(best[2], machines)),)

    def count(self, machines: int) -> int:
        """How many blocks of that size fit side by side."""
        if machines > DOMAIN:
            return sum(group.starts(machines // DOMAIN).bit_count() for group in self._groups.values())
        return sum(aligned_starts(mask, machines, DOMAIN).bit_count() for mask in self._masks)

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

    def _best_run(self, domains: int) -> Block | None:
        runs = (
            (group.enclosing[start], group.pods[start], group.run(start, domains))
            for group in self._groups.values()
            for start in bits(group.starts(domains))
        )
        best = min(runs, default=None, key=lambda run: run[:2])
        return None if best is None else best[2]

    def _domains_around(self, pod: int) -> int:
        view = self._pods[pod]
        return self._groups[view.gw_group].enclosing[view.position]

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
