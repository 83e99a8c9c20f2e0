"""What a scenario gives: figures, each with the goal it is held against, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Bound(StrEnum):
    """Which way a goal points."""

    LEAST = "≥"
    MOST = "≤"


@dataclass(frozen=True, slots=True)
class Goal:
    """`Goal(Bound.LEAST, 0.6)`: the figure should be at least 0.6."""

    bound: Bound
    value: float

    def met(self, measured: float) -> bool:
        return measured >= self.value if self.bound is Bound.LEAST else measured <= self.value

    def __str__(self) -> str:
        return f"{self.bound} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One figure. `unit` is empty for a ratio; `numbers` are those it was made from."""

    what: str
    measured: float
    unit: str = ""
    goal: Goal | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`met`, `not met`, or nothing when there is no goal."""
        if self.goal is None:
            return ""
        return "met" if self.goal.met(self.measured) else "not met"


def at_least(value: float) -> Goal:
    return Goal(Bound.LEAST, value)


def at_most(value: float) -> Goal:
    return Goal(Bound.MOST, value)
