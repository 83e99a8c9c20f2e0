"""Pages for people: where to begin, and what each error means. A program that does not ask for HTML gets data."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import ipucloud
from ipucloud.api.etag import JSON
from ipucloud.api.panel import panel_of, wants_html
from ipucloud.kernel.errors import REGISTRY, not_found

_PACKAGE = Path(ipucloud.__file__).parent
_ROW = re.compile(r"^\| `(?P<code>\w+)` \| \d+ \| \w+ \| (?P<meaning>.+) \| (?P<remedy>.+) \|$", re.MULTILINE)
_LINKS = {"documentation": "/docs", "openapi": "/openapi.json", "errors": "/errors", "status": "/readyz"}
_START = """# ipucloud

A cloud of Graphcore IPUs: create, use, pay for and delete clusters of IPU machines.

- [API reference](/docs), also as an [OpenAPI document](/openapi.json)
- [Errors](/errors): every code, and what to do about it
- [Status](/readyz) of this service

To begin, ask the operator of this service for a token. Then run `ipucloud configure --url URL`, with
the address of this page, and `ipucloud --help`.
"""
_HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="/docs/favicon.png">
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #bbb; padding: .3rem .5rem; vertical-align: top; text-align: left }}
pre {{ overflow-x: auto }}
</style>
</head>
<body>
{body}</body>
</html>
"""
_HEADERS = {
    "Vary": "Accept",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
}


async def start(request: Request) -> Response:
    panel = panel_of(request)
    missing = panel.missing
    if wants_html(request):
        if missing is None:
            return panel.page(request)
        return _html("ipucloud", f"{_START}\n{missing}\n")
    links = {"name": "ipucloud", "version": ipucloud.__version__, **_LINKS, "panel": missing or "/"}
    return Response(orjson.dumps(links), headers={"Vary": "Accept"}, media_type=JSON)


async def errors(request: Request) -> Response:
    return _text(request, "Errors", _errors_page())


async def error(request: Request) -> Response:
    code = request.path_params["code"]
    if code not in REGISTRY:
        raise not_found()
    return _text(request, code, _explanations()[code])


@cache
def _errors_page() -> str:
    """docs/errors.md, inside an installed package or at the top of a source checkout."""
    packaged = _PACKAGE / "api" / "errors.md"
    return (packaged if packaged.is_file() else _PACKAGE.parents[1] / "docs" / "errors.md").read_text()


@cache
def _explanations() -> dict[str, str]:
    """Each row of the page as a page of its own, by code."""
    pages = {}
    for row in _ROW.finditer(_errors_page()):
        kind = REGISTRY[row["code"]]
        again = "may succeed later" if kind.retryable else "fails again until its cause is removed"
        pages[kind.code] = (
            f"# {kind.title}\n\n`{kind.code}`, status {kind.status}. {row['meaning']}\n\n"
            f"**What to do:** {row['remedy']} The same request {again}.\n\n[All errors](/errors)\n"
        )
    return pages


def _text(request: Request, title: str, markdown: str) -> Response:
    if wants_html(request):
        return _html(title, markdown)
    return Response(markdown, headers={"Vary": "Accept"}, media_type="text/markdown")


def _html(title: str, markdown: str) -> Response:
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark").enable("table").render(markdown)
    return Response(_HTML.format(title=title, body=body), headers=_HEADERS, media_type="text/html")


routes = [Route("/", start), Route("/errors", errors), Route("/errors/{code}", error)]
