"""JSON answers to reads, compressed for callers who accept it.

Only answers to GET (and HEAD, with the same header) are compressed. Secrets are only in answers to POST, so the length
of a compressed answer tells nothing about one (BREACH). Event streams and files are sent as they are: a stream would be
held back, and a file's ETag is the digest of its bytes.
"""

from __future__ import annotations

import asyncio
import zlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MINIMUM = 1024
"""Bytes from which on an answer is compressed; below, it fits into one packet either way."""
_LEVEL = 4
_INLINE = 128 * 1024
"""Bytes above which a thread compresses: a millisecond of the event loop."""
_GZIP = 16 + zlib.MAX_WBITS
_JSON = "application/json"
CODING = "gzip"


def is_compressed(scope: Scope, size: int) -> bool:
    """Whether a JSON answer of `size` bytes to this request is sent compressed."""
    return scope["method"] == "GET" and size >= MINIMUM and _accepts_gzip(Headers(scope=scope))


class Compression:
    """ASGI middleware that compresses whole JSON answers. `etag.tagged` gives those an entity tag of their own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            send = _Answer(scope, send)
        await self._app(scope, receive, send)


class _Answer:
    """`send` that holds a JSON answer's start back until its body shows whether it is compressed."""

    __slots__ = ("_held", "_scope", "_send")

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._held: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if message["status"] == 200 and headers.get("content-type") == _JSON:
                headers.add_vary_header("Accept-Encoding")
            if message["status"] == 200 and headers.get("content-type") == _JSON and "content-encoding" not in headers:
                self._held = {**message, "headers": headers.raw}
                return
        elif self._held is not None:
            start, self._held = self._held, None
            body = message.get("body", b"")
            if not message.get("more_body") and is_compressed(self._scope, len(body)):
                message = {**message, "body": await _compressed(body)}
                headers = MutableHeaders(raw=start["headers"])
                headers["Content-Encoding"] = CODING
                headers["Content-Length"] = str(len(message["body"]))
            await self._send(start)
        await self._send(message)


async def _compressed(body: bytes) -> bytes:
    return await asyncio.to_thread(compressed, body) if len(body) > _INLINE else compressed(body)


def compressed(body: bytes, level: int = _LEVEL) -> bytes:
    """The body as gzip."""
    return zlib.compress(body, level, _GZIP)


def _accepts_gzip(headers: Headers) -> bool:
    """RFC 9110: a coding is accepted if it, or else `*`, is listed with a weight above 0."""
    accepted = {}
    for element in ",".join(headers.getlist("accept-encoding")).lower().split(","):
        coding, _, weight = element.partition(";")
        accepted[coding.strip()] = weight.replace(" ", "") not in {"q=0", "q=0.", "q=0.0", "q=0.00", "q=0.000"}
    return accepted.get("gzip", accepted.get("*", False))
