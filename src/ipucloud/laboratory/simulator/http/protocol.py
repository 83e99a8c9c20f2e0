"""An HTTP connection that a fault rule can break, and a server that leaves signals to the process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TRANSPORT = "ipucloud.transport"


class BreakableProtocol(HttpToolsProtocol):
    """Gives each request the transport that it came by."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT: {"transport": self.transport}}


class QuietServer(uvicorn.Server):
    """Uvicorn inside a process that handles its signals itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def break_connection(request: Request) -> Response:
    """Reset the connection that the request came by; its caller never sees an answer."""
    transport: asyncio.Transport = request.scope["extensions"][TRANSPORT]["transport"]
    transport.abort()
    return await silence(request)


async def silence(request: Request) -> Response:
    """Answer nothing for as long as the caller waits."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response(status_code=500)
