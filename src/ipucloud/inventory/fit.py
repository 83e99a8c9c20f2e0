"""All aligned blocks of a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ipucloud.inventory.blocks import DOMAIN, aligned_starts, bits, span
from ipucloud.inventory.snapshot import Pod

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
