"""Routes of SCIM below `/scim/v2`: 401, then 403, then what is wrong with the request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ipucloud.api.auditing import audited
from ipucloud.api.bodies import JsonRequest
from ipucloud.api.reads import check_permission
from ipucloud.api.routing import FoundRoute
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.extras.scim.errors import MEDIA_TYPE, PATH
from ipucloud.identity.access import unauthenticated
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import not_found

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class ScimRequest(JsonRequest):
    """A request whose body is SCIM's JSON, by either of its names."""

    media_types = (MEDIA_TYPE, "application/json")
    key_as_compared = str.lower


class ScimRoute(FoundRoute):
    """As `ApiRoute`, it knows the permission that it requires. `name`: of the operation, in the audit log."""

    permission = Permission.PERSON_PROVISION

    def __init__(self, path: str, name: str, method: str) -> None:
        super().__init__(path, self._serve_route, methods=[method], name=name, include_in_schema=False)
        self.app = self._serve
        self._takes_body = method in _WITH_BODY

    async def _serve_route(self, request: ScimRequest) -> Response:
        return await self._answer(request)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(ScimRequest(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: ScimRequest) -> Response:
        trace = trace_of(request)
        trace.credential()
        if trace.by_cookie:  # identity providers have none, so whoever sends one is a page in somebody's browser
            raise unauthenticated()
        async with audited(request, self.name, self.permission) as outcome:
            await check_permission(request)
            if "\x00" in request.scope["path"]:
                raise not_found()
            if self._takes_body:
                await request.load(services_of(request).settings.body_limit)
            answer = await asyncio.to_thread(_answering)
            response = await answer(self.name, request)
            outcome.status = response.status_code
            return response


def _answering() -> Callable[[str, ScimRequest], Awaitable[Response]]:
    """In a thread, so that other requests are answered while the first of these imports the protocol's models."""
    from ipucloud.extras.scim.answers import answer

    return answer


_USERS = f"{PATH}/Users"
_USER = f"{_USERS}/{{user}}"
routes: list[Route] = [
    ScimRoute(f"{PATH}/ServiceProviderConfig", "scimServiceProviderConfig", "GET"),
    ScimRoute(f"{PATH}/ResourceTypes", "scimListResourceTypes", "GET"),
    ScimRoute(f"{PATH}/ResourceTypes/{{id}}", "scimGetResourceType", "GET"),
    ScimRoute(f"{PATH}/Schemas", "scimListSchemas", "GET"),
    ScimRoute(f"{PATH}/Schemas/{{id}}", "scimGetSchema", "GET"),
    ScimRoute(f"{PATH}/Groups", "scimListGroups", "GET"),
    ScimRoute(_USERS, "scimListUsers", "GET"),
    ScimRoute(_USERS, "scimCreateUser", "POST"),
    ScimRoute(f"{_USERS}/.search", "scimSearchUsers", "POST"),
    ScimRoute(f"{PATH}/.search", "scimSearch", "POST"),
    ScimRoute(_USER, "scimGetUser", "GET"),
    ScimRoute(_USER, "scimReplaceUser", "PUT"),
    ScimRoute(_USER, "scimPatchUser", "PATCH"),
    ScimRoute(_USER, "scimDeleteUser", "DELETE"),
]
