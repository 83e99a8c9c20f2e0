"""Room for a partition: aligned (buddy) blocks of IPUs that belong to no partition. Pure.

A partition of 2^k IPUs in a domain takes a block that begins at a multiple of 2^k (rule 10 of docs/vipu.md), so a size
can be refused although enough IPUs are free. Blocks are counted along the chain of IPU-Links, whatever the controller's
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ipucloud.kernel.vipu import DOMAIN_IPUS, IpuPlace


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """An aligned run of `size` free IPUs in a domain, from `start` on."""

    domain: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Room:
    """The free IPUs: the fewest blocks that cover them."""

    blocks: tuple[Block, ...]

    @property
    def largest(self) -> int:
        """The size of the largest partition of one domain that fits; 0 when nothing is free."""
        return max((block.size for block in self.blocks), default=0)

    @property
    def free(self) -> int:
        """How many IPUs are free."""
        return sum(block.size for block in self.blocks)

    def fits(self, size: int, segments: int) -> bool:
        """Whether `size` IPUs fit, spread evenly over `segments` neighbouring domains."""
        per_domain = max(1, size // segments)
        roomy = {block.domain for block in self.blocks if block.size >= per_domain}
        return any(all(first + step in roomy for step in range(segments)) for first in roomy)


def room(of_cluster: Iterable[IpuPlace], occupied: Iterable[IpuPlace]) -> Room:
    """The free IPUs of a cluster."""
    free = set(of_cluster) - set(occupied)
    blocks = [
        block for domain in sorted({place.domain for place in free}) for block in _blocks(domain, free, 0, DOMAIN_IPUS)
    ]
    return Room(tuple(blocks))


def _blocks(domain: int, free: set[IpuPlace], start: int, size: int) -> Iterator[Block]:
    count = sum(IpuPlace(domain, place) in free for place in range(start, start + size))
    if count == size:
        yield Block(domain, start, size)
    elif count:
        half = size // 2
        yield from _blocks(domain, free, start, half)
        yield from _blocks(domain, free, start + half, half)
