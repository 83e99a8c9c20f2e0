"""uvicorn as this product runs it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import AsyncIterator
from typing import Any, Literal, cast

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from ipucloud.http.certificate import Certificate
from ipucloud.http.gate import Gate
from ipucloud.http.limits import INTERNAL_LIMITS
from ipucloud.http.listeners import BACKLOG
from ipucloud.http.protocol import limited
from ipucloud.http.secured import secured
from ipucloud.http.sockets import MESSAGE_BYTES, PING_SECONDS, websocket

INTERNAL_BACKLOG = 64
"""asyncio accepts this many connections at once before the first of them can be refused."""


def server_config(
    app: ASGIApp,
    gate: Gate,
    *,
    lifespan: Literal["on", "off"],
    backlog: int = BACKLOG,
    drain_seconds: float | None = None,
    certificate: Certificate | None = None,
    sockets: bool = False,
) -> uvicorn.Config:
    """uvicorn's configuration for serving the application to admitted clients.

    uvicorn's warnings are about single requests, and any client could fill the log with them: the gate counts instead.
    """
    return uvicorn.Config(
        app,
        loop="none",
        http=limited(gate) if certificate is None else cast("Any", secured(gate, certificate.context)),
        ws=cast("Any", websocket) if sockets else "none",
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,
        lifespan=lifespan,
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=bool(gate.limits.trusted),
        forwarded_allow_ips=[str(network) for network in gate.limits.trusted],
        backlog=backlog,
        timeout_keep_alive=math.ceil(gate.limits.idle_seconds) + 60,  # the gate is earlier, and counts
        timeout_graceful_shutdown=None if drain_seconds is None else max(1, round(drain_seconds)),
    )


@contextlib.asynccontextmanager
async def internal_listener(app: Starlette, bound: socket.socket) -> AsyncIterator[None]:
    """Serve the operators' listener while the block lasts; it does not handle the process's signals."""
    gate = Gate("internal", INTERNAL_LIMITS)
    server = uvicorn.Server(server_config(app, gate, lifespan="off", backlog=INTERNAL_BACKLOG, drain_seconds=1.0))
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment,method-assign]
    serving = asyncio.create_task(server.serve(sockets=[bound]), name="internal-listener")
    try:
        yield
    finally:
        server.should_exit = True
        await serving
