"""Aligned blocks in bit masks.

A block of size 2^k begins at a multiple of its size (buddy rule), both for slots along an IPU-Link chain and for
neighbouring domains. Bit i of a mask says that place i is usable.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

DOMAIN = 16
"""Machines of a whole IPU-Link domain: at most 64 IPUs. Source: V-IPU rule 4."""


class Tightest(NamedTuple):
    """A block's start, and the size of the largest aligned usable block it lies in."""

    enclosing: int
    start: int


def aligned_starts(mask: int, size: int, length: int) -> int:
    """A bit at each start of an aligned block of `size` usable places, among `length` places."""
    step = 1
    while step < size:
        mask &= mask >> step
        step *= 2
        mask &= _every(step, length)
    return mask


def span(start: int, size: int) -> int:
    """The mask of the block [start, start + size)."""
    return ((1 << size) - 1) << start


def bits(mask: int) -> Iterator[int]:
    """The places of the set bits, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@lru_cache(maxsize=1 << 16)
def tightest(mask: int, size: int) -> Tightest | None:
    """The block of `size` that fragments a domain least: in the smallest enclosing block, then at the lowest slot."""
    enclosing = size
    starts = aligned_starts(mask, size, DOMAIN)
    while starts:
        larger = aligned_starts(mask, 2 * enclosing, DOMAIN) if enclosing < DOMAIN else 0
        alone = starts & ~(larger | larger << enclosing)
        if alone:
            return Tightest(enclosing, next(bits(alone)))
        starts, enclosing = larger, 2 * enclosing
    return None


@cache
def _every(step: int, length: int) -> int:
    return sum(1 << place for place in range(0, length, step))
