"""For operators: what happens to the platform."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.events import LIST_EVENTS
from ipucloud.api.paging import page_at
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.v1.events import behind
from ipucloud.contract.events import OperatorEventList, OperatorEventPage
from ipucloud.events.feed import list_parameters
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/operator/events",
    **operation("listOperatorEvents", "List events for operators", Permission.PLATFORM_READ, gives=OperatorEventPage),
)
async def list_events(request: Request, query: Annotated[OperatorEventList, Query()]) -> Response:
    """List what happens to the platform, and to clusters by its operators and workers.

    With `order=created_at`, a reader that continues after its last event misses none.
    """
    parameters = list_parameters(
        order=query.order,
        limit=query.limit,
        behind=behind(query, request),
        types=query.type,
        subject_id=query.subject,
    )
    async with reading_platform(request) as connection:
        found = await LIST_EVENTS[query.order].one(
            connection, parameters | {"region": query.region, "project": query.project}
        )
    return page_at(query, request, found.items, found.next)
