"""Charges of a cluster, and what each was made from."""

from __future__ import annotations

from datetime import date, datetime
from uuid import UUID

from pydantic import BaseModel, Field

from ipucloud.contract.fields import Answer, Instant
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Money


class ChargedUsageOut(Answer):
    """The fact: so many machines were in use in [started_at, ended_at). Minutes count from `anchor_at`."""

    interval_id: UUID
    anchor_at: datetime
    started_at: datetime
    ended_at: datetime | None
    machines: int


class ChargedPriceOut(Answer):
    """The price that was in force."""

    id: UUID
    sku: str
    region: str
    unit_price: Money
    list_unit_price: Money
    contract: bool = Field(description="of this account alone")
    valid_from: datetime
    valid_to: datetime | None
    source: str


class ChargeOut(Answer):
    """Minutes of one hour as they were posted, and what the cost was made from."""

    id: str
    billing_month: date = Field(description="whose bill it is on")
    account_id: UUID
    hour: datetime
    started_at: datetime
    ended_at: datetime
    posted_at: datetime
    correction: bool = Field(description="added to, or taken back from, an hour that was closed before")
    first_minute: int = Field(description="counted from the cluster's own start")
    minutes: int
    cost: Money
    formula: str = Field(examples=["60 min × 4 × 0.0625 EUR = 15.00"])
    usage: ChargedUsageOut
    price: ChargedPriceOut


class ChargePage(Page[ChargeOut]):
    pass


class ChargePeriod(BaseModel):
    since: Instant | None = Field(None, description="a day ago when left out")
    until: Instant | None = Field(None, description="now when left out")
