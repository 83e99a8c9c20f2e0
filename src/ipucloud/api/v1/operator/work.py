"""For operators: what is stuck, work items, what an id is, everything of one request."""

from __future__ import annotations

from typing import Annotated

import orjson
from pydantic import Field
from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import requests, whatis
from ipucloud.admin.stuck import LIST_STUCK, OVERDUE_SECONDS
from ipucloud.admin.work import GET_WORK, LIST_OPERATIONS, LIST_WORK
from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import behind, page
from ipucloud.api.reads import reading_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.v1.operator.lists import keyed_list
from ipucloud.api.writes import change_platform
from ipucloud.contract.operator_work import (
    OperatorOperationList,
    OperatorOperationPage,
    RequestTraceOut,
    StuckList,
    StuckPage,
    WhatIsPage,
    WorkItemList,
    WorkItemOut,
    WorkItemPage,
    WorkItemPark,
)
from ipucloud.db.documents import list_parameters
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import not_found
from ipucloud.reconcile import wake

routes = router()

_WORK_ITEM = "/v1/operator/work/{kind}/{item:ref}"
Kind = Annotated[str, Field(description="Kind of the work item.", examples=["cluster"])]
Item = Annotated[str, Field(description="Key of the work item: the id of its object, or the name of a periodic task.")]


@routes.get(
    "/v1/operator/operations",
    **operation(
        "listAllOperations", "List operations of all projects", Permission.PLATFORM_READ, gives=OperatorOperationPage
    ),
)
async def list_operations(request: Request, query: OperatorOperationList) -> Response:
    """List the operations of every project, newest first."""
    parameters = list_parameters(query, behind(query, request))
    parameters["of_project"] = parameters.pop("project")
    async with reading_platform(request) as connection:
        return page(query, request, await LIST_OPERATIONS[query.order].one(connection, parameters))


@routes.get(
    "/v1/operator/stuck", **operation("listStuck", "List what is stuck", Permission.PLATFORM_READ, gives=StuckPage)
)
async def list_stuck(request: Request, query: StuckList) -> Response:
    """List operations, states of clusters and work items that take longer than usual or will not continue.

    The oldest come first; each says what it waits for and what to do.
    """
    return await keyed_list(request, LIST_STUCK, query, overdue=OVERDUE_SECONDS)


@routes.get(
    "/v1/operator/what-is/{name}",
    **operation("whatIs", "Find an object by id or name", Permission.PLATFORM_READ, gives=WhatIsPage),
)
async def what_is(
    request: Request,
    name: Annotated[
        str,
        Field(
            description="An id; a name of hardware; a request id; or a name at a site, such as `<cluster>-<number>`."
        ),
    ],
) -> Response:
    """Find every object with an id, or with a name that is unique in the service, and the commands that show it."""
    async with reading_platform(request) as connection:
        objects = await whatis.find(connection, name)
    if not objects:
        raise not_found()
    items = [
        {
            "kind": each.kind,
            "id": each.object_id,
            "project": each.project,
            "name": each.name,
            "state": each.state,
            "created_at": each.created_at,
            "commands": each.commands,
        }
        for each in objects
    ]
    return Response(to_json({"items": items, "next_cursor": None}), media_type=JSON)


@routes.get(
    "/v1/operator/requests/{request_id}",
    **operation("getRequestTrace", "Read everything of a request", Permission.PLATFORM_READ, gives=RequestTraceOut),
)
async def get_request_trace(
    request: Request, request_id: Annotated[str, Field(description="Id of the request, from its response or an error.")]
) -> Response:
    """Return the operations that a request started, with steps, events and work items: what to attach to a report.

    A request that only read, or was refused, is in the logs alone.
    """
    async with reading_platform(request) as connection:
        trace = await requests.READ_TRACE.one(connection, {"request_id": request_id})
    parts = {name: orjson.Fragment(getattr(trace, name)) for name in ("operations", "events", "work_items")}
    logs = [{"field": "request_id", "value": request_id, "processes": ["api", "worker"]}]
    body = orjson.dumps({"request_id": request_id, "as_of": trace.now, **parts, "logs": logs})
    return Response(body, media_type=JSON)


@routes.get(
    "/v1/operator/work", **operation("listWork", "List work items", Permission.PLATFORM_READ, gives=WorkItemPage)
)
async def list_work(request: Request, query: WorkItemList) -> Response:
    """List work items, by kind and key. With `state=parked`, those that wait for a person."""
    return await keyed_list(request, LIST_WORK, query)


@routes.post(
    _WORK_ITEM + ":requeue",
    **operation("requeueWork", "Requeue a work item", Permission.PLATFORM_WRITE, gives=WorkItemOut),
)
async def requeue_work(request: Request, kind: Kind, item: Item) -> Response:
    """Make a work item due now, parked or not, and forget its failed passes. Remove the cause of a parking first."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if not await wake.requeue(connection, kind=kind, key=str(item)):
            raise not_found()
        return await _shown(connection, kind, str(item))

    answer = await change_platform(request, effect)
    services_of(request).notifier.poke()
    return answer


@routes.post(
    _WORK_ITEM + ":park", **operation("parkWork", "Park a work item", Permission.PLATFORM_WRITE, gives=WorkItemOut)
)
async def park_work(request: Request, kind: Kind, item: Item, body: WorkItemPark) -> Response:
    """Set a work item aside: no worker reconciles it until it is requeued, or a request wakes it.

    A pass that is under way writes nothing more. What it already requested from a site may still happen there.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if not await wake.park(connection, kind=kind, key=str(item), reason=body.reason):
            raise not_found()
        return await _shown(connection, kind, str(item))

    return await change_platform(request, effect)


async def _shown(connection: AsyncConnection, kind: str, key: str) -> Answer:
    return Answer(200, (await GET_WORK.one(connection, {"kind": kind, "key": key})).encode())
