"""Routes with a fixed order of errors: 401, 404 for the project, 403, then errors in the request.

Every route requires exactly one permission, reads bodies strictly, and shows validation errors only to authorised
callers. FastAPI describes it in the OpenAPI document, and has no part in a request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any, Protocol, TypedDict, TypeVar, Unpack

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from ipucloud.api.arguments import Arguments
from ipucloud.api.auditing import audited
from ipucloud.api.bodies import JsonRequest
from ipucloud.api.credentials import SAFE_METHODS, require_same_site
from ipucloud.api.names import named, resolve
from ipucloud.api.reads import check_permission
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import (
    PERMISSION_DENIED,
    SOURCE_NOT_ALLOWED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    ErrorCode,
    Problem,
    not_found,
)

PERMISSION = "x-permission"
ERRORS = "x-errors"
BODY_LIMIT = "x-body-limit"
BY_CLUSTER = "x-by-cluster"
Endpoint = Callable[..., Awaitable[Response]]
AnyEndpoint = TypeVar("AnyEndpoint", bound=Endpoint)
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_JUDGED = frozenset({UNAUTHENTICATED, PERMISSION_DENIED, SOURCE_NOT_ALLOWED, UNAVAILABLE})
"""Errors that reveal nothing about the request, so the caller need not be authorised first."""


def parameter(name: str, annotation: object) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)


def declared(endpoint: Endpoint, *parameters: Parameter, name: str, module: str, description: str | None) -> Endpoint:
    """An endpoint that takes any arguments, as one that is written in a module with these, after the request."""
    endpoint.__name__ = endpoint.__qualname__ = name
    endpoint.__module__, endpoint.__doc__ = module, description
    endpoint.__signature__ = Signature(  # type: ignore[attr-defined]  # what `inspect` reads
        [parameter("request", Request), *parameters], return_annotation=Response
    )
    return endpoint


class Operation(TypedDict):
    """Arguments of a route decorator."""

    operation_id: str
    summary: str
    status_code: int
    response_model: type[BaseModel] | None
    response_description: str
    openapi_extra: dict[str, Any]


def operation(
    operation_id: str,
    summary: str,
    permission: Permission | None,
    *,
    gives: type[BaseModel] | None = None,
    status: int = 200,
    description: str = "Done",
    errors: Iterable[ErrorCode] = (),
    headers: Iterable[dict[str, Any]] = (),
    files: Iterable[str] = (),
    body_limit: int | None = None,
    by_cluster: bool = False,
) -> Operation:
    """Describe a route: its stable id, summary, permission, response model `gives` and specific errors.

    Without a permission it is open to everybody.

    `headers` are OpenAPI parameters, `files` media types besides JSON, `body_limit` the bytes of a body where they are
    more than the setting. `by_cluster`: a token that is limited to clusters may request it too, as row-level security
    leaves only theirs; it may request what has a cluster in its path, and the catalogue, without that. Errors common to
    a kind of route are added to the document automatically.
    """
    extra: dict[str, Any] = {PERMISSION: permission, ERRORS: sorted(error.code for error in errors)}
    if body_limit is not None:
        extra[BODY_LIMIT] = body_limit
    if by_cluster:
        extra[BY_CLUSTER] = True
    if files := list(files):
        content = {media: {"schema": {"type": "string", "format": "binary"}} for media in files}
        extra["responses"] = {str(status): {"content": content}}
    if headers := list(headers):
        extra["parameters"] = headers
    return Operation(
        operation_id=operation_id,
        summary=summary,
        status_code=status,
        response_model=gives,
        response_description=description,
        openapi_extra=extra,
    )


class FoundRoute(Route):
    """A route that requests have in their scope: metrics, permissions and idempotency ask for it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is not Match.NONE:
            child["route"] = self
        return match, child


