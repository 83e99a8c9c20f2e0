"""One terminal: between the WebSocket of a browser and the SSH connection to a Poplar server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.websockets import WebSocket, WebSocketDisconnect

from ipucloud.api.logins import LOGIN_SECONDS, LoginFailed, log_in
from ipucloud.api.reads import check_permission
from ipucloud.api.services import Services
from ipucloud.api.trace import trace_of
from ipucloud.contract.poplar_servers import TerminalEnd
from ipucloud.kernel.errors import UNAVAILABLE, Problem
from ipucloud.programs.terminals import store
from ipucloud.programs.terminals.store import Terminal

if TYPE_CHECKING:
    import asyncssh

CHECK_SECONDS = 5.0
"""Between two checks that the caller may still be there."""
SEND_SECONDS = 30.0
"""How long a browser may take to read one message."""
PART = 32_768
WINDOW = 65_536
"""Bytes that a server may send ahead of what the browser has read."""
MOST_CELLS = 1000
CLOSE_NORMAL, CLOSE_OTHER = 1000, 4000


class Size(NamedTuple):
    """Of the window, in cells."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Closed:
    """How a terminal ended, and a sentence for whoever sits before it."""

    ended_by: TerminalEnd
    detail: str
    exit_status: int | None = None


_LEFT = Closed("client", "The browser closed the terminal.")
_STOPPING = Closed("service", "The service restarts. Open the terminal again.")
_GONE = Closed("service", "The service closed the terminal. Open it again.")
_REVOKED = Closed("access", "Your access to this project has ended.")
_NOT_LET_IN = Closed("server", "The Poplar server did not let the terminal in. Try again.")
_SILENT = Closed("server", "The Poplar server does not answer by SSH. Try again, or look at the cluster's health.")
_STRANGER = Closed("server", "What answers is not the Poplar server: it presents an unexpected SSH host key.")
_BROKEN = Closed("server", "The connection to the Poplar server broke off.")
_FAILED = {"not_let_in": _NOT_LET_IN, "silent": _SILENT, "stranger": _STRANGER}


class TerminalSession:
    """The terminal over an accepted WebSocket. What waits in it is bounded: each side is read as the other takes it."""

    def __init__(
        self, socket: WebSocket, services: Services, terminal: Terminal, key: asyncssh.SSHKey, size: Size
    ) -> None:
        self._socket = socket
        self._services = services
        self._terminal = terminal
        self._key = key
        self._size = size
        self._process: asyncssh.SSHClientProcess[bytes] | None = None
        self._ready = asyncio.Event()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._began = self._typed = services.clock.monotonic()

    async def run(self) -> Closed:
        """Until one side ends it, or the terminal has to end."""
        work = (self._from_browser(), self._from_server(), self._watch(), self._drain())
        tasks = [asyncio.create_task(each) for each in work]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return next(task for task in tasks if task in done).result()

    async def notify(self, closed: Closed) -> None:
        """Say how it ended and close the WebSocket, if the browser is there to hear it."""
        if closed.ended_by == "client":
            return
        message: dict[str, object] = {"state": "closed", "ended_by": closed.ended_by, "detail": closed.detail}
        if closed.exit_status is not None:
            message["exit_status"] = closed.exit_status
        code = CLOSE_NORMAL if closed.ended_by == "shell" else CLOSE_OTHER
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._socket.send_text(orjson.dumps(message).decode())
                await self._socket.close(code, closed.ended_by)
        except (TimeoutError, RuntimeError, WebSocketDisconnect):
            return

    async def _from_browser(self) -> Closed:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return _LEFT
            typed, text = message.get("bytes"), message.get("text")
            if text is not None:
                self._control(text)
            elif typed:
                self._typed = self._services.clock.monotonic()
                await self._ready.wait()
                if self._process is not None:
                    self._process.stdin.write(typed)
                    await self._process.stdin.drain()

    def _control(self, text: str) -> None:
        """A message that is none of ours changes nothing."""
        try:
            message: Any = orjson.loads(text)
        except orjson.JSONDecodeError:
            return
        if not isinstance(message, dict):
            return
        if message.get("wait") is True:
            self._flowing.clear()
        elif "wait" in message:
            self._flowing.set()
        else:
            self._resize(Size(message.get("columns", 0), message.get("rows", 0)))

    def _resize(self, size: Size) -> None:
        if not all(type(cells) is int and 1 <= cells <= MOST_CELLS for cells in size):
            return
        self._size = size
        if self._process is not None:
            self._process.change_terminal_size(*size)

    async def _from_server(self) -> Closed:
        import asyncssh

        try:
            connection = await log_in(
                self._services.database, self._terminal, self._key, self._services.settings.reached
            )
        except LoginFailed as failed:
            return _FAILED[failed.why]
        try:
            return await self._shell(connection)
        except (OSError, asyncssh.Error):
            return _BROKEN
        finally:
            connection.abort()

    async def _shell(self, connection: asyncssh.SSHClientConnection) -> Closed:
        async with asyncio.timeout(LOGIN_SECONDS):
            process = await connection.create_process(
                term_type="xterm-256color", term_size=self._size, encoding=None, window=WINDOW
            )

        async def connected(writing: AsyncConnection) -> bool:
            return await store.mark_connected(writing, self._terminal, trace_of(self._socket).request_id)

        if not await self._services.database.transact(connected):
            return _GONE
        self._services.notifier.poke()  # the key is to go
        process.change_terminal_size(*self._size)
        self._process = process
        try:
            await self._send('{"state":"connected"}')
            self._ready.set()
            while part := await process.stdout.read(PART):
                await self._send(part)
                await self._flowing.wait()
        except (TimeoutError, RuntimeError, WebSocketDisconnect):
            return _LEFT
        await process.wait_closed()
        status = process.exit_status
        return _BROKEN if status is None else Closed("shell", "The shell has ended.", status)

    async def _send(self, message: str | bytes) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            if isinstance(message, str):
                await self._socket.send_text(message)
            else:
                await self._socket.send_bytes(message)

    async def _watch(self) -> Closed:
        """Returns when the caller has lost access, nobody types, or it has been open for too long."""
        settings = self._services.settings
        while True:
            now = self._services.clock.monotonic()
            idle, most = settings.terminal_idle_seconds, settings.terminal_seconds
            if now - self._typed >= idle:
                return Closed("idle", f"Nobody typed for {idle:.0f} seconds.")
            if now - self._began >= most:
                return Closed("time_limit", f"A terminal is open for {most:.0f} seconds at most.")
            try:
                await check_permission(self._socket)
                async with self._services.database.begin() as connection:
                    if not await store.mark_alive(connection, self._terminal.id):
                        return _GONE
            except Problem as problem:
                if problem.kind is not UNAVAILABLE:
                    return _REVOKED
            await asyncio.sleep(min(CHECK_SECONDS, idle / 4))

    async def _drain(self) -> Closed:
        await self._services.draining.wait()
        return _STOPPING
