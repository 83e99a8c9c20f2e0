"""Minutes that clusters used, and their cost."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from ipucloud.contract.fields import Answer, Instant
from ipucloud.kernel.money import Money


class UsageSliceOut(Answer):
    """Minutes of one size under one price, all started in [started_at, ended_at)."""

    started_at: datetime
    ended_at: datetime
    minutes: int
    machines: int
    sku: str
    unit_price: Money = Field(description="per machine-minute")
    cost: Money


class UsageOut(Answer):
    """What one cluster used in [since, until), exact to the last digit. `since` is null while nothing is billed."""

    cluster_id: UUID
    name: str
    region: str
    flavor: str
    running: bool
    since: datetime | None
    until: datetime
    minutes: int
    cost: Money
    slices: list[UsageSliceOut]


class ProjectUsageOut(Answer):
    """What a project's clusters used in [since, until)."""

    since: datetime
    until: datetime
    minutes: int
    cost: Money
    clusters: list[UsageOut]


class Period(BaseModel):
    since: Instant | None = Field(None, description="the running UTC month's start when left out")
    until: Instant | None = Field(None, description="now when left out, or when later")
