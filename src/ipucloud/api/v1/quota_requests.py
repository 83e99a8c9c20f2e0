"""Requests of a project for higher quotas."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.contract.quota_requests import QuotaRequestCreate, QuotaRequestList, QuotaRequestOut, QuotaRequestPage
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError
from ipucloud.quotas.counted import DefaultLimits, not_sold, slug_of
from ipucloud.quotas.queries import QUOTA_REQUESTS
from ipucloud.quotas.requests import open_request, withdraw

routes = router()

_ONE = "/v1/projects/{project}/quota-requests/{quota_request:uuid}"
QuotaRequestId = Annotated[UUID, Field(description="Id of the request.")]


@routes.post(
    "/v1/projects/{project}/quota-requests",
    **operation(
        "createQuotaRequest",
        "Ask for a higher quota",
        Permission.CLUSTER_WRITE,
        gives=QuotaRequestOut,
        status=201,
        errors=(STATE_CONFLICT,),
    ),
)
async def create_quota_request(request: Request, project: ProjectRef, body: QuotaRequestCreate) -> Response:
    """Ask the operator to raise how many machines of a type, GiB, or addresses, the project may hold in a region.

    Nothing changes before the operator has decided. A quota has one open request.
    """
    catalogue = catalogue_of(request)
    wrong = not_sold(catalogue, body.region, body.machine_type)
    if wrong is not None:
        raise invalid([FieldError(f"/{wrong.field}", "not_sold", wrong.detail)])

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        region, defaults = slug_of(catalogue, body.region), DefaultLimits.of(services_of(request).settings)
        quota_request_id = await open_request(connection, actor(request, scope), body, region=region, defaults=defaults)
        document = await QUOTA_REQUESTS.read(connection, project_id=scope.project_id, resource_id=quota_request_id)
        location = f"/v1/projects/{scope.project_id}/quota-requests/{quota_request_id}"
        return Answer(201, document.encode(), {"Location": location}, quota_request_id)

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/quota-requests",
    **operation(
        "listQuotaRequests", "List requests for higher quotas", Permission.PROJECT_READ, gives=QuotaRequestPage
    ),
)
async def list_quota_requests(request: Request, project: ProjectRef, query: QuotaRequestList) -> Response:
    """List what the project asked for, newest first, with the operator's decisions."""
    return await list_of(request, project, QUOTA_REQUESTS.list, query)


@routes.get(
    _ONE,
    **operation("getQuotaRequest", "Read a request for a higher quota", Permission.PROJECT_READ, gives=QuotaRequestOut),
)
async def get_quota_request(request: Request, project: ProjectRef, quota_request: QuotaRequestId) -> Response:
    """Return a request with its state and the operator's answer."""
    document, _ = await read_one(request, QUOTA_REQUESTS.get, project, resource_id=quota_request)
    return Response(document, media_type=JSON)


@routes.post(
    _ONE + ":withdraw",
    **operation(
        "withdrawQuotaRequest",
        "Withdraw a request for a higher quota",
        Permission.CLUSTER_WRITE,
        gives=QuotaRequestOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def withdraw_quota_request(request: Request, project: ProjectRef, quota_request: QuotaRequestId) -> Response:
    """Ask no longer. A request that was granted or declined stays as it is."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await withdraw(connection, actor(request, scope), quota_request)
        document = await QUOTA_REQUESTS.read(connection, project_id=scope.project_id, resource_id=quota_request)
        return Answer(200, document.encode())

    return await change(request, project, effect)
