"""The price book, for operators: read it, add versions, withdraw versions that have not begun."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import Path, Query
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.v1.catalogue import prices_listing
from ipucloud.api.writes import change_platform
from ipucloud.billing.pricing.book import add, book, withdraw
from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.prices import (
    BookedPriceOut,
    PriceAddition,
    PriceAdditions,
    PriceBookPage,
    PriceList,
    PricesAddedOut,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError
from ipucloud.kernel.money import MINOR_UNITS, UNIT_PRICE_LIMIT, MoneyError, unit_price
from ipucloud.kernel.nearest import nearest

routes = router()


@routes.get(
    "/v1/billing/prices",
    **operation("readPriceBook", "Read the price book", Permission.PLATFORM_WRITE, gives=PriceBookPage),
)
async def read_price_book(request: Request, query: Annotated[PriceList, Query()]) -> Response:
    """List all past, current and future versions that match every filter.

    List prices come first, then contract prices by account.
    """
    async with reading_platform(request) as connection:
        found = await book(connection)
    return prices_listing(request, query, found)


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
    """Add all versions or none. Existing versions are kept, so a price book can be added again.

    When a version has an end, the price that it replaces comes back then, as a version of its own, unless another
    version begins at that instant. A request that would leave a time without a list price is refused.
    """
    new = _checked(body)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        _check_regions(new, catalogue_of(request), await book(connection))
        added = await add(connection, new, default=services_of(request).settings.currency)
        return Answer(200, orjson.dumps({"added": added.versions, "restored": added.restored}))

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
async def withdraw_price(
    request: Request, price: Annotated[UUID, Path(description="Id of the price version.")]
) -> Response:
    """Withdraw a version that has not begun. The version before it regains its previous end.

    Refused if a time would be left without a list price.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await withdraw(connection, price)
        return Answer(204)

    return await change_platform(request, effect)


def _is_price(amount: Decimal) -> bool:
    try:
        return unit_price(amount) < UNIT_PRICE_LIMIT
    except MoneyError:
        return False


def _checked(body: PriceAdditions) -> list[PriceAddition]:
    """The versions to add. Raises `Problem` validation_failed."""
    faults = []
    for place, item in enumerate(body.items):
        if item.valid_from.microsecond or (item.valid_to and item.valid_to.microsecond):
            faults.append(FieldError(f"/items/{place}/valid_from", "not_whole", "Prices must change at whole seconds."))
        if item.valid_to is not None and item.valid_to <= item.valid_from:
            faults.append(FieldError(f"/items/{place}/valid_to", "before_start", "A price must end after it begins."))
        if item.unit_price.currency not in MINOR_UNITS:
            code = item.unit_price.currency
            sentence = f"{code} is not the ISO 4217 code of a currency in use."
            faults.append(FieldError(f"/items/{place}/unit_price/currency", "unknown_currency", sentence))
        if not _is_price(item.unit_price.amount):
            faults.append(
                FieldError(
                    f"/items/{place}/unit_price",
                    "not_a_price",
                    "A price must be at least 0, below a million, and have at most ten decimal places.",
                )
            )
    if faults:
        raise invalid(faults)
    return body.items


def _check_regions(new: Sequence[PriceAddition], catalogue: Catalogue, held: Sequence[BookedPriceOut]) -> None:
    """Raise `Problem` validation_failed for a region that neither the catalogue nor the price book has.

    A SKU may be priced before the catalogue has it, so that it is never offered without a price.
    """
    known = sorted({region.slug for region in catalogue.regions} | {each.region for each in held})
    faults = [
        FieldError(
            f"/items/{place}/region",
            "unknown_region",
            f"There is no region {item.region}. Regions, nearest first: {nearest(item.region, known)}.",
        )
        for place, item in enumerate(new)
        if item.region not in known
    ]
    if faults:
        raise invalid(faults)
