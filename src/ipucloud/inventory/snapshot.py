"""The pods of one region and machine type at one instant, as masks of their slots."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import reduce
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