class ApiRoute(FoundRoute):
    """One operation of the API. Raises KeyError if created without a permission.

    Its signature is read when it is first used: there are hundreds of routes, and a process that starts has been asked
    for none of them.
    """

    def __init__(self, path: str, endpoint: Endpoint, method: str, **description: Unpack[Operation]) -> None:
        super().__init__(path, endpoint, methods=[method])
        self.methods = {method}  # HEAD is not among them: `Edge` answers it
        self.operation_id = description["operation_id"]
        self.response_model = description["response_model"]
        self.permission: Permission | None = description["openapi_extra"][PERMISSION]
        self.description = description
        self._body_limit: int | None = description["openapi_extra"].get(BODY_LIMIT)
        catalogue = method == "GET" and self.permission is Permission.CATALOGUE_READ
        self.by_cluster: bool = catalogue or description["openapi_extra"].get(BY_CLUSTER, False)
        self._takes_body = method in _WITH_BODY
        self.app = self._serve

    @cached_property
    def arguments(self) -> Arguments:
        """Raises TypeError for a signature that is not supported."""
        return Arguments(self.endpoint, frozenset(self.param_convertors))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = JsonRequest(scope, receive)
        path = dict(request.path_params)
        try:
            response = await self._answer(request)
        except Problem as refusal:
            raise named(refusal, path) from None
        await response(scope, receive, send)

    async def _answer(self, request: JsonRequest) -> Response:
        """The endpoint's response. Every error passes here, so none is shown to an unauthorised caller.

        The request is still read and parsed first: a valid request is authorised by the statement or transaction that
        serves it, without an extra query.
        """
        trace = trace_of(request)
        if self.permission is not None:
            trace.credential()
            if trace.by_cookie and request.method not in SAFE_METHODS:
                require_same_site(request.scope, browser=True)
        async with audited(request, self.operation_id, self.permission) as outcome:
            try:
                response = await self._endpoint_answer(request)
            except Problem as refusal:
                if self.permission is not None and not trace.admitted and refusal.kind not in _JUDGED:
                    await check_permission(request)
                raise
            outcome.status = response.status_code
            return response

    async def _endpoint_answer(self, request: JsonRequest) -> Response:
        if "\x00" in request.scope["path"]:
            raise not_found()
        await resolve(request)
        if self._takes_body:
            await request.load(await self._limit(request))
        arguments = await self.arguments.of(request)
        response: Response = await self.endpoint(request, **request.path_params, **arguments)
        return response

    async def _limit(self, request: JsonRequest) -> int:
        """The bytes of a body. More than those of the setting are read only for a caller who may send them."""
        usual = services_of(request).settings.body_limit
        if self._body_limit is None or self._body_limit <= usual:
            return usual
        await check_permission(request)
        return self._body_limit


class Decorator(Protocol):
    """Gives back the function that it is used on."""

    def __call__(self, endpoint: AnyEndpoint, /) -> AnyEndpoint: ...


class Router:
    """The routes of a module, made by decorators."""

    def __init__(self) -> None:
        self.routes: list[ApiRoute] = []

    def __iter__(self) -> Iterator[ApiRoute]:
        return iter(self.routes)

    def get(self, path: str, **description: Unpack[Operation]) -> Decorator:
        return self._route("GET", path, description)

    def post(self, path: str, **description: Unpack[Operation]) -> Decorator:
        return self._route("POST", path, description)

    def put(self, path: str, **description: Unpack[Operation]) -> Decorator:
        return self._route("PUT", path, description)

    def patch(self, path: str, **description: Unpack[Operation]) -> Decorator:
        return self._route("PATCH", path, description)

    def delete(self, path: str, **description: Unpack[Operation]) -> Decorator:
        return self._route("DELETE", path, description)

    def _route(self, method: str, path: str, description: Operation) -> Decorator:
        def register(endpoint: AnyEndpoint) -> AnyEndpoint:
            self.routes.append(ApiRoute(path, endpoint, method, **description))
            return endpoint

        return register


def router() -> Router:
    return Router()


def allowed_methods(routes: Iterable[object], scope: Scope) -> str:
    """The value of `Allow`: every method that a route supports on this path; empty if there is none."""
    methods = {
        method
        for route in routes
        if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    if not methods:
        return ""
    return ", ".join(sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())))
