"""The catalogue: hardware, regions, images and tools. The same for every token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import IF_NONE_MATCH
from ipucloud.contract.catalogue import (
    CapacityPage,
    ImagePage,
    InRegion,
    IpuPage,
    MachineTypePage,
    Region,
    RegionPage,
    ToolPage,
    Tools,
)
from ipucloud.contract.prices import PaidPriceOut, PriceList, PriceOut
from ipucloud.identity.roles import Permission
from ipucloud.inventory.queries import region_capacity
from ipucloud.kernel.errors import not_found

routes = router()

RegionRef = Annotated[str, Field(description="Slug or number of the region.", examples=["luxembourg-2"])]
_CONDITIONAL = (IF_NONE_MATCH,)


def listing(request: Request, items: Sequence[Any]) -> Response:
    """A whole list in one page, with an ETag."""
    body = to_json({"items": items, "next_cursor": None})
    return tagged(request, body, 0)


def prices_listing(request: Request, query: PriceList, prices: Sequence[PaidPriceOut | PriceOut]) -> Response:
    """As `listing`, of the prices that match every filter."""
    region = region_slug(request, query.region)
    matches = [
        each
        for each in prices
        if query.sku in {None, each.sku}
        and region in {None, each.region}
        and query.currency in {None, each.unit_price.currency}
    ]
    return listing(request, matches)


def region_slug(request: Request, ref: str | None) -> str | None:
    """The slug of the region given by slug or number; an unknown region is returned unchanged and matches nothing."""
    region = None if ref is None else catalogue_of(request).find_region(ref)
    return ref if region is None else region.slug


@routes.get(
    "/v1/hardware/ipus",
    **operation("listIpus", "List IPU generations", Permission.CATALOGUE_READ, gives=IpuPage, headers=_CONDITIONAL),
)
async def list_ipus(request: Request) -> Response:
    """List the generations of Intelligence Processing Units with the vendor's figures and their sources."""
    await principal(request)
    return listing(request, catalogue_of(request).ipus)


@routes.get(
    "/v1/hardware/machines",
    **operation(
        "listMachineTypes", "List machine types", Permission.CATALOGUE_READ, gives=MachineTypePage, headers=_CONDITIONAL
    ),
)
async def list_machine_types(request: Request) -> Response:
    """List the machine types: the units of allocation and of billing."""
    await principal(request)
    return listing(request, catalogue_of(request).machine_types)


@routes.get(
    "/v1/regions",
    **operation("listRegions", "List regions", Permission.CATALOGUE_READ, gives=RegionPage, headers=_CONDITIONAL),
)
async def list_regions(request: Request) -> Response:
    """List the regions and the machine types sold there."""
    await principal(request)
    return listing(request, catalogue_of(request).regions)


@routes.get(
    "/v1/regions/{region}",
    **operation("getRegion", "Read a region", Permission.CATALOGUE_READ, gives=Region, headers=_CONDITIONAL),
)
async def get_region(request: Request, region: RegionRef) -> Response:
    """Return a region."""
    await principal(request)
    return tagged(request, to_json(_region(request, region)), 0)


@routes.get(
    "/v1/regions/{region}/capacity",
    **operation("getRegionCapacity", "Read a region's capacity", Permission.CATALOGUE_READ, gives=CapacityPage),
)
async def get_region_capacity(request: Request, region: RegionRef) -> Response:
    """List how many clusters of each flavor could be created in the region now, and if none, why not.

    Quotas are not considered, and nothing is reserved.
    """
    await principal(request)
    slug = _region(request, region).slug
    flavors = catalogue_of(request).flavors_in(slug)
    async with services_of(request).database.read() as connection:
        room = await region_capacity(connection, region=slug, flavors=flavors)
    return listing(request, room)


@routes.get(
    "/v1/images",
    **operation("listImages", "List images", Permission.CATALOGUE_READ, gives=ImagePage, headers=_CONDITIONAL),
)
async def list_images(request: Request, query: InRegion) -> Response:
    """List the images for Poplar servers: operating systems with the Poplar SDK."""
    await principal(request)
    catalogue, region = catalogue_of(request), region_slug(request, query.region)
    return listing(request, catalogue.images if region is None else catalogue.images_in(region))


@routes.get(
    "/v1/tools",
    **operation("listTools", "List tools", Permission.CATALOGUE_READ, gives=ToolPage, headers=_CONDITIONAL),
)
async def list_tools(request: Request, query: Tools) -> Response:
    """List software that a Poplar server is expected to run."""
    await principal(request)
    tools = catalogue_of(request).tools
    return listing(request, [tool for tool in tools if query.kind is None or query.kind in tool.kinds])


def _region(request: Request, ref: str) -> Region:
    region = catalogue_of(request).find_region(ref)
    if region is None:
        raise not_found()
    return region
