"""For operators: requests of projects for higher quotas, and the decisions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin.quota_requests import GET_QUOTA_REQUEST, LIST_QUOTA_REQUESTS
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operator.lists import keyed_list, one_document
from ipucloud.api.writes import change_platform
from ipucloud.contract.quota_requests import (
    OperatorQuotaRequestList,
    OperatorQuotaRequestOut,
    OperatorQuotaRequestPage,
    QuotaRequestDecline,
    QuotaRequestGrant,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT
from ipucloud.quotas import requests
from ipucloud.quotas.counted import DefaultLimits

routes = router()

_ONE = "/v1/operator/quota-requests/{quota_request:uuid}"
QuotaRequestId = Annotated[UUID, Field(description="Id of the request.")]


@routes.get(
    "/v1/operator/quota-requests",
    **operation(
        "listAllQuotaRequests",
        "List requests for higher quotas of every project",
        Permission.PLATFORM_READ,
        gives=OperatorQuotaRequestPage,
    ),
)
async def list_quota_requests(request: Request, query: OperatorQuotaRequestList) -> Response:
    """List what projects asked for, oldest first; with `state=open`, what waits for a decision."""
    return await keyed_list(request, LIST_QUOTA_REQUESTS, query, **_defaults(request)._asdict())


@routes.get(
    _ONE,
    **operation(
        "getAnyQuotaRequest",
        "Read a request for a higher quota of any project",
        Permission.PLATFORM_READ,
        gives=OperatorQuotaRequestOut,
    ),
)
async def get_quota_request(request: Request, quota_request: QuotaRequestId) -> Response:
    """Return a request with its project, and the present limit and use."""
    return await one_document(
        request, GET_QUOTA_REQUEST, quota_request_id=quota_request, **_defaults(request)._asdict()
    )


@routes.post(
    _ONE + ":grant",
    **operation(
        "grantQuotaRequest",
        "Grant a higher quota",
        Permission.PLATFORM_WRITE,
        gives=OperatorQuotaRequestOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def grant_quota_request(request: Request, quota_request: QuotaRequestId, body: QuotaRequestGrant) -> Response:
    """Raise the quota to what was asked for, or to less. Quota and request change together."""

    async def grant(connection: AsyncConnection, principal: Principal) -> None:
        token, request_id = principal.token_id, trace_of(request).request_id
        await requests.grant(
            connection, quota_request, body, token=token, request_id=request_id, defaults=_defaults(request)
        )

    return await _decided(request, quota_request, grant)


@routes.post(
    _ONE + ":decline",
    **operation(
        "declineQuotaRequest",
        "Decline a higher quota",
        Permission.PLATFORM_WRITE,
        gives=OperatorQuotaRequestOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def decline_quota_request(request: Request, quota_request: QuotaRequestId, body: QuotaRequestDecline) -> Response:
    """Tell the customer that the quota stays as it is, and why."""

    async def decline(connection: AsyncConnection, principal: Principal) -> None:
        token, request_id = principal.token_id, trace_of(request).request_id
        await requests.decline(connection, quota_request, body.reason, token=token, request_id=request_id)

    return await _decided(request, quota_request, decline)


def _defaults(request: Request) -> DefaultLimits:
    return DefaultLimits.of(services_of(request).settings)


async def _decided(
    request: Request, quota_request: UUID, decide: Callable[[AsyncConnection, Principal], Awaitable[None]]
) -> Response:
    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        await decide(connection, principal)
        values = {"quota_request_id": quota_request, **_defaults(request)._asdict()}
        document = await GET_QUOTA_REQUEST.one(connection, values)
        return Answer(200, document.encode())

    return await change_platform(request, effect)
