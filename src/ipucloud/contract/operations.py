"""Operations and their steps."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Shape
from ipucloud.contract.lists import Listed, Page


class OperationState(StrEnum):
    """State of an operation; it never leaves `succeeded`, `failed` and `cancelled`."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ActorKind(StrEnum):
    """Who asks for something."""

    USER = "user"
    TOKEN = "token"
    OPERATOR = "operator"
    PLATFORM = "platform"


class RequestedByOut(Answer):
    """Who asked for an operation or a job."""

    kind: str = Field(
        description="`user`: a person; `token`: a service token of the project; `operator`: a token of the platform;"
        " `platform`: the service itself.",
        examples=["user"],
    )
    name: str | None = Field(
        description="E-mail of the person, or name of the token; of `platform` the reason: `schedule`, `idle`,"
        " `expiry`, `repair`, `unpaid`, `reset`, or `upkeep` for any other.",
        examples=["ann@example.com"],
    )
    token_id: UUID | None = Field(
        description="Id of the token or membership that asked; null: the platform did.",
        examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"],
    )


BLOCKED_BY = (
    "What the current step waits for, since when, and how often it was checked. A step of a clean-up (delete, suspend,"
    " undo) says so from its first check on; for any other it is null unless it takes longer than usual or something"
    " failed."
)


class TargetOut(Answer):
    """The object that an operation changes."""

    type: Literal["cluster", "partition", "export"]
    id: UUID
    cluster: UUID | None


class OperationSummaryOut(Answer):
    """An operation without its steps. Once `done` is true, nothing changes any more."""

    id: UUID
    kind: str = Field(description="Kind of operation.", examples=["cluster.create"])
    target: TargetOut
    state: str = Field(description="`queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.")
    done: bool
    stage: str | None = Field(examples=["POPLAR_SERVERS"])
    progress: int = Field(ge=0, le=100, description="Progress in percent.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    deadline_at: datetime = Field(description="When the operation fails if it is not done by then.")
    expected_at: datetime | None = Field(description="Expected time of completion.")
    blocked_by: str | None = Field(description=BLOCKED_BY)
    cancellable: bool
    request_id: str
    requested_by: RequestedByOut = Field(description="Who asked for it.")


class StepOut(Answer):
    """One action of an operation."""

    name: str
    stage: str
    state: str = Field(
        description="`pending`, `running`, `succeeded`, `failed`, or `skipped`: it does not apply to this machine type,"
        " as `detail` says, or the operation ended before it."
    )
    attempts: int
    checks: int
    detail: str | None
    started_at: datetime | None
    finished_at: datetime | None


class OperationOut(OperationSummaryOut):
    """An asynchronous request and its progress."""

    error: dict[str, object] | None = Field(description="Why it failed: a problem document. Null unless it failed.")
    steps: list[StepOut]


class OperationPage(Page[OperationOut]):
    pass


class OperationList(Listed):
    """Operations that match every filter."""

    state: list[OperationState] = Field(default_factory=list, description="Only those in one of these states.")
    kind: str | None = Field(None, description="Only operations of this kind, such as `cluster.create`.")
    cluster: UUID | None = Field(None, description="Only operations on this cluster, by id.")


class Waiting(Shape):
    wait: float = Field(
        0, ge=0, le=60, description="Seconds to wait for the operation to be done before the service responds."
    )
