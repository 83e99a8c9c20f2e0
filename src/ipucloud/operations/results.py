"""What one step of an operation can come back with."""

from __future__ import annotations

from dataclasses import dataclass

from ipucloud.kernel.errors import Problem


@dataclass(frozen=True, slots=True)
class Achieved:
    """What the step is for was observed in this reconcile pass. A subclass carries what is to be recorded of it."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Requested and not there yet. `detail` is for the customer; `recheck` seconds, None for the usual interval."""

    detail: str
    recheck: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The step made no progress.

    `final`: repeating it changes nothing. `outage`: nobody answered, which says nothing about the step. `problem`: what
    the operation ends with, when the step knows better than its kind.
    """

    detail: str
    final: bool = False
    outage: bool = False
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The customer asked to stop; nothing was tried."""


StepResult = Achieved | Pending | Failed | Cancelled
