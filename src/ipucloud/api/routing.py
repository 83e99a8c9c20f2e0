"""Routes that judge a request in one order: credential, body, authorisation, then what was asked.

A route is FastAPI's own, with three things more: it names the one permission it needs and does not exist without,
it reads bodies strictly, and it tells nobody what is wrong with a request who may not send it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypedDict

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from ipucloud.api.bodies import JsonRequest
from ipucloud.api.problems import validation_problem
from ipucloud.api.reads import check_permission
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.identity.access import not_found
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import ErrorCode

PERMISSION = "x-permission"
ERRORS = "x-errors"
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_NO_NUL = "The value holds the character U+0000"


class Operation(TypedDict):
    """What a route decorator takes."""

    operation_id: str
    summary: str
    status_code: int
    response_model: type[BaseModel] | None
    response_description: str
    openapi_extra: dict[str, Any]


def operation(
    operation_id: str,
    summary: str,
    permission: Permission,
    *,
    gives: type[BaseModel] | None = None,
    status: int = 200,
    description: str = "Done",
    errors: Iterable[ErrorCode] = (),
    headers: Iterable[dict[str, Any]] = (),
) -> Operation:
    """Describe a route: its stable id, the permission it needs, what it `gives`, and the errors that are its own.

    `headers` are OpenAPI parameters. Errors that every route of a kind has are added to the document by themselves.
    """
    extra: dict[str, Any] = {PERMISSION: permission.value, ERRORS: sorted(error.code for error in errors)}
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


class ApiRoute(APIRoute):
    """One operation of the API. Raises KeyError when made without a permission."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.permission = Permission((self.openapi_extra or {})[PERMISSION])

    def get_route_handler(self) -> Handler:
        answer = _called_directly(self) or super().get_route_handler()
        takes_body = bool(self.methods and self.methods & _WITH_BODY)
        takes_query = _query_names(self)

        async def handle(request: Request) -> Response:
            trace_of(request).credential()
            if "\x00" in request.scope["path"]:
                raise not_found()
            if takes_body:
                request = JsonRequest(request.scope, request.receive)
                await request.load(services_of(request).settings.body_limit)
            try:
                if request.scope["query_string"]:
                    _check_query(request, takes_query)
                return await answer(request)
            except RequestValidationError as error:
                await check_permission(request)
                raise validation_problem(error) from None

        return handle


def _called_directly(route: APIRoute) -> Handler | None:
    """The endpoint itself where the path is all it takes: the path's converters have given its parameters their types.

    FastAPI would look at them once more, for a tenth of the time that reading a cluster takes.
    """
    taken = route.dependant
    if taken.query_params or taken.header_params or taken.body_params or taken.dependencies:
        return None
    endpoint = route.endpoint

    async def answer(request: Request) -> Response:
        response: Response = await endpoint(request, **request.path_params)
        return response

    return answer


def _query_names(route: APIRoute) -> Callable[[str], bool]:
    """Whether the route takes the query parameter with a name; a route declares one model of them or none."""
    if not route.dependant.query_params:
        return lambda _: False
    (parameter,) = route.dependant.query_params
    model = parameter.field_info.annotation
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"{route.path} declares its query parameters one by one; it takes one model of them")
    names, prefix = frozenset(model.model_fields), getattr(model, "open_prefix", None)
    return lambda name: name in names or (prefix is not None and name.startswith(prefix))


def _check_query(request: Request, takes: Callable[[str], bool]) -> None:
    """Refuse unknown parameters, and the one character that PostgreSQL cannot compare with."""
    for name, value in request.query_params.multi_items():
        if not takes(name):
            raise RequestValidationError([{"type": "extra_forbidden", "loc": ("query", name), "msg": ""}])
        if "\x00" in name or "\x00" in value:
            raise RequestValidationError([{"type": "string_type", "loc": ("query", name), "msg": _NO_NUL}])


def router() -> APIRouter:
    """A router of `ApiRoute`s."""
    return APIRouter(route_class=ApiRoute)


def allowed_methods(routes: Iterable[object], scope: Scope) -> str:
    """The value of `Allow`: every method that some route takes on this path, empty when there is none."""
    methods = {
        method
        for route in routes
        if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    if not methods:
        return ""
    return ", ".join(sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())))
