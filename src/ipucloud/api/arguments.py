"""Builds an endpoint's arguments from a request: path parameters, one query model, one body model.

The model of the query is the parameter `query`, that of the body the parameter `body`. FastAPI, which describes both in
the OpenAPI document, does not parse requests, because unknown query parameters must be refused, validation errors shown
only to authorised callers, and paths parsed once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, signature
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import Request

from ipucloud.api.problems import body_errors, invalid, query_errors
from ipucloud.kernel.errors import FieldError

_NO_NUL = "The value contains the character U+0000."
"""The one character that PostgreSQL cannot compare with."""
_LONGEST_NAME = 64


class Arguments:
    """The arguments of one endpoint, besides those of its path. Raises TypeError for an unsupported signature."""

    def __init__(self, endpoint: Callable[..., Any], path: Collection[str]) -> None:
        parameters = dict(signature(endpoint, eval_str=True).parameters)
        if parameters.keys() - {"query", "body"} != {"request", *path}:
            raise TypeError(f"{endpoint.__qualname__} takes {sorted(parameters)}, and its path has {sorted(path)}")
        query, body = parameters.get("query"), parameters.get("body")
        self.query = None if query is None else _model(query)
        self.body = None if body is None else _model(body)
        self._query = None if self.query is None else Query(self.query)
        self._without_body: BaseModel | None = None
        if body is not None and body.default is not Parameter.empty:
            self._without_body = body.default

    async def of(self, request: Request) -> dict[str, Any]:
        """The arguments other than those of the path, which the path's converters parse.

        Raises `Problem` validation_failed.
        """
        arguments: dict[str, Any] = {}
        if self._query is not None:
            arguments["query"] = self._query.of(request)
        elif request.scope["query_string"]:
            raise invalid([_unknown(name) for name in request.query_params])
        if self.body is not None:
            body = await request.json()
            if self._without_body is not None and not await request.body():
                return arguments | {"body": self._without_body}
            try:
                arguments["body"] = self.body.model_validate(body)
            except ValidationError as error:
                raise invalid(body_errors(_errors(error), body)) from None
        return arguments


class Query:
    """A model of query parameters. Parameters that start with its `open_prefix`, if any, are accepted."""

    def __init__(self, model: type[BaseModel]) -> None:
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
            elif name in values:
                raise invalid([FieldError(f"?{name[:_LONGEST_NAME]}", "repeated", "Send the parameter once.")])
            else:
                values[name] = value
        try:
            return self._model.model_validate(values)
        except ValidationError as error:
            raise invalid(query_errors(_errors(error))) from None


def _model(parameter: Parameter) -> type[BaseModel]:
    model = parameter.annotation
    if isinstance(model, type) and issubclass(model, BaseModel):
        return model
    raise TypeError(f"{parameter} is no model")


def _errors(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=False)


def _unknown(name: str) -> FieldError:
    (fault,) = query_errors([{"type": "extra_forbidden", "loc": (name,), "msg": ""}])
    return fault
