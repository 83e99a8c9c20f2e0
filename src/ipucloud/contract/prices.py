"""List prices, prices that a project pays, and the price book."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Slug
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Money


class PriceOut(Answer):
    """A price in [valid_from, valid_to)."""

    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit: str = Field(description="unit that the price applies to", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="exact price per unit")
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: no end")
    source: str = Field(description="origin of the price")


class PricePage(Page[PriceOut]):
    pass


class PaidPriceOut(Answer):
    """What the project pays in [valid_from, valid_to)."""

    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit: str = Field(description="unit that the price applies to", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="exact price per unit")
    list_unit_price: Money = Field(description="list price")
    contract: bool = Field(description="a contract price of this account")
    account_id: UUID = Field(description="the account that pays in this period")
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: no end")
    source: str = Field(description="origin of the price")


class PaidPricePage(Page[PaidPriceOut]):
    pass


class BookedPriceOut(Answer):
    """A price per minute of the SKU's unit in [valid_from, valid_to)."""

    id: UUID
    account_id: UUID | None = Field(description="null: a list price; else a contract price of this account")
    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: no end")
    source: str


class PriceBookPage(Page[BookedPriceOut]):
    pass


class PriceAddition(Body):
    """A price version that replaces the one in force from `valid_from` on."""

    account_id: Annotated[UUID, Field(strict=False)] | None = Field(
        None, description="null: a list price; else a contract price"
    )
    sku: Slug
    region: Slug
    unit_price: Money = Field(description="per minute of the SKU's unit, at most ten decimal places")
    valid_from: Instant = Field(description="a whole second in the future, or in a period without a price")
    valid_to: Instant | None = Field(None, description="null: the end of the version that it replaces")
    source: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["price list of July"])


class PriceAdditions(Body):
    items: list[PriceAddition] = Field(min_length=1, max_length=1000)


class PricesAddedOut(Answer):
    """`added`: how many of the versions are new."""

    added: int
