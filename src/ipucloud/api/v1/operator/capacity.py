"""For operators: capacity of a region."""

from __future__ import annotations

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.capacity import region_capacity
from ipucloud.api.etag import JSON
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of
from ipucloud.api.v1.catalogue import RegionRef
from ipucloud.contract.operator_capacity import RegionCapacityOut
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import not_found

routes = router()


@routes.get(
    "/v1/operator/regions/{region}/capacity",
    **operation(
        "getOperatorCapacity", "Read a region's capacity in full", Permission.PLATFORM_READ, gives=RegionCapacityOut
    ),
)
async def get_operator_capacity(request: Request, region: RegionRef) -> Response:
    """Return machines by state, what fits now, free blocks, fragmentation and expiries, by machine type."""
    found = catalogue_of(request).find_region(region)
    async with reading_platform(request) as connection:
        if found is None:
            raise not_found()
        flavors = catalogue_of(request).flavors_in(found.slug)
        room = await region_capacity(connection, region=found.slug, flavors=flavors)
    return Response(to_json(RegionCapacityOut.model_validate(room)), media_type=JSON)
