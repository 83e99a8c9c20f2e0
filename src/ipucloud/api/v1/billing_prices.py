"""The price book, for operators: read it, add versions, withdraw versions that have not begun."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import open_cursor, page_at
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.v1.catalogue import region_slug
from ipucloud.api.writes import change_platform
from ipucloud.billing.accounts.store import accounts_called
from ipucloud.billing.pricing.book import add, withdraw
from ipucloud.billing.pricing.listing import LIST_BOOK, Priced, priced
from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.prices import PriceAddition, PriceAdditions, PriceBookList, PriceBookPage, PricesAddedOut
from ipucloud.db.documents import filters_of
from ipucloud.db.statements import Statements
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError
from ipucloud.kernel.money import MINOR_UNITS, UNIT_PRICE_LIMIT, MoneyError, unit_price
from ipucloud.kernel.suggestions import nearest

routes = router()


@routes.get(
    "/v1/billing/prices",
    **operation("readPriceBook", "Read the price book", Permission.PLATFORM_WRITE, gives=PriceBookPage),
)
async def read_price_book(request: Request, query: PriceBookList) -> Response:
    """List the past, current and future versions that match every filter."""
    after = open_cursor(query, request)
    async with reading_platform(request) as connection:
        filters = await _filters(request, connection, query)
        page = await LIST_BOOK[query.order].one(connection, filters | {"after": after, "limit": query.limit})
    return page_at(query, request, page.items, page.next)


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
        _check_regions(new, catalogue_of(request), (await priced(connection)).regions)
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
    request: Request, price: Annotated[UUID, Field(description="Id of the price version.")]
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


def _check_regions(new: Sequence[PriceAddition], catalogue: Catalogue, held: Sequence[str]) -> None:
    """Raise `Problem` validation_failed for a region that neither the catalogue nor the price book has.

    A SKU may be priced before the catalogue has it, so that it is never offered without a price.
    """
    known = _regions(catalogue, held)
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


def _regions(catalogue: Catalogue, held: Sequence[str]) -> list[str]:
    return sorted({region.slug for region in catalogue.regions} | {*held})


async def _filters(request: Request, connection: Statements, query: PriceBookList) -> dict[str, object]:
    """The parameters of the list. Raises `Problem` validation_failed for an unknown region, currency or account."""
    catalogue, region, account_id = catalogue_of(request), region_slug(request, query.region), None
    sold = (region is None or catalogue.find_region(region)) and query.currency in {None, *MINOR_UNITS}
    # What has a price is known, even if the catalogue no longer has the region, or nobody pays in the currency.
    held = Priced([], []) if sold else await priced(connection)
    faults = []
    if region is not None and region not in (known := _regions(catalogue, held.regions)):
        sentence = f"There is no such region. Regions, nearest first: {nearest(region, known)}."
        faults.append(FieldError("?region", "unknown_region", sentence))
    if query.currency not in {None, *MINOR_UNITS, *held.currencies}:
        sentence = "This is not the ISO 4217 code of a currency in use, such as EUR."
        faults.append(FieldError("?currency", "unknown_currency", sentence))
    if query.account is not None:
        called = await accounts_called(connection, query.account)
        if len(called) == 1:
            [account_id] = called
        else:
            several = "Several billing accounts have this name; use an id."
            sentence = several if called else "There is no such billing account."
            faults.append(FieldError("?account", "unknown_account", sentence))
    if faults:
        raise invalid(faults)
    return filters_of(query) | {"region": region, "account_id": account_id}
