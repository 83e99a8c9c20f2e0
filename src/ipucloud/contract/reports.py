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
    machine_minutes: int = Field(description="billed machine-minutes")
    cost: Money
    list_cost: Money = Field(description="cost at list prices")


class ReportRowOut(SumsOut):
    """The figures of one group."""

    group: dict[str, str | None] = Field(
        description="values by `columns`; null for clusters without the tag",
        examples=[{"cluster": "0198…", "cluster_name": "bert"}],
    )


class ReportOut(Answer):
    """Charges for usage in [since, until). Rows sum exactly to the totals, and totals to the charges."""

    since: datetime
    until: datetime
    posted_until: datetime | None = Field(description="later hours are not closed yet and not in the report")
    columns: list[str]
    rows: list[ReportRowOut]
    totals: list[SumsOut] = Field(description="one per currency")


class ReportQuery(BaseModel):
    since: Instant | None = Field(None, description="a full hour; default: the start of the current UTC month")
    until: Instant | None = Field(None, description="a full hour; default: the current one")
    group_by: list[GroupBy] = Field(
        default_factory=list,
        max_length=MAX_GROUPS,
        description="cluster, project, flavor, region, sku, day, month, or tag:<key>; several group by combination",
    )
    format: Literal["json", "csv"] | None = Field(None, description="overrides `Accept`")


class ForecastOut(Answer):
    """Unrounded forecast of the current UTC month [since, until); `posted + accruing = so_far`."""

    since: datetime
    until: datetime
    now: datetime
    posted: Money = Field(description="cost of closed hours")
    accruing: Money = Field(description="cost since then; negative while a correction is due")
    so_far: Money
    to_come: Money = Field(description="current usage, continued until it expires or the month ends")
    forecast: Money = Field(description="so_far + to_come")
    unpriced_minutes: int = Field(description="minutes without a price, not included in any figure")
