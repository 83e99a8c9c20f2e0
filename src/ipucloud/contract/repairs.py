"""Repairs of clusters by other hardware: when they may begin, and when the next one does."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant
from ipucloud.contract.schedules import Days, TimeZone

RepairReason = Literal["fault", "maintenance"]
RepairOutcome = Literal["repaired", "failed", "cancelled", "not_needed", "superseded", "maintained"]
WaitsFor = Literal["capacity", "limit", "operator"]


class RepairWindow(Body):
    """When repairs may begin: on these days of each week, from a time of day on, for some minutes.

    A window can last past midnight; it belongs to the day on which it begins. When the clocks skip its beginning, it
    begins an hour later; when they show it twice, the first time.
    """

    days: Days = Field(description="Days on which a window begins.", examples=[["sat", "sun"]])
    starts_at: str = Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="Time of day in `time_zone`.", examples=["02:00"]
    )
    minutes: int = Field(ge=15, le=1440, description="Length of the window.", examples=[180])
    time_zone: TimeZone


class ScheduledRepairOut(Answer):
    """A repair that is announced or under way: the cluster gets other hardware in place of some of its own."""

    id: UUID = Field(description="Id of the scheduled repair.")
    reason: RepairReason = Field(description="`fault`: its hardware is faulty; `maintenance`: it will be maintained.")
    hardware: list[str] = Field(
        description="Names of the machines and hosts that are replaced.", examples=[["lux2-p001-m01"]]
    )
    announced_at: datetime = Field(description="When the repair was announced.", examples=["2026-05-04T13:10:05Z"])
    starts_at: datetime = Field(description="When it begins.", examples=["2026-05-09T00:00:00Z"])
    latest_at: datetime = Field(
        description="The latest time that it can be rescheduled to.", examples=["2026-05-11T13:10:05Z"]
    )
    waits_for: WaitsFor | None = Field(
        description="Why it has not begun although its time has come: `capacity` (no other hardware is free), `limit`"
        " (other clusters are repaired first) or `operator` (who has frozen the region, or must"
        " check why much hardware failed at once); null: nothing.",
        examples=[None],
    )
    operation: UUID | None = Field(
        description="The operation that carries it out; null before it begins.", examples=[None]
    )


class RepairReschedule(Body):
    """Another time for the scheduled repair."""

    starts_at: Instant = Field(
        description="When it begins: in the future, and not after its `latest_at`.", examples=["2026-05-06T04:00:00Z"]
    )
