"""The pods of one region and machine type at one instant, as masks of their slots."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import NamedTuple


class SlotState(StrEnum):
    """A machine's state for placement; exactly one applies.

    `unhealthy` and `maintenance` are machines that no cluster holds and that take none now; one that a cluster holds is
    `allocated`, whatever its health. `cleaning` becomes `free` by itself.
    """

    FREE = "free"
    ALLOCATED = "allocated"
    CLEANING = "cleaning"
    UNHEALTHY = "unhealthy"
    MAINTENANCE = "maintenance"


class Pod(NamedTuple):
    """One IPU-Link domain: for each state, the slots whose machines are in it. Bit i is the slot i of its chain.

    Pods of one `gw_group` at consecutive positions are neighbours by GW-Links.
    """

    gw_group: str
    position: int
    free_mask: int = 0
    allocated_mask: int = 0
    cleaning_mask: int = 0
    unhealthy_mask: int = 0
    maintenance_mask: int = 0

    def mask(self, state: SlotState) -> int:
        """The slots in a state."""
        masks: tuple[int, ...] = self[2:]
        return masks[_STATES.index(state)]


_STATES = tuple(SlotState)


def usable(pods: Sequence[Pod], *states: SlotState) -> list[int]:
    """For each pod, the mask of its slots in any of `states`."""
    return [reduce(or_, (pod.mask(state) for state in states), 0) for pod in pods]
