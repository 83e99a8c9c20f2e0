"""What to ask of a controller, given what is wanted and what it shows. Pure.

Own names only: whatever else the controller shows takes part as somebody's own and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.partitions.states import DesiredState
from ipucloud.site.ports import PartitionState, SeenPartition


@dataclass(frozen=True, slots=True)
class Desired:
    """A name of ours and what is wanted of it.

    `shape` is what to make, for one that is to be made. `sent`: the reset was asked for and confirmed already.
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
"""A controller resets only a partition on which nothing is under way."""


def plan(desired: Iterable[Desired], observed: Mapping[str, SeenPartition]) -> tuple[Action, ...]:
    """The actions that bring the controller to what is desired: removals first, for they make room."""
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
    """How a partition stands to what is wanted of it."""

    REACHED = "reached"
    PENDING = "pending"
    BROKEN = "broken"
    OTHER = "other"
    MISSING = "missing"


def judge(desired: Desired, seen: SeenPartition | None) -> Verdict:
    """`broken`: in error. `other`: not what was asked for. `missing`: it was there to be kept or reset, and is not."""
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
    """Whether a partition is what was asked for; what was left to the controller may be anything."""
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
