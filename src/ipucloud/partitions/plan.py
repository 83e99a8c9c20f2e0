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
    for partition in desired:
        actual = observed.get(partition.name)
        match partition.desired_state:
            case DesiredState.ABSENT if actual is not None:
                removals.append(Remove(partition.name))
            case DesiredState.PRESENT if actual is None and partition.shape is not None:
                others.append(Make(partition.name, partition.shape))
            case DesiredState.RESET if actual is not None and not partition.sent and actual.state in AT_REST:
                others.append(Reset(partition.name))
    return (*removals, *others)


class Verdict(StrEnum):
    """How a partition compares with its desired state."""

    REACHED = "reached"
    PENDING = "pending"
    BROKEN = "broken"
    OTHER = "other"
    MISSING = "missing"


def judge(desired: Desired, actual: SeenPartition | None) -> Verdict:
    """`broken`: in error. `other`: has another shape. `missing`: it was to be kept or reset, but does not exist."""
    if desired.desired_state is DesiredState.ABSENT:
        return Verdict.REACHED if actual is None else Verdict.PENDING
    if actual is None:
        return Verdict.PENDING if desired.desired_state is DesiredState.PRESENT else Verdict.MISSING
    if desired.shape is not None and not fits(desired.shape, actual.shape):
        return Verdict.OTHER
    if desired.desired_state is DesiredState.RESET and not desired.sent:
        return Verdict.PENDING
    if actual.state is PartitionState.ACTIVE:
        return Verdict.REACHED
    return Verdict.BROKEN if actual.state is PartitionState.ERROR else Verdict.PENDING


def fits(desired: PartitionShape, shown: PartitionShape) -> bool:
    """Whether a partition has the requested shape; what was left to the controller may have any value."""
    pairs = (
        (desired.size, shown.size),
        (desired.gcds, shown.gcds),
        (desired.reconfigurable, shown.reconfigurable),
        (desired.replicas, shown.replicas),
        (desired.segments, shown.segments),
        (desired.sync_type, shown.sync_type),
        (desired.routing, shown.routing),
        (desired.gateway_routing, shown.gateway_routing),
    )
    return all(want is None or want == have for want, have in pairs)
