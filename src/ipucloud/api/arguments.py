"""Builds an endpoint's arguments from a request: path parameters, one query model, one body model.

The signature is FastAPI's, and FastAPI describes it in the OpenAPI document. FastAPI does not parse requests, because
unknown query parameters must be refused, validation errors shown only to authorised callers, and paths parsed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, get_origin

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from starlette.requests import Request

from ipucloud.api.problems import body_errors, invalid, query_errors
from ipucloud.kernel.errors import FieldError

_NO_NUL = "The value contains the character U+0000."
"""The one character that PostgreSQL cannot compare with."""


class Parameter(Protocol):
    """FastAPI's description of a parameter."""

    @property
    def name(self) -> str: ...

    @property
    def field_info(self) -> FieldInfo: ...


class Arguments:
    """The arguments of one route. Raises TypeError for an unsupported signature."""

    def __init__(self, route: APIRoute) -> None:
        taken = route.dependant
        if taken.header_params or taken.cookie_params or taken.dependencies:
            raise TypeError(f"{route.path} has arguments besides path, query and body")
        self._query = Query(*_model(route, taken.query_params)) if taken.query_params else None
        self._body = _model(route, taken.body_params) if taken.body_params else None
        self._without_body: BaseModel | None = None
        if taken.body_params and not taken.body_params[0].field_info.is_required():
            self._without_body = taken.body_params[0].field_info.get_default()

    async def of(self, request: Request) -> dict[str, Any]:
        """The arguments other than those of the path, which the path's converters parse.

        Raises `Problem` validation_failed.
        """
        arguments: dict[str, Any] = {}
        if self._query is not None:
            arguments[self._query.name] = self._query.of(request)
        elif request.scope["query_string"]:
            raise invalid([_unknown(name) for name in request.query_params])
        if self._body is not None:
            name, model = self._body
            body = await request.json()
            if self._without_body is not None and not await request.body():
                return arguments | {name: self._without_body}
            try:
                arguments[name] = model.model_validate(body)
            except ValidationError as error:
                raise invalid(body_errors(_errors(error), body)) from None
        return arguments


class Query:
    """A model of query parameters. Parameters that start with its `open_prefix`, if any, are accepted."""

    def __init__(self, name: str, model: type[BaseModel]) -> None:
        self.name = name
        self._model = model
        self._names = frozenset(model.model_fields)
        self._lists = {name for name, field in model.model_fields.items() if get_origin(field.annotation) is list}
        self._prefix: str | None = getattr(model, "open_prefix", None)

    def of(self, request: Request) -> BaseModel:
        values: dict[str, Any] = {}
        for name, value in request.query_params.multi_items() if request.scope["query_string"] else ():
            if not (name in self._names or (self._prefix is not None and name.startswith(self._prefix))):
                raise invalid([_unknown(name)])
            if "\x00" in name or "\x00" in value:
                raise invalid([FieldError(f"?{name}", "string_type", _NO_NUL)])
            if name in self._lists:
                values.setdefault(name, []).append(value)
            else:
                values[name] = value
        try:
            return self._model.model_validate(values)
        except ValidationError as error:
            raise invalid(query_errors(_errors(error))) from None


def _model(route: APIRoute, parameters: Sequence[Parameter]) -> tuple[str, type[BaseModel]]:
    """The one parameter's name and model."""
    if len(parameters) == 1:
        model = parameters[0].field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            return parameters[0].name, model
    raise TypeError(f"{route.path} takes at most one query model and one body model")


def _errors(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=False)


def _unknown(name: str) -> FieldError:
    (fault,) = query_errors([{"type": "extra_forbidden", "loc": (name,), "msg": ""}])
    return fault
