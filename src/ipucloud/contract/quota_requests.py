"""Requests of projects for higher quotas: what they ask for, and what the operator decides."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Line, Lines, Slug
from ipucloud.contract.lists import Listed, Page, Paged
from ipucloud.contract.quotas import MAX_MACHINES


class QuotaRequestState(StrEnum):
    """State of a request for a higher quota; only an `open` one changes."""

    OPEN = "open"
    GRANTED = "granted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


_STATE = (
    "`open`: the operator has not decided; `granted`: the quota was raised, perhaps to less than what was asked for;"
    " `declined`: it was not, and `answer` says why; `withdrawn`: the project no longer asks"
)
_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71"
_TOKEN = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"  # an id


class QuotaRequestCreate(Body):
    """Which quota should be how high, and why."""

    region: Slug = Field(description="Slug of the region.", examples=["luxembourg-2"])
    machine_type: Slug = Field(
        description="Type of the machines; `volume-gib`: volumes and snapshots; `address`: addresses.",
        examples=["m2000"],
    )
    limit: int = Field(
        ge=1,
        le=MAX_MACHINES,
        description="How many machines, GiB of storage, or addresses, the project wants to be able to hold.",
        examples=[128],
    )
    reason: Lines = Field(
        description="What they are for, for the operator.", examples=["A POD512 for the training run in May."]
    )


class QuotaRequestOut(Answer):
    """A request for a higher quota."""

    id: UUID = Field(description="Id of the request.", examples=[_ID])
    state: QuotaRequestState = Field(description=f"Present state. {_STATE}.", examples=["granted"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    machine_type: str = Field(
        description="Type of the machines; `volume-gib`: volumes and snapshots; `address`: addresses.",
        examples=["m2000"],
    )
    limit: int = Field(description="How many machines the project wants to be able to hold.", examples=[128])
    reason: str = Field(description="What they are for.", examples=["A POD512 for the training run in May."])
    created_by: UUID = Field(description="Id of the token that asked.", examples=[_TOKEN])
    created_at: datetime = Field(description="When it was asked for.")
    granted_limit: int | None = Field(
        description="The limit that the quota was raised to; null unless it was granted.", examples=[64]
    )
    answer: str | None = Field(
        description="What the operator says to the decision; null: nothing.", examples=["64 now; ask again in June."]
    )
    decided_at: datetime | None = Field(description="When it was granted, declined or withdrawn; null before that.")


class QuotaRequestPage(Page[QuotaRequestOut]):
    pass


class QuotaRequestList(Listed):
    """Requests for higher quotas that match every filter."""

    state: list[QuotaRequestState] = Field(default_factory=list, description="Only those in these states.")


class OperatorQuotaRequestOut(QuotaRequestOut):
    """A request for a higher quota, as operators see it."""

    project: str = Field(description="Slug of the project.", examples=["research"])
    present_limit: int = Field(description="The present limit of the quota.", examples=[16])
    used: int = Field(description="Machines that the project holds now.", examples=[16])
    decided_by: UUID | None = Field(
        description="Id of the token that granted, declined or withdrew it; null before that.", examples=[_TOKEN]
    )


class OperatorQuotaRequestPage(Page[OperatorQuotaRequestOut]):
    pass


class OperatorQuotaRequestList(Paged):
    """Requests for higher quotas of every project that match every filter, oldest first."""

    state: QuotaRequestState | None = Field(None, description="Only those in this state.")
    region: str | None = Field(None, description="Only those of this region.", examples=["luxembourg-2"])
    project: str | None = Field(None, description="Only those of this project, by slug.")


class QuotaRequestGrant(Body):
    """How much of a request is granted."""

    limit: int | None = Field(
        None,
        ge=1,
        le=MAX_MACHINES,
        description="The new limit, above the present one and not above what was asked for; null: as asked for.",
        examples=[64],
    )
    answer: Line | None = Field(
        None, description="What the customer reads with it.", examples=["64 now; ask again in June."]
    )


class QuotaRequestDecline(Body):
    """Why a request is not granted."""

    reason: Line = Field(
        description="Why; the customer reads it.", examples=["The region has no more machines of this type."]
    )
