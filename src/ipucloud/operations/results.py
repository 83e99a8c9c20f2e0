"""The possible results of one step of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ipucloud.kernel.errors import Problem


@dataclass(frozen=True, slots=True)
class Achieved:
    """The step's goal was observed in this reconcile pass. A subclass carries data to record.

    `note` is recorded as the step's detail, for the customer.
    """

    note: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Pending:
    """Requested but not there yet. `detail` is for the customer; `recheck` in seconds, None for the usual interval.

    `notes`, as JSON, are given to the step's next check; any other result forgets them. `blocked`: the customer is told
    at once what it waits for. `endless`: how long it takes is up to the customer, and only the operation's deadline
    ends the wait.
    """

    detail: str
    recheck: float | None = None
    notes: Mapping[str, Any] | None = None
    blocked: bool = False
    endless: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The step made no progress.

    `final`: repeating it changes nothing. `outage`: nothing answered, so the step itself may be fine. `problem`: what
    the operation ends with, if the step knows better than its kind.
    """

    detail: str
    final: bool = False
    outage: bool = False
    problem: Problem | None = None


class GiveUp(Exception):
    """Raised by what the success of a step writes: the step cannot succeed after all, and is given up."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.detail)
        self.failed = failed


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The customer cancelled; nothing was tried."""


StepResult = Achieved | Pending | Failed | Cancelled
