"""A step of an operation, as data: what it does, what a customer is shown of it, and what its outcome writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.operations.results import Achieved, Failed

Act = TypeVar("Act")
"""How a feature's steps are taken; its reconciler calls it."""
Inputs = TypeVar("Inputs")
"""What a feature's reconcile pass has loaded."""

OnSuccess: TypeAlias = Callable[[AsyncConnection, Inputs, Achieved], Awaitable[None]]
OnFailure: TypeAlias = Callable[[AsyncConnection, Inputs, Failed], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Stage:
    """The part of an operation that a customer is shown; several steps may share one.

    `seconds`: how long it usually takes for a POD16, where the site does not say so itself.
    """

    name: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Step(Generic[Act, Inputs]):
    """One action, safe to run again from its start at any time.

    `on_success` and `on_failure` write in the transaction that records the outcome. `endures`: it is repeated until it
    succeeds, and never fails its operation, as everything has to that takes something down. Any other is given up after
    `attempts` failures: None for the number that the worker is set to, infinity for the operation's deadline alone.
    `backoff` multiplies the pauses in between. `requires` names what the step has no use without.
    `asks` names the objects that the step talks to, as a customer reads it; None for what its feature says of all.
    """

    name: str
    stage: Stage
    act: Act
    on_success: OnSuccess[Inputs] | None = None
    on_failure: OnFailure[Inputs] | None = None
    endures: bool = False
    attempts: float | None = None
    backoff: float = 1.0
    requires: frozenset[str] = frozenset()
    asks: Callable[[Inputs], str] | None = None


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step as it is recorded when its operation opens.

    `skipped` says why it does not apply to the object; it is recorded, and never taken.
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
    """How long the plan's stages usually take: by the site's own figures, by stage name, else by the declarations.

    Stages of which every step is skipped take no time.
    """
    stages = dict.fromkeys(step.stage for step in plan if step.skipped is None)
    return sum(typical_seconds.get(stage.name, stage.seconds) for stage in stages)
