"""The pods of one region and machine type at one instant, as masks of their slots.

A block of size 2^k begins at a multiple of its size (buddy rule), both for slots along an IPU-Link chain and for
neighbouring domains. Bit i of a mask says that place i is usable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache, reduce
from operator import attrgetter, or_
from typing import NamedTuple


class SlotState(StrEnum):
    """A machine's state for placement; exactly one applies.

    `unhealthy` and `maintenance` are machines that no cluster holds and that take none now; one that a cluster holds is
    `allocated`, whatever its health. `cleaning` and `validating` become `free` by
    themselves, the latter only if the machine passes. `silent` ones take none because their V-IPU controller does not
    answer, or its release is not supported.
    """

    FREE = "free"
    ALLOCATED = "allocated"
    CLEANING = "cleaning"
    UNHEALTHY = "unhealthy"
    MAINTENANCE = "maintenance"
    VALIDATING = "validating"
    SILENT = "silent"


class Pod(NamedTuple):
    """One IPU-Link domain: for each state, the slots whose machines are in it. Bit i is the slot i of its chain.

    Pods of one `gw_group` at consecutive positions are neighbours by GW-Links. `alike`: it stands for so many pods with
    equal masks; `gw_group` and `position` are those of none then, and only blocks within a pod can be found.
    """

    gw_group: str
    position: int
    free_mask: int = 0
    allocated_mask: int = 0
    cleaning_mask: int = 0
    unhealthy_mask: int = 0
    maintenance_mask: int = 0
    validating_mask: int = 0
    silent_mask: int = 0
    alike: int = 1

    def mask(self, state: SlotState) -> int:
        """The slots in a state."""
        slots: int = _MASK[state](self)
        return slots


_MASK = {state: attrgetter(f"{state}_mask") for state in SlotState}


def machines_in(pods: Sequence[Pod], state: SlotState) -> int:
    """How many machines of the pods are in a state."""
    return sum(pod.alike * mask.bit_count() for pod, mask in zip(pods, usable(pods, state), strict=True))


def usable(pods: Sequence[Pod], *states: SlotState) -> list[int]:
    """For each pod, the mask of its slots in any of `states`; at least one is given."""
    masks = (list[int](map(_MASK[state], pods)) for state in states)
    return reduce(lambda some, more: list(map(or_, some, more)), masks)


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
