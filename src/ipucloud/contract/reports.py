"""Reports of charges, and the forecast of a month."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ipucloud.contract.fields import Answer, Instant
from ipucloud.kernel.money import Money

MAX_GROUPS = 4
GroupBy = Annotated[str, Field(pattern=r"^(cluster|project|flavor|region|sku|day|month|tag:[^\x00-\x1f\x7f]{1,128})$")]


class SumsOut(Answer):
    """Figures in one currency; `cost` is exact and not rounded."""

    minutes: int
    machine_minutes: int = Field(description="what prices are for")
    cost: Money
    list_cost: Money = Field(description="what it would be at list prices")


class ReportRowOut(SumsOut):
    """The figures of one group."""

    group: dict[str, str | None] = Field(
        description="by the names of `columns`; null where a cluster has no such tag",
        examples=[{"cluster": "0198…", "cluster_name": "bert"}],
    )


class ReportOut(Answer):
    """What was charged for usage in [since, until). Rows sum to the totals, and those to the charges, exactly."""

    since: datetime
    until: datetime
    posted_until: datetime | None = Field(description="hours from here on are not closed, and not in the report")
    columns: list[str]
    rows: list[ReportRowOut]
    totals: list[SumsOut] = Field(description="one for each currency")


class ReportQuery(BaseModel):
    since: Instant | None = Field(None, description="a full hour; the running UTC month's start when left out")
    until: Instant | None = Field(None, description="a full hour; the running one when left out")
    group_by: list[GroupBy] = Field(
        default_factory=list,
        max_length=MAX_GROUPS,
        description="cluster, project, flavor, region, sku, day, month, or tag:<key>; several give their combinations",
    )
    format: Literal["json", "csv"] | None = Field(None, description="goes before `Accept`")


class ForecastOut(Answer):
    """What the running UTC month [since, until) comes to, unrounded; `posted + accruing = so_far`."""

    since: datetime
    until: datetime
    now: datetime
    posted: Money = Field(description="in hours that are closed")
    accruing: Money = Field(description="used since; below 0 while a correction is due")
    so_far: Money
    to_come: Money = Field(description="what runs now, carried on until it expires or the month ends")
    forecast: Money = Field(description="so_far + to_come")
    unpriced_minutes: int = Field(description="minutes without a price, which are in no figure")
