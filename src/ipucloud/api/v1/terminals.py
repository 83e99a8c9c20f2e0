"""Terminals: a shell on a Poplar server, over a WebSocket.

Binary messages are what is typed and what the shell writes. Text messages are JSON: a client sends
`{"columns": 120, "rows": 40}` when its window changes, and `{"wait": true}`, later `false`, when it cannot take more.
It is sent `{"state": "connected"}` once, and at the end
`{"state": "closed", "ended_by": "shell", "detail": "…", "exit_status": 0}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import HTTPConnection
from starlette.routing import Match, WebSocketRoute
from starlette.types import Scope
from starlette.websockets import WebSocket

from ipucloud.api.auditing import audit_entry, audited
from ipucloud.api.credentials import require_same_site
from ipucloud.api.logins import new_key, public_text
from ipucloud.api.names import resolve
from ipucloud.api.problems import invalid
from ipucloud.api.services import Services, services_of
from ipucloud.api.terminal import MOST_CELLS, Closed, Size, TerminalSession
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.identity import audit_log
from ipucloud.identity.access import authorize
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import UNAVAILABLE, FieldError, Problem, not_found
from ipucloud.programs.terminals import store
from ipucloud.programs.terminals.store import Terminal

if TYPE_CHECKING:
    import asyncssh

OPEN, CLOSE = "openTerminal", "closeTerminal"
"""The operations of its two entries in the audit log."""
_USUAL = Size(80, 24)


class TerminalRoute(WebSocketRoute):
    """As `ApiRoute`, a route knows the permission that it requires."""

    permission = Permission.CLUSTER_WRITE

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is not Match.NONE:
            child["route"] = self
        return match, child


async def open_terminal(socket: WebSocket) -> None:
    """Log in to a Poplar server with a key made for this terminal, and connect its shell to the WebSocket.

    Raises `Problem` before it accepts the WebSocket; what goes wrong later is in the last message.
    """
    trace, services = trace_of(socket), services_of(socket)
    trace.credential()
    if trace.by_cookie:
        require_same_site(socket.scope, browser=True)
    key = new_key()
    with _one_more(services):
        async with audited(socket, OPEN, TerminalRoute.permission) as outcome:
            size = _size(socket)
            terminal = await _requested(socket, key)
            outcome.status = 101
        closed = Closed("service", "The service failed.")
        try:
            await socket.accept()
            session = TerminalSession(socket, services, terminal, key, size)
            closed = await session.run()
        finally:
            await asyncio.shield(_over(socket, terminal, closed))
        await session.notify(closed)


def _size(socket: HTTPConnection) -> Size:
    """Raises `Problem` validation_failed."""
    numbers = {}
    for name, usual in _USUAL._asdict().items():
        text = socket.query_params.get(name, str(usual))
        if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST_CELLS):
            raise invalid([FieldError(f"?{name}", "out_of_range", f"Send a number from 1 to {MOST_CELLS}.")])
        numbers[name] = int(text)
    return Size(**numbers)


@contextmanager
def _one_more(services: Services) -> Iterator[None]:
    """A terminal of this process. Raises `Problem` 503."""
    gauge = services.metrics.terminals
    if services.terminals.open >= services.settings.terminal_limit:
        raise Problem(
            UNAVAILABLE,
            "All terminals of this server are in use. Try again shortly.",
            headers={"Retry-After": "5"},
        )
    services.terminals.open += 1
    gauge.set(services.terminals.open)
    try:
        yield
    finally:
        services.terminals.open -= 1
        gauge.set(services.terminals.open)


async def _requested(socket: WebSocket, key: asyncssh.SSHKey) -> Terminal:
    """The terminal, recorded with the public key."""
    if "\x00" in socket.scope["path"]:
        raise not_found()
    await resolve(socket)
    trace, services = trace_of(socket), services_of(socket)
    path = socket.path_params
    public_key = public_text(key)

    async def work(connection: AsyncConnection) -> Terminal:
        scope = await authorize(
            connection, trace.credential(), path["project"], TerminalRoute.permission, origin_of(socket)
        )
        trace.admit(scope.role, project_id=scope.project_id, token_id=scope.token_id)
        trace.concerns(cluster_id=path["cluster"])
        caller = Actor(scope.project_id, scope.token_id, trace.request_id)
        limit = services.settings.terminals_per_project
        return await store.request(
            connection, caller, path["cluster"], path["server"], public_key=public_key, limit=limit
        )

    terminal = await services.database.transact(work)
    trace.concerns(terminal_id=terminal.id, poplar_server_id=terminal.server_id)
    services.notifier.poke()
    return terminal


async def _over(socket: WebSocket, terminal: Terminal, closed: Closed) -> None:
    """Record the end, so that a key that is still there is taken away, and complete the audit log."""
    services = services_of(socket)

    async def work(connection: AsyncConnection) -> None:
        await store.end(connection, terminal.id, closed.ended_by)

    await services.database.transact(work)
    services.notifier.poke()
    async with services.database.read() as connection:
        entry = audit_entry(socket, CLOSE)
        await audit_log.record_entry(connection, entry, status=200, code=None, objects=trace_of(socket).ids)


routes = [
    TerminalRoute(
        "/v1/projects/{project}/clusters/{cluster:ref}/poplar-servers/{server}/terminal", open_terminal, name=OPEN
    )
]
