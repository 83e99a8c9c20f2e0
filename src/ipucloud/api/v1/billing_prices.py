"""The price book, for operators: reading it out as a whole, adding versions to it, withdrawing what has not begun."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import Path
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import Page
from ipucloud.api.v1.catalogue import listing
from ipucloud.api.writes import change_platform
from ipucloud.billing.pricing.book import NewPrice, add, book, withdraw
from ipucloud.clusters.models import Body, Instant, Slug
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError
from ipucloud.kernel.money import UNIT_PRICE_LIMIT, Money, MoneyError, unit_price

routes = router()


class BookedPriceOut(BaseModel):
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


class PricesAddedOut(BaseModel):
    """`added` of them were not there before."""

    added: int


@routes.get(
    "/v1/billing/prices",
    **operation("readPriceBook", "Read the price book", Permission.PLATFORM_WRITE, gives=PriceBookPage),
)
async def read_price_book(request: Request) -> Response:
    """Every version that ever was or will be in force: list prices first, then contract prices by account."""
    await principal(request)
    async with services_of(request).database.read() as connection:
        return listing(request, await book(connection))


@routes.post(
    "/v1/billing/prices",
    **operation(
        "addPrices",
        "Add to the price book",
        Permission.PLATFORM_WRITE,
        gives=PricesAddedOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def add_prices(request: Request, body: PriceAdditions) -> Response:
    """Add all versions or none. What is there already stays, so that a book can be added again."""
    new = _checked(body)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        return Answer(200, orjson.dumps({"added": await add(connection, new)}))

    return await change_platform(request, effect)


@routes.delete(
    "/v1/billing/prices/{price:uuid}",
    **operation(
        "withdrawPrice",
        "Withdraw a price",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Withdrawn",
        errors=(STATE_CONFLICT,),
    ),
)
async def withdraw_price(request: Request, price: Annotated[UUID, Path(description="the version's id")]) -> Response:
    """Take a version back that has not begun. The one that it ended holds again as long as it would have."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await withdraw(connection, price)
        return Answer(204)

    return await change_platform(request, effect)


def _is_price(amount: Decimal) -> bool:
    try:
        return unit_price(amount) < UNIT_PRICE_LIMIT
    except MoneyError:
        return False


def _checked(body: PriceAdditions) -> list[NewPrice]:
    """Raises `Problem` validation_failed."""
    faults = []
    for place, item in enumerate(body.items):
        if item.valid_from.microsecond or (item.valid_to and item.valid_to.microsecond):
            faults.append(FieldError(f"/items/{place}/valid_from", "not_whole", "Prices change at whole seconds."))
        if item.valid_to is not None and item.valid_to <= item.valid_from:
            faults.append(FieldError(f"/items/{place}/valid_to", "before_start", "A price ends after it begins."))
        if not _is_price(item.unit_price.amount):
            faults.append(
                FieldError(
                    f"/items/{place}/unit_price",
                    "not_a_price",
                    "A price is 0 or more, below a million, and has ten decimal places at most.",
                )
            )
    if faults:
        raise invalid(faults)
    return [NewPrice(**dict(item)) for item in body.items]
