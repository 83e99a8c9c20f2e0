"""Waiting for capacity: whether a request waits for machines, and how long it has waited."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant


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
