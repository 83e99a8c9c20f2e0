"""Entity tags and preconditions.

A tag is `"<version>-<digest>"`, strong. The digest covers the whole body, because parts of a cluster change without a
new version: its cost, its operation's progress. `If-None-Match` compares the whole tag, `If-Match` only the version,
which concurrent changes increment.

A compressed answer is another representation of the same object, and has `-gzip` at the end of its tag. `If-None-Match`
compares weakly, so there the tags of both mean the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.compression import CODING, compressed, is_compressed
from ipucloud.kernel.errors import PRECONDITION_FAILED, PRECONDITION_REQUIRED, Problem

JSON = "application/json"
NO_VERSION = -1
"""Matches no object's version."""

_TAG = re.compile(r'(?<!W/)"([0-9]{1,18})(?:[-.][0-9a-f]{1,32})?(?:-gzip)?"', re.ASCII)
_COMPRESSED = '-gzip"'
_REVALIDATE = "private, no-cache"


def tag(version: int, body: bytes) -> str:
    return f'"{version}-{hashlib.blake2b(body, digest_size=8).hexdigest()}"'


def tagged(request: Request, body: bytes, version: int) -> Response:
    """200 with the body and its tag, or 304 if the caller has it already."""
    current = tag(version, body)
    sent = current[:-1] + _COMPRESSED if is_compressed(request.scope, len(body)) else current
    headers = {"ETag": sent, "Cache-Control": _REVALIDATE}
    if _names(request.headers.get("if-none-match"), current):
        return Response(status_code=304, headers=headers | {"Vary": "Accept-Encoding"})
    return Response(body, 200, headers, JSON)


class Fixed:
    """A JSON answer that stays the same while the process runs: hashed and compressed once."""

    def __init__(self, body: bytes) -> None:
        self._tag = tag(0, body)
        self._body, self._compressed = body, compressed(body, level=9)

    def answer(self, request: Request) -> Response:
        """As `tagged`."""
        headers = {"ETag": self._tag, "Cache-Control": _REVALIDATE}
        if _names(request.headers.get("if-none-match"), self._tag):
            return Response(status_code=304, headers=headers | {"Vary": "Accept-Encoding"})
        if not is_compressed(request.scope, len(self._body)):
            return Response(self._body, 200, headers, JSON)
        headers |= {"ETag": self._tag[:-1] + _COMPRESSED, "Content-Encoding": CODING}
        return Response(self._compressed, 200, headers, JSON)


def expected_version(request: Request) -> int | None:
    """The version that `If-Match` requires; None for any; `NO_VERSION` if it has no valid tag.

    Of several it is the newest: versions only grow, so no older one can match an object that the caller has read.
    """
    header = request.headers.get("if-match", "*").strip()
    if header == "*":
        return None
    return max(map(int, _TAG.findall(header)), default=NO_VERSION)


def required_version(request: Request) -> int:
    """As `expected_version`, where a tag must be sent. Raises `Problem` 428."""
    if "if-match" not in request.headers:
        raise Problem(PRECONDITION_REQUIRED, "Read the object first and send its ETag as If-Match.")
    version = expected_version(request)
    return NO_VERSION if version is None else version


def changed_since(version: int, body: bytes) -> Problem:
    """412 with the object's current tag."""
    return Problem(
        PRECONDITION_FAILED,
        "Read the object again and repeat the change if it still applies.",
        headers={"ETag": tag(version, body)},
    )


@asynccontextmanager
async def current_tag(read: Callable[[], Awaitable[str]]) -> AsyncIterator[None]:
    """Add the object's current tag to a 412; `read` returns its JSON."""
    try:
        yield
    except Problem as problem:
        if problem.kind is not PRECONDITION_FAILED:
            raise
        document = await read()
        raise changed_since(orjson.loads(document)["version"], document.encode()) from None


def _names(header: str | None, current: str) -> bool:
    """Weak comparison, as RFC 9110 requires for If-None-Match."""
    if header is None:
        return False
    named = {part.strip().removeprefix("W/").replace(_COMPRESSED, '"') for part in header.split(",")}
    return "*" in named or current in named
