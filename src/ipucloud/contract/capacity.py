"""Capacity: waiting for it, reserving it, and giving it up as a preemptible cluster."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from ipucloud.contract.estimates import EstimateQuotaOut, WhyNotOut
from ipucloud.contract.fields import Answer, Body, ClusterName, Instant, Slug
from ipucloud.contract.lists import Listed, Page
from ipucloud.kernel.money import Money


class WaitingRequest(Body):
    """Whether a request waits for machines."""

    wait_for_capacity: bool = Field(
        False, description="Whether the request waits for machines when none are free for it, instead of being refused."
    )
    wait_until: Instant | None = Field(
        None,
        description=(
            "Until when it waits, at most seven days from now; null: for a day. Needs `wait_for_capacity`. Without"
            " machines by then the operation fails with `capacity_wait_expired`."
        ),
        examples=[None],
    )


class CapacityWaitOut(Answer):
    """A cluster's wait for machines. What it waits for is not billed, and takes no quota."""

    place: int = Field(description="Place in the queue of its region and machine type, counted from 1.", examples=[1])
    machines: int = Field(
        description="How many machines the cluster is to have; of a resize, those of its new size.", examples=[4]
    )
    since: datetime = Field(description="Since when it waits.")
    until: datetime = Field(description="When the operation fails if it has no machines by then.")
    expected_at: datetime | None = Field(
        description=(
            "When a cluster that is large enough expires next; null: no known expiry tells, or it is not the first"
            " in the queue."
        ),
        examples=[None],
    )
    held_up_by: str | None = Field(
        description="Code of what holds it up besides the lack of machines, such as `quota_exceeded`; null: nothing.",
        examples=[None],
    )
    observed_at: datetime | None = Field(
        description="When the queue last found no machines for it; null: others were first so far."
    )


PreemptionOutcome: TypeAlias = Literal["suspended", "not_needed", "not_in_use"]
"""How a notice ended: the cluster is suspended, its machines are not needed any more, or it was stopped before."""


MOST_CLUSTERS = 64
"""Most clusters of one reservation."""


class ReservationState(StrEnum):
    """State of a reservation."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    ENDED = "ended"
    CANCELLED = "cancelled"


_STATE = (
    "`scheduled`: its machines are held, and it has not begun; `active`: it is billed, and clusters can be created from"
    " it; `ended`: its time is over; `cancelled`: it was cancelled before it began, and nothing is billed"
)
_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b81"
_CLUSTER = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"
_CANCEL = "Until when it can be cancelled, which costs nothing; null: it cannot be cancelled."
_STARTS, _ENDS, _UNTIL = "2026-05-11T08:00:00Z", "2026-05-13T08:00:00Z", "2026-05-10T08:00:00Z"


class ReservationCreate(Body):
    """Capacity to reserve or to estimate."""

    name: ClusterName = Field(description="Name, which bills show too.", examples=["may-training"])
    region: Slug = Field(description="Slug of the region.", examples=["luxembourg-2"])
    flavor: Slug = Field(description="Name of the flavor of the clusters.", examples=["m2000-pod64"])
    count: int = Field(
        1, ge=1, le=MOST_CLUSTERS, description="How many clusters of the flavor it has room for.", examples=[2]
    )
    starts_at: Instant = Field(
        description="When it begins: a whole minute in the future, at most 14 days from now.", examples=[_STARTS]
    )
    ends_at: Instant = Field(
        description="When it ends: a whole minute, one hour to 31 days after it began.", examples=[_ENDS]
    )


class ReservationOut(Answer):
    """Capacity for a time to come. It is billed from `starts_at` to `ends_at`, whether it is used or not."""

    id: UUID = Field(description="Id of the reservation.", examples=[_ID])
    name: str = Field(description="Name of the reservation.", examples=["may-training"])
    state: ReservationState = Field(description=f"Present state. {_STATE}.", examples=["active"])
    state_entered_at: datetime = Field(description="Since when it is in this state.", examples=[_STARTS])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    flavor: str = Field(description="Name of the flavor of its clusters.", examples=["m2000-pod64"])
    machine_type: str = Field(description="Type of the machines.", examples=["m2000"])
    count: int = Field(description="How many clusters of the flavor it has room for.", examples=[2])
    machines: int = Field(description="How many machines are reserved.", examples=[32])
    starts_at: datetime = Field(description="When it begins.", examples=[_STARTS])
    ends_at: datetime = Field(description="When it ends.", examples=[_ENDS])
    cancel_until: datetime | None = Field(description=_CANCEL, examples=[_UNTIL])
    sku: str = Field(description="SKU that its minutes are billed as.", examples=["ipu-m2000-reserved"])
    currency: str = Field(description="ISO 4217 code of the currency that it is billed in.", examples=["EUR"])
    left: int = Field(description="How many clusters can still be created from it; unless `active`: 0.", examples=[1])
    clusters: list[UUID] = Field(description="Ids of the clusters that hold its machines.", examples=[[_CLUSTER]])
    created_by: UUID = Field(
        description="Id of the token that made it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it was made.")


class ReservationPage(Page[ReservationOut]):
    pass


class ReservationList(Listed):
    """Reservations that match every filter."""

    state: list[ReservationState] = Field(default_factory=list, description="Only those in these states.")


class ReservationCapacityOut(Answer):
    """Whether so many clusters can be reserved now."""

    available: bool = Field(description="Whether the region has room for all of them now.", examples=[True])
    fits: int = Field(description="How many clusters of the flavor can be reserved now.", examples=[3])
    why_not: WhyNotOut | None = Field(description="Why they cannot be reserved; null: they can.", examples=[None])


class ReservationEstimateOut(Answer):
    """What a reservation costs at present prices, and whether it could be made now; nothing is reserved."""

    sku: str = Field(description="SKU that its minutes are billed as.", examples=["ipu-m2000-reserved"])
    machines: int = Field(description="How many machines it has.", examples=[32])
    minutes: int = Field(description="How many minutes are billed.", examples=[2880])
    price_per_minute: Money = Field(
        description="Price of a minute of the whole reservation.", examples=[{"amount": "2.00", "currency": "EUR"}]
    )
    cost: Money = Field(description="Price of all of its minutes.", examples=[{"amount": "5760.00", "currency": "EUR"}])
    cancel_until: datetime | None = Field(description=_CANCEL, examples=[_UNTIL])
    quota: EstimateQuotaOut = Field(description="Whether the project's quota allows it.")
    capacity: ReservationCapacityOut = Field(description="Whether the region has room for it.")
