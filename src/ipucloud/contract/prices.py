"""List prices, prices that a project pays, and the price book."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Shape, Slug
from ipucloud.contract.lists import Page, Paged
from ipucloud.kernel.money import Money


class PriceOut(Answer):
    """A price in [valid_from, valid_to)."""

    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit: str = Field(description="Unit whose minutes have this price.", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="Exact price per minute of the unit.")
    valid_from: datetime
    valid_to: datetime | None = Field(description="End of validity, exclusive; null: no end.")
    source: str = Field(description="Where the price is from.")


class PricePage(Page[PriceOut]):
    pass


class PriceList(Shape):
    """Prices that match every filter."""

    sku: str | None = Field(None, description="Only prices of this SKU.", examples=["ipu-m2000"])
    region: str | None = Field(
        None, description="Only prices in this region, by slug or number.", examples=["luxembourg-2"]
    )
    currency: str | None = Field(None, description="Only prices in this currency.", examples=["EUR"])


class PaidPriceOut(Answer):
    """What the project pays in [valid_from, valid_to)."""

    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit: str = Field(description="Unit whose minutes have this price.", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="Exact price per minute of the unit.")
    list_unit_price: Money = Field(description="List price for the same period.")
    contract: bool = Field(description="Whether this is a contract price of the account.")
    account_id: UUID = Field(description="The account that pays in this period.")
    valid_from: datetime
    valid_to: datetime | None = Field(description="End of validity, exclusive; null: no end.")
    source: str = Field(description="Where the price is from.")


class PaidPricePage(Page[PaidPriceOut]):
    pass


class BookedPriceOut(Answer):
    """A price per minute of the SKU's unit in [valid_from, valid_to)."""

    id: UUID
    account_id: UUID | None = Field(description="Account with this contract price; null for a list price.")
    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = Field(description="End of validity, exclusive; null: no end.")
    source: str


class PriceBookPage(Page[BookedPriceOut]):
    pass


class PriceState(StrEnum):
    """Whether a version has begun, and whether it has ended."""

    PAST = "past"
    CURRENT = "current"
    FUTURE = "future"


class PriceOrder(StrEnum):
    """Values of the `order` parameter of the price book."""

    BY_ACCOUNT = "account"
    BY_ACCOUNT_DESCENDING = "-account"
    BY_SKU = "sku"
    BY_SKU_DESCENDING = "-sku"
    OLDEST_FIRST = "valid_from"
    NEWEST_FIRST = "-valid_from"


class PriceBookList(Paged, PriceList):
    """Versions of prices that match every filter."""

    account: str | None = Field(
        None, description="Only contract prices of this account, by name or id.", examples=["Example University"]
    )
    contract: bool | None = Field(
        None, description="Only contract prices (`true`), or only list prices (`false`); null: both."
    )
    state: PriceState | None = Field(
        None,
        description="Only versions that have ended (`past`), are in force (`current`), or have not begun (`future`).",
    )
    order: Annotated[
        PriceOrder,
        Field(
            description="List prices, then contract prices by account (`account`); by SKU, region and currency (`sku`);"
            " or by their beginning (`valid_from`). With `-` the other way round."
        ),
    ] = PriceOrder.BY_ACCOUNT


class PriceAddition(Body):
    """A price version that replaces the one in force from `valid_from` on."""

    account_id: Annotated[UUID, Field(strict=False)] | None = Field(
        None, description="Account with this contract price; null for a list price."
    )
    sku: Slug
    region: Slug
    unit_price: Money = Field(description="Price per minute of the SKU's unit, with at most ten decimal places.")
    valid_from: Instant = Field(
        description="Start of validity: a whole second in the future, or in a period without a price."
    )
    valid_to: Instant | None = Field(
        None,
        description="End of validity, exclusive, when the price that it replaces comes back; null: the end of that"
        " price.",
    )
    source: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["price list of July"])


class PriceAdditions(Body):
    """New versions of prices, added together or not at all."""

    items: list[PriceAddition] = Field(min_length=1, max_length=1000)


class PricesAddedOut(Answer):
    """The result of adding price versions."""

    added: int = Field(description="Versions of the request that are new.")
    restored: int = Field(description="Further versions: previous prices that come back at the end of a new one.")
