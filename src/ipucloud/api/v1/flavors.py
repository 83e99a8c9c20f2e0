"""Flavors and list prices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import IF_NONE_MATCH
from ipucloud.api.v1.catalogue import listing, prices_listing, region_slug
from ipucloud.billing.pricing.queries import current_and_future
from ipucloud.contract.catalogue import Flavor, FlavorOut, FlavorPage, InRegion
from ipucloud.contract.estimates import BillingRule
from ipucloud.contract.prices import PriceList, PriceOut, PricePage
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import not_found
from ipucloud.kernel.money import Money

routes = router()

MINUTES_PER_HOUR = 60


@routes.get(
    "/v1/flavors",
    **operation("listFlavors", "List flavors", Permission.CATALOGUE_READ, gives=FlavorPage, headers=(IF_NONE_MATCH,)),
)
async def list_flavors(request: Request, query: InRegion) -> Response:
    """List the flavors with their current prices."""
    await principal(request)
    catalogue, region = catalogue_of(request), region_slug(request, query.region)
    flavors = catalogue.flavors if region is None else catalogue.flavors_in(region)
    prices = await listed_prices(request)
    return listing(request, [_priced(request, flavor, region or flavor.regions[0], prices) for flavor in flavors])


@routes.get(
    "/v1/flavors/{flavor}",
    **operation("getFlavor", "Read a flavor", Permission.CATALOGUE_READ, gives=FlavorOut, headers=(IF_NONE_MATCH,)),
)
async def get_flavor(
    request: Request, flavor: Annotated[str, Field(description="Name of the flavor.", examples=["m2000-pod16"])]
) -> Response:
    """Return a flavor."""
    await principal(request)
    entry = catalogue_of(request).find_flavor(flavor)
    if entry is None:
        raise not_found()
    return tagged(request, to_json(_priced(request, entry, entry.regions[0], await listed_prices(request))), 0)


@routes.get(
    "/v1/prices",
    **operation("listPrices", "List prices", Permission.CATALOGUE_READ, gives=PricePage, headers=(IF_NONE_MATCH,)),
)
async def list_prices(request: Request, query: PriceList) -> Response:
    """List current and future list prices that match every filter."""
    await principal(request)
    return prices_listing(request, query, await listed_prices(request))


async def listed_prices(request: Request) -> Sequence[PriceOut]:
    """Current and future list prices."""
    async with services_of(request).database.read() as connection:
        return await current_and_future(connection, catalogue_of(request))


def price_per_minute(request: Request, flavor: Flavor, region: str, prices: Sequence[PriceOut]) -> Money | None:
    """The current list price of a minute of the flavor in the region; None while it has none."""
    services = services_of(request)
    now, currency = services.clock.now(), services.settings.currency
    for listed in prices:
        of_flavor = (listed.sku, listed.region, listed.unit_price.currency) == (flavor.sku, region, currency)
        if of_flavor and listed.valid_from <= now:
            return listed.unit_price * flavor.machines
    return None


def _priced(request: Request, flavor: Flavor, region: str, prices: Sequence[PriceOut]) -> FlavorOut:
    per_minute = price_per_minute(request, flavor, region, prices)
    per_hour = None if per_minute is None else per_minute * MINUTES_PER_HOUR
    sold_in = catalogue_of(request).find_region(region)
    billing = BillingRule() if sold_in is None else sold_in.billing
    return FlavorOut(**dict(flavor), billing=billing, price_per_minute=per_minute, price_per_hour=per_hour)
