"""Requests to a controller, given the desired states and what it shows. Pure.

Only our own names are changed: everything else that the controller shows belongs to others and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.partitions.states import DesiredState
from ipucloud.site.vipu_ports import PartitionState, SeenPartition


@dataclass(frozen=True, slots=True)
class Desired:
    """One of our names and its desired state.

    `shape` is the shape of a partition to make. `sent`: the reset was already sent and confirmed.
    """

    name: str
    desired_state: DesiredState
    shape: PartitionShape | None = None
    sent: bool = False


@dataclass(frozen=True, slots=True)
class Make:
    name: str
    shape: PartitionShape


@dataclass(frozen=True, slots=True)
class Reset:
    name: str


@dataclass(frozen=True, slots=True)
class Remove:
    name: str


Action = Make | Reset | Remove

AT_REST = frozenset({PartitionState.ACTIVE, PartitionState.ERROR})
"""A controller resets only a partition without a running change."""


def plan(desired: Iterable[Desired], observed: Mapping[str, SeenPartition]) -> tuple[Action, ...]:
    """The actions that bring the controller to the desired states: removals first, because they make room."""
    removals: list[Action] = []
    others: list[Action] = []
    for each in desired:
        seen = observed.get(each.name)
        match each.desired_state:
            case DesiredState.ABSENT if seen is not None:
                removals.append(Remove(each.name))
            case DesiredState.PRESENT if seen is None and each.shape is not None:
                others.append(Make(each.name, each.shape))
            case DesiredState.RESET if seen is not None and not each.sent and seen.state in AT_REST:
                others.append(Reset(each.name))
    return (*removals, *others)


class Verdict(StrEnum):
    """How a partition compares with its desired state."""

    REACHED = "reached"
    PENDING = "pending"
    BROKEN = "broken"
    OTHER = "other"
    MISSING = "missing"


def judge(desired: Desired, seen: SeenPartition | None) -> Verdict:
    """`broken`: in error. `other`: has another shape. `missing`: it was to be kept or reset, but does not exist."""
    if desired.desired_state is DesiredState.ABSENT:
        return Verdict.REACHED if seen is None else Verdict.PENDING
    if seen is None:
        return Verdict.PENDING if desired.desired_state is DesiredState.PRESENT else Verdict.MISSING
    if desired.shape is not None and not fits(desired.shape, seen.shape):
        return Verdict.OTHER
    if desired.desired_state is DesiredState.RESET and not desired.sent:
        return Verdict.PENDING
    if seen.state is PartitionState.ACTIVE:
        return Verdict.REACHED
    return Verdict.BROKEN if seen.state is PartitionState.ERROR else Verdict.PENDING


def fits(wanted: PartitionShape, shown: PartitionShape) -> bool:
    """Whether a partition has the requested shape; what was left to the controller may have any value."""
    pairs = (
        (wanted.size, shown.size),
        (wanted.gcds, shown.gcds),
        (wanted.reconfigurable, shown.reconfigurable),
        (wanted.replicas, shown.replicas),
        (wanted.segments, shown.segments),
        (wanted.sync_type, shown.sync_type),
        (wanted.routing, shown.routing),
        (wanted.gateway_routing, shown.gateway_routing),
    )
    return all(mine is None or mine == theirs for mine, theirs in pairs)
