"""Aligned blocks in bit masks.

A block of size 2^k begins at a multiple of its size (buddy rule), both for slots along an IPU-Link chain and for
neighbouring domains. Bit i of a mask says that place i is usable.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

DOMAIN = 16
"""Machines of a whole IPU-Link domain: at most 64 IPUs. Source: V-IPU rule 4."""

RUN = 16
"""Neighbouring domains of one run, which the largest cluster fills."""


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


def tightest(mask: int, size: int) -> int:
    """The block of `size` places, as a mask, that splits the smallest free block; the lowest of equals.

    Raises ValueError when no aligned block of that size is free.
    """
    around, starts = size, aligned_starts(mask, size, DOMAIN)
    while starts:
        larger = aligned_starts(mask, 2 * around, DOMAIN) if around < DOMAIN else 0
        if alone := starts & ~(larger | larger << around):
            return span(next(bits(alone)), size)
        starts, around = larger, 2 * around
    raise ValueError(f"no aligned block of {size} is free in {mask:#06x}")


@cache
def _every(step: int, length: int) -> int:
    return sum(1 << place for place in range(0, length, step))
