"""What the API answers, held against the models that document it."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from pydantic import BaseModel
from starlette.routing import Match

from ipucloud.api.app import Application
from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ApiRoute

_SESSION = re.compile(r"^/s/[^/]+")
"""What requests of a browser's session begin with."""


def assert_shape(model: type[BaseModel], text: str) -> None:
    """Every member of the JSON is the model's, with the value that the model would write, and none is missing."""
    written = model.model_validate_json(text).model_dump_json(exclude_unset=True)
    assert _read(text) == _read(written)


def as_documented(app: Application) -> Callable[[httpx.Response], Awaitable[None]]:
    """A hook of a client: every JSON answer of success has the shape that its route gives."""

    async def check(answer: httpx.Response) -> None:
        if not answer.is_success or answer.headers.get("content-type") != "application/json":
            return
        model = _response_model(app, answer.request)
        if model is not None:
            await answer.aread()
            assert_shape(model, answer.text)

    return check


def _response_model(app: Application, request: httpx.Request) -> type[BaseModel] | None:
    scope = {"type": "http", "method": request.method, "path": _SESSION.sub("", request.url.path)}
    matching = (route for route in every_route(app.routes) if route.matches(dict(scope))[0] is Match.FULL)
    matched = next(matching, None)
    return matched.response_model if isinstance(matched, ApiRoute) else None


def _read(text: str) -> Any:
    """The JSON, with whole seconds written in one way: PostgreSQL writes their microseconds, a model does not."""
    return json.loads(re.sub(r"\.000000Z", "Z", text))
