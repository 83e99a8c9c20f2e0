"""The allocator's input: the pods of one region and machine type at one instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol
from uuid import UUID

from ipucloud.inventory.blocks import DOMAIN


class SlotState(StrEnum):
    """A machine's state for the allocator; exactly one applies.

    `unhealthy` and `maintenance` are machines that no cluster holds and that take none now; one that a cluster holds is
    `allocated`, whatever its health. `cleaning` becomes `free` by itself.
    """

    FREE = "free"
    ALLOCATED = "allocated"
    CLEANING = "cleaning"
    UNHEALTHY = "unhealthy"
    MAINTENANCE = "maintenance"


class Pod(Protocol):
    """One IPU-Link domain as the allocator needs it; implemented by `PodView` and `PackedPod`."""

    @property
    def id(self) -> UUID: ...

    @property
    def gw_group(self) -> str:
        """Pods of one group at consecutive positions are neighbours by GW-Links."""

    @property
    def position(self) -> int: ...

    @property
    def masks(self) -> Mapping[SlotState, int]:
        """For each state, the mask of the slots in it; bit i is the slot i of the IPU-Link chain, from 0 to 15."""

    def machines_in(self, mask: int) -> list[UUID]:
        """The machines in the mask's slots, by slot."""


@dataclass(frozen=True, slots=True)
class PackedPod:
    """A pod as one row of an aggregating query: thousands of machines without an object for each.

    `machine_ids[i]` is the machine in slot `slots[i]`, slots ascending. States without machines may be omitted from
    `masks`.
    """

    id: UUID
    gw_group: str
    position: int
    slots: Sequence[int]
    machine_ids: Sequence[UUID]
    masks: Mapping[SlotState, int]

    def machines_in(self, mask: int) -> list[UUID]:
        return [machine for slot, machine in zip(self.slots, self.machine_ids, strict=True) if mask >> slot & 1]


@dataclass(frozen=True, slots=True)
class SlotView:
    """A machine at its place (0 to 15) along its domain's IPU-Link chain."""

    machine_id: UUID
    slot: int
    state: SlotState


@dataclass(frozen=True)
class PodView:
    """A pod with a view of each machine."""

    id: UUID
    gw_group: str
    position: int
    slots: tuple[SlotView, ...]

    @cached_property
    def masks(self) -> dict[SlotState, int]:
        """Raises ValueError for a slot out of range or taken twice."""
        masks = dict.fromkeys(SlotState, 0)
        seen = 0
        for view in self.slots:
            bit = 1 << view.slot
            if view.slot >= DOMAIN or seen & bit:
                raise ValueError(f"pod {self.id} has no single machine in slot {view.slot}")
            seen |= bit
            masks[view.state] |= bit
        return masks

    def machines_in(self, mask: int) -> list[UUID]:
        return [view.machine_id for view in sorted(self.slots, key=lambda view: view.slot) if mask >> view.slot & 1]


def usable(pods: Sequence[Pod], *states: SlotState) -> list[int]:
    """For each pod, the mask of its slots in any of `states`."""
    result = []
    for pod in pods:
        mask = 0
        for state in states:
            mask |= pod.masks.get(state, 0)
        result.append(mask)
    return result
