"""Prices: the list's, those that a project pays, and the price book."""

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
    unit: str = Field(description="what the price is for", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="per unit, exact")
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: until changed")
    source: str = Field(description="who set it")


class PricePage(Page[PriceOut]):
    pass


class PaidPriceOut(Answer):
    """What the project pays in [valid_from, valid_to)."""

    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit: str = Field(description="what the price is for", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="per unit, exact")
    list_unit_price: Money = Field(description="what it would be without a contract")
    contract: bool = Field(description="of this account alone")
    account_id: UUID = Field(description="who pays then")
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: until changed")
    source: str = Field(description="who set it")


class PaidPricePage(Page[PaidPriceOut]):
    pass


class BookedPriceOut(Answer):
    """A price per minute of the SKU's unit in [valid_from, valid_to)."""

    id: UUID
    account_id: UUID | None = Field(description="null: the list's; else of this account alone")
    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: until changed")
    source: str


class PriceBookPage(Page[BookedPriceOut]):
    pass


class PriceAddition(Body):
    """A version that takes the place of the one in force from `valid_from` on."""

    account_id: Annotated[UUID, Field(strict=False)] | None = Field(
        None, description="null: for everybody; else a contract price"
    )
    sku: Slug
    region: Slug
    unit_price: Money = Field(description="per minute of the SKU's unit, at most ten decimal places")
    valid_from: Instant = Field(description="a whole second in the future, or in a gap of the list")
    valid_to: Instant | None = Field(None, description="null: as long as what it takes the place of")
    source: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["price list of July"])


class PriceAdditions(Body):
    items: list[PriceAddition] = Field(min_length=1, max_length=1000)


class PricesAddedOut(Answer):
    """`added` of them were not there before."""

    added: int
