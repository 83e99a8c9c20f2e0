"""For operators: capacity of a region."""

from __future__ import annotations

import asyncio

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.capacity import region_capacity
from ipucloud.admin.defragmentation import read_layout
from ipucloud.admin.hardware import LIST_PODS
from ipucloud.api.etag import JSON
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of
from ipucloud.api.v1.catalogue import RegionRef
from ipucloud.api.v1.operator.lists import keyed_list
from ipucloud.contract.operator_capacity import (
    DefragmentationOut,
    DefragmentationQuery,
    PodList,
    PodPage,
    RegionCapacityOut,
)
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem, not_found

routes = router()


@routes.get(
    "/v1/operator/regions/{region}/defragmentation",
    **operation(
        "getDefragmentation",
        "Propose moves that make room for a cluster",
        Permission.PLATFORM_READ,
        gives=DefragmentationOut,
        errors=(VALIDATION_FAILED,),
    ),
)
async def get_defragmentation(request: Request, region: RegionRef, query: DefragmentationQuery) -> Response:
    """Return which clusters would have to be moved so that one of a flavor fits, and what that would cost.

    The proposal moves the fewest machines. Only clusters in use without an open operation are moved.
    """
    entry = catalogue_of(request).find_region(region)
    async with reading_platform(request) as connection:
        if entry is None:
            raise not_found()
        sold = [each for each in catalogue_of(request).flavors_in(entry.slug) if each.name == query.flavor]
        if not sold:
            fault = FieldError("/flavor", "unknown_flavor", "The region sells no flavor of this name.")
            raise Problem(VALIDATION_FAILED, "Choose a flavor that the region sells.", errors=[fault])
        layout = await read_layout(connection, region=entry.slug, flavor=sold[0])
    proposal = await asyncio.to_thread(layout.proposal)
    return Response(to_json(DefragmentationOut.model_validate(proposal)), media_type=JSON)


@routes.get("/v1/operator/pods", **operation("listPods", "List pods", Permission.PLATFORM_READ, gives=PodPage))
async def list_pods(request: Request, query: PodList) -> Response:
    """List the installation's pods with their masks of slots, largest free block and health, by name."""
    return await keyed_list(request, LIST_PODS, query)


@routes.get(
    "/v1/operator/regions/{region}/capacity",
    **operation(
        "getOperatorCapacity", "Read a region's capacity in full", Permission.PLATFORM_READ, gives=RegionCapacityOut
    ),
)
async def get_operator_capacity(request: Request, region: RegionRef) -> Response:
    """Return machines by state, what fits now, free blocks, fragmentation and expiries, by machine type."""
    entry = catalogue_of(request).find_region(region)
    async with reading_platform(request) as connection:
        if entry is None:
            raise not_found()
        flavors = catalogue_of(request).flavors_in(entry.slug)
        room = await region_capacity(connection, region=entry.slug, flavors=flavors)
    return Response(to_json(RegionCapacityOut.model_validate(room)), media_type=JSON)
