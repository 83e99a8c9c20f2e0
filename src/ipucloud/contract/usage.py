"""Clusters' minutes and cost."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Instant, Shape
from ipucloud.kernel.money import Money


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
