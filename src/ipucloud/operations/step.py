"""A step of an operation, as data: what it does, what a customer sees of it, and what its outcome writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.operations.results import Achieved, Failed

Act = TypeVar("Act")
"""Calls a feature's steps; used by its reconciler."""
Inputs = TypeVar("Inputs")
"""The inputs that a feature's reconcile pass has loaded."""

OnSuccess: TypeAlias = Callable[[AsyncConnection, Inputs, Achieved], Awaitable[None]]
OnFailure: TypeAlias = Callable[[AsyncConnection, Inputs, Failed], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Stage:
    """The part of an operation that a customer sees; several steps may share one.

    `seconds`: its usual length for a POD16, unless the site reports its own.
    """

    name: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Step(Generic[Act, Inputs]):
    """One action, safe to run again from its start at any time.

    `on_success` and `on_failure` write in the transaction that records the outcome. `endures`: it is repeated until it
    succeeds and never fails its operation, as clean-up steps must. `removes`: it waits while an operator has frozen
    removals. Any other is given up after `attempts` failures:
    None for the worker's setting, infinity for the operation's deadline alone. `backoff` multiplies the pauses in
    between. `requires` names what the step is useless without. `asks` names the objects that the step talks to, for
    customers; None for the feature's default.
    """

    name: str
    stage: Stage
    act: Act
    on_success: OnSuccess[Inputs] | None = None
    on_failure: OnFailure[Inputs] | None = None
    endures: bool = False
    removes: bool = False
    attempts: float | None = None
    backoff: float = 1.0
    requires: frozenset[str] = frozenset()
    asks: Callable[[Inputs], str] | None = None


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step as recorded when its operation opens.

    `skipped` is the reason why it does not apply to the object; the step is recorded but never taken.
    """

    name: str
    stage: Stage
    skipped: str | None = None


def plan_of(steps: Iterable[Step[Act, Inputs]], lacking: Mapping[str, str]) -> tuple[PlannedStep, ...]:
    """The steps in order. `lacking` maps what the object does not have to the sentence that a skipped step shows."""
    return tuple(
        PlannedStep(step.name, step.stage, next((why for what, why in lacking.items() if what in step.requires), None))
        for step in steps
    )


def expected_seconds(plan: Iterable[PlannedStep], typical_seconds: Mapping[str, float]) -> float:
    """The usual length of the plan's stages, in seconds: by the site's own figures, by stage name, else as declared.

    Stages whose steps are all skipped take no time.
    """
    stages = dict.fromkeys(step.stage for step in plan if step.skipped is None)
    return sum(typical_seconds.get(stage.name, stage.seconds) for stage in stages)
