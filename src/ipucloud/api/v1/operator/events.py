"""For operators: what happens to the platform."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.events import LIST_CLOUD_EVENTS, LIST_EVENTS, OperatorLists
from ipucloud.api.paging import page_at
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.v1.events import filters
from ipucloud.contract.events import CloudEventPage, OperatorEventList, OperatorEventPage
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/operator/events",
    **operation("listOperatorEvents", "List events for operators", Permission.PLATFORM_READ, gives=OperatorEventPage),
)
async def list_events(request: Request, query: OperatorEventList) -> Response:
    """List what happens to the platform, and to clusters by its operators and workers.

    With `order=created_at`, a reader that continues after its last event misses none.
    """
    return await _page(request, query, LIST_EVENTS)


@routes.get(
    "/v1/operator/cloud-events",
    **operation(
        "listOperatorCloudEvents",
        "List events for operators as CloudEvents",
        Permission.PLATFORM_READ,
        gives=CloudEventPage,
    ),
)
async def list_cloud_events(request: Request, query: OperatorEventList) -> Response:
    """List the same events in the JSON format of CloudEvents 1.0; order and filters are those of the events."""
    return await _page(request, query, LIST_CLOUD_EVENTS)


async def _page(request: Request, query: OperatorEventList, statements: OperatorLists) -> Response:
    parameters = filters(query, request) | {"region": query.region, "project": query.project}
    async with reading_platform(request) as connection:
        found = await statements[query.order].one(connection, parameters)
    return page_at(query, request, found.items, found.next)
