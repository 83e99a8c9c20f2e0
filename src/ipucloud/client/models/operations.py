"""Operations: the promises the service made, and how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ipucloud.client.models.base import Answer


class OperationState(StrEnum):
    """States this version knows; a newer server may have more, which then are plain text."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Target(Answer):
    """What an operation works on."""

    type: str
    id: str


class Problem(Answer):
    """Why an operation failed; `code` is stable."""

    code: str
    detail: str = ""


class Step(Answer):
    """One action of an operation."""

    name: str
    stage: str
    state: str
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempts: int = 0
    checks: int = 0
    detail: str | None = None


class Operation(Answer):
    """Work that goes on after the request was answered. `done` never turns back, and then nothing changes any more.

    `progress` is a percentage, `expected_at` when it should be done, `deadline_at` when it is given up.
    `blocked_by` says what it waits for, since when and how often that was checked, when a step takes longer than usual.
    """

    id: str
    kind: str
    target: Target
    state: Annotated[OperationState | str, Field(union_mode="left_to_right")]
    done: bool
    stage: str | None = None
    progress: int = 0
    steps: Sequence[Step] = ()
    error: Problem | None = None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    deadline_at: datetime | None = None
    expected_at: datetime | None = None
    blocked_by: str | None = None
    cancellable: bool = False
    request_id: str | None = None

    @property
    def succeeded(self) -> bool:
        return self.state == OperationState.SUCCEEDED
