"""A plan: the steps of an operation, in order, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One action of an operation. `stage` is what a customer sees; several steps may share one.

    `skipped` says why the step does not apply to the object; it is recorded, and never taken.
    """

    name: str
    stage: str
    skipped: str | None = None
