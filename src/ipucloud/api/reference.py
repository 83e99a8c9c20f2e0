"""The API reference: the OpenAPI document and a page that renders it, without external resources."""

from __future__ import annotations

import asyncio
from functools import cache
from importlib.resources import files
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ipucloud.api.etag import Fixed
from ipucloud.kernel.errors import not_found

_ASSETS = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript", "favicon.png": "image/png"}
_PAGE = b"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>ipucloud API</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = b"""SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#reference", deepLinking: true, displayOperationId: true, docExpansion: "list",
  persistAuthorization: false, validatorUrl: null,
});
"""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Reference:
    """The OpenAPI document as it is sent, made once, in a thread, for the first who ask."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Fixed] | None = None

    async def of(self, app: Any) -> Fixed:
        if self._task is None or (self._task.done() and (self._task.cancelled() or self._task.exception())):
            self._task = asyncio.create_task(asyncio.to_thread(_rendered, app))
        return await asyncio.shield(self._task)


def _rendered(app: Any) -> Fixed:
    return Fixed(orjson.dumps(app.document, option=orjson.OPT_SORT_KEYS))


async def openapi(request: Request) -> Response:
    fixed: Fixed = await request.app.state.reference.of(request.app)
    return fixed.answer(request)


async def page(_: Request) -> Response:
    return Response(_PAGE, headers={"Content-Security-Policy": _POLICY}, media_type="text/html")


async def start(_: Request) -> Response:
    return Response(_START, media_type="text/javascript")


async def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise not_found()
    return Response(_read(name), headers={"Cache-Control": "public, max-age=86400"}, media_type=_ASSETS[name])


@cache
def _read(name: str) -> bytes:
    return (files("fastapi_offline") / "static" / name).read_bytes()


routes = [
    Route("/openapi.json", openapi),
    Route("/docs", page),
    Route("/docs/start.js", start),
    Route("/docs/{name}", asset),
]
