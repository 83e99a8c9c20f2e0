"""SSH connections and sessions with an end to what a client may leave unread, send and open.

The library's own flow control is that of channels. A client is also read from only while it reads, and loses its
connection when it goes on asking without taking the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import asyncssh

from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.sftp import DiskSftp

MAX_SESSIONS = 10
"""Of one connection, as OpenSSH's MaxSessions."""
MAX_UNREAD = 1024 * 1024
MAX_ENVIRONMENT = 64 * 1024
MAX_KEYS = 100
"""Keys for break and end of file that a terminal keeps until they are read."""

Serve = Callable[["Login"], Awaitable[None]]


class Connection(asyncssh.SSHServerConnection):
    """One client's connection with its sessions."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.sessions: set[Login] = set()
        self._wire = cast("asyncio.Transport", transport)
        self._writable = asyncio.Event()
        self._writable.set()
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None = None) -> None:
        self._writable.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes, datatype: int | None = None) -> None:
        super().data_received(data, datatype)
        if any(session.greedy for session in self.sessions):
            self.abort()

    def pause_writing(self) -> None:
        self._writable.clear()
        if not self._wire.is_closing():
            self._wire.pause_reading()

    def resume_writing(self) -> None:
        self._writable.set()
        if not self._wire.is_closing():
            self._wire.resume_reading()

    async def written(self) -> None:
        """Return when the client has taken almost everything that was sent."""
        await self._writable.wait()

    def new_session(self, disk: Disk, serve: Serve) -> tuple[asyncssh.SSHServerChannel[str], Login] | bool:
        """A session with its channel, unless the connection has as many as it may have."""
        if len(self.sessions) >= MAX_SESSIONS:
            return False
        session = Login(self, disk, serve)
        self.sessions.add(session)
        return session.server_channel, session


class Login(asyncssh.SSHServerProcess[str]):
    """One session: a shell, a command, or a transfer of files."""

    def __init__(self, connection: Connection, disk: Disk, serve: Serve) -> None:
        super().__init__(
            lambda _: serve(self),
            lambda channel: DiskSftp(cast("asyncssh.SSHServerChannel[bytes]", channel), disk, self.flushed),
            sftp_version=3,
            allow_scp=True,
        )
        self.server_channel: asyncssh.SSHServerChannel[str] = connection.create_server_channel()
        self._connection = connection
        self._keys = 0

    @property
    def greedy(self) -> bool:
        """Whether the client leaves more unread, or sets more variables, than anybody needs to."""
        environment = self.server_channel.get_environment_bytes().items()
        return (
            self.server_channel.get_write_buffer_size() > MAX_UNREAD
            or sum(len(name) + len(value) for name, value in environment) > MAX_ENVIRONMENT
        )

    async def flushed(self) -> None:
        """Return when the client has taken almost everything that was written, and others had their turn."""
        await asyncio.sleep(0)
        await self.drain(None)
        await self._connection.written()

    def keys_read(self) -> None:
        """The keys for break and end of file were read."""
        self._keys = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.sessions.discard(self)
        super().connection_lost(exc)

    def exception_received(self, exc: Exception) -> None:
        self._keys += 1
        if self._keys <= MAX_KEYS:
            super().exception_received(exc)

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        """No program here draws on the whole terminal."""
