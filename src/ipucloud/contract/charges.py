"""Clusters' minutes and cost so far, and their charges."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Instant, Shape
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Money


class CitedReportOut(Answer):
    """A health report for which machines were credited."""

    report_id: UUID = Field(description="Id of the health report.")
    kind: Literal["machine", "poplar_server"]
    machine: str | None = Field(description="Name of the machine; null if a Poplar server failed.")
    code: str = Field(description="What failed, such as `bmc_critical` or `host_failed`.", examples=["bmc_critical"])
    message: str | None = Field(description="What failed, for people.", examples=["The machine has failed."])
    first_seen_at: datetime = Field(description="When the fault was first observed.")
    ended_at: datetime | None = Field(description="When it was first observed to be gone; null while it lasts.")


class ChargedUsageOut(Answer):
    """The usage interval: `machines` were in use in [started_at, ended_at). Minutes are counted from `anchor_at`."""

    interval_id: UUID
    anchor_at: datetime
    started_at: datetime
    ended_at: datetime | None
    flavor: str = Field(description="The cluster's flavor at that time.", examples=["m2000-pod16"])
    machines: int
    credited_machines: int
    credited_for: list[CitedReportOut] = Field(description="The health reports for which machines are credited.")


class ChargedPriceOut(Answer):
    """The price that was in force."""

    id: UUID
    sku: str
    region: str
    unit_price: Money
    list_unit_price: Money
    contract: bool = Field(description="Whether this is a contract price of the account.")
    valid_from: datetime
    valid_to: datetime | None
    source: str


class ChargeOut(Answer):
    """The posted minutes of one hour, with the usage and the price that give its cost."""

    id: str
    billing_month: date = Field(description="Month whose invoice includes the charge.")
    account_id: UUID
    hour: datetime
    started_at: datetime
    ended_at: datetime
    posted_at: datetime
    correction: bool = Field(description="Whether it corrects an hour that was already closed.")
    first_minute: int = Field(description="First minute charged, counted from `anchor_at`.")
    minutes: int
    cost: Money
    formula: str = Field(examples=["60 min × 4 × 0.0625 EUR = 15.00"])
    usage: ChargedUsageOut
    price: ChargedPriceOut


class ChargePage(Page[ChargeOut]):
    pass


class ChargePeriod(Shape):
    since: Instant | None = Field(None, description="Start of the period. Default: a day ago.")
    until: Instant | None = Field(None, description="End of the period, exclusive. Default: now.")


class UsageSliceOut(Answer):
    """Minutes of one size under one price, all started in [started_at, ended_at)."""

    started_at: datetime
    ended_at: datetime
    minutes: int
    flavor: str = Field(description="The cluster's flavor at that time.", examples=["m2000-pod16"])
    machines: int
    credited_machines: int
    sku: str
    unit_price: Money = Field(description="Price per machine-minute.")
    cost: Money


class UsageOut(Answer):
    """Exact usage of one cluster in [since, until)."""

    cluster_id: UUID
    name: str
    region: str
    flavor: str
    running: bool
    since: datetime | None
    until: datetime
    minutes: int
    credited_minutes: int
    cost: Money
    slices: list[UsageSliceOut]


class ProjectUsageOut(Answer):
    """Usage of a project's clusters in [since, until)."""

    since: datetime
    until: datetime
    minutes: int
    credited_minutes: int
    cost: Money
    clusters: list[UsageOut]


class Period(Shape):
    since: Instant | None = Field(None, description="Start of the period. Default: the start of the current UTC month.")
    until: Instant | None = Field(None, description="End of the period, exclusive. Default and latest: now.")
