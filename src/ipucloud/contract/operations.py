"""Operations and their steps."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from ipucloud.contract.fields import Answer
from ipucloud.contract.lists import Listed, Page


class OperationState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


BLOCKED_BY = (
    "what the step under way waits for, since when, and how often that was checked, once it takes longer than usual or"
    " something went wrong"
)


class TargetOut(Answer):
    """What an operation works on; `cluster` is the cluster that it is, or belongs to, null for an export."""

    type: Literal["cluster", "partition", "export"]
    id: UUID
    cluster: UUID | None


class OperationSummaryOut(Answer):
    """An operation without its steps. `done` never turns back, and then nothing changes any more."""

    id: UUID
    kind: str = Field(examples=["cluster.create"])
    target: TargetOut
    state: str = Field(description="queued, running, cancelling, succeeded, failed or cancelled")
    done: bool
    stage: str | None = Field(examples=["POPLAR_SERVERS"])
    progress: int = Field(ge=0, le=100, description="percent")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    deadline_at: datetime = Field(description="when it is given up")
    expected_at: datetime | None = Field(description="when it should be done")
    blocked_by: str | None = Field(description=BLOCKED_BY)
    cancellable: bool
    request_id: str


class StepOut(Answer):
    """One action of an operation. `checks` counts how often it was found not done; `attempts` the failures of these."""

    name: str
    stage: str
    state: str = Field(
        description="pending, running, succeeded, failed, or skipped: it does not apply to machines of this type, as"
        " `detail` says, or the operation ended before it"
    )
    attempts: int
    checks: int
    detail: str | None
    started_at: datetime | None
    finished_at: datetime | None


class OperationOut(OperationSummaryOut):
    """The promise that a request was answered with, and how far it is."""

    error: dict[str, object] | None = Field(description="the problem it ended with")
    steps: list[StepOut]


class OperationPage(Page[OperationOut]):
    pass


class OperationList(Listed):
    """Operations that fulfil every filter."""

    state: list[OperationState] = Field(default_factory=list, description="any of these states")
    kind: str | None = Field(None, description="such as cluster.create")
    cluster: UUID | None = Field(None, description="of this cluster")


class Waiting(BaseModel):
    wait: float = Field(0, ge=0, le=60, description="answer when the operation is done, after so many seconds at most")
