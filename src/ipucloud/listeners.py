"""Where a process answers: listening sockets, its own or handed down by who started it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette

BACKLOG = 2048


class ListenError(Exception):
    """An address cannot be listened on; the message is a sentence for a human."""


def listener(host: str, port: int, descriptor: int | None = None) -> socket.socket:
    """A socket that listens on the address, or the one already listening that was handed down as `descriptor`.

    One that is handed down stays open while its program is started again: who connects meanwhile waits, and no other
    program can take the port. Raises ListenError.
    """
    if descriptor is not None:
        return socket.socket(fileno=descriptor)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ListenError(f"Port {port} of {host} cannot be listened on: {reason}. Choose another one.") from error


@contextlib.asynccontextmanager
async def internal_listener(app: Starlette, bound: socket.socket) -> AsyncIterator[None]:
    """Serve what only operators see while the block lasts; the process's signals belong to others."""
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment,method-assign]
    serving = asyncio.create_task(server.serve(sockets=[bound]), name="internal-listener")
    try:
        yield
    finally:
        server.should_exit = True
        await serving
