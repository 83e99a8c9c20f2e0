"""The API reference: the OpenAPI document and a page that renders it, without external resources."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ipucloud.api.etag import tagged
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


async def openapi(request: Request) -> Response:
    body = orjson.dumps(request.app.document, option=orjson.OPT_SORT_KEYS)
    return tagged(request, body, 0)


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
