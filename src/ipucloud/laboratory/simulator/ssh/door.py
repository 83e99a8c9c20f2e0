"""Who is let in to a Poplar server by SSH, and to what."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

import asyncssh

from ipucloud.laboratory.simulator.ssh import real_session
from ipucloud.laboratory.simulator.ssh.authorized_keys import AuthorizedKeys
from ipucloud.laboratory.simulator.ssh.login_keys import LoginKeys
from ipucloud.laboratory.simulator.ssh.real_session import RealSession
from ipucloud.laboratory.simulator.ssh.session import Login
from ipucloud.laboratory.simulator.ssh.terminal import ENCODING_ERRORS
from ipucloud.laboratory.simulator.ssh.uses import Uses
from ipucloud.wire.site import ServerSpec

LOGIN_TIMEOUT = 30
KEEPALIVE_SECONDS = 30
MAX_CONNECTIONS = 32
WINDOW = 32 * 1024
REAL_WINDOW = 512 * 1024
HISTORY = 100
LOCALHOST = frozenset({"localhost", "127.0.0.1", "::1"})
"""The hosts to which connections are forwarded: the server itself."""


class Place(real_session.Place, Protocol):
    """The server behind the door."""

    spec: ServerSpec
    keys: AuthorizedKeys
    login_keys: LoginKeys
    connections: set[asyncssh.SSHServerConnection]
    uses: Uses

    def answers(self) -> bool: ...
    async def confinement_problem(self) -> str | None: ...
    def new_login(self, problem: str) -> Login: ...
    async def connect(self, port: int) -> asyncssh.SSHTCPSession[bytes]: ...


async def listen(place: Place, address: str, port: int, host_key: asyncssh.SSHKey) -> asyncssh.SSHAcceptor:
    """Open the door of a server."""
    return await asyncssh.listen(
        address,
        port,
        backlog=MAX_CONNECTIONS,
        reuse_address=True,
        server_factory=lambda: Door(place),
        server_host_keys=[host_key],
        password_auth=False,
        kbdint_auth=False,
        gss_host=None,
        agent_forwarding=False,
        compression_algs=None,
        errors=ENCODING_ERRORS,
        line_history=HISTORY,
        login_timeout=LOGIN_TIMEOUT,
        keepalive_interval=KEEPALIVE_SECONDS,
        window=WINDOW,
        server_version="ipucloud-simulated",
    )


class Door(asyncssh.SSHServer):
    """Lets in the customer's user with one of the customer's keys, or a certificate for them, and nobody else."""

    def __init__(self, server: Place) -> None:
        self._server = server
        self._problem: str | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._server.connections.add(self._connection)
        if len(self._server.connections) > MAX_CONNECTIONS or not self._server.answers():
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self._connection)
        self._server.uses.logout(self._connection)

    def auth_completed(self) -> None:
        self._server.uses.login(self._connection)

    async def begin_auth(self, username: str) -> bool:
        self._problem = await self._server.confinement_problem()
        authorities = self._server.keys.authorities
        # With principals of the authority's line OpenSSH does not look for the user among those of a certificate.
        if authorities is not None and username == self._server.spec.user:
            self._connection.set_authorized_keys(authorities)
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == self._server.spec.user and (
            key.public_data in self._server.keys.keys or key.public_data in self._server.login_keys
        )

    def session_requested(
        self,
    ) -> asyncssh.SSHServerSession[str] | tuple[asyncssh.SSHServerChannel[bytes], RealSession]:
        if self._problem is not None:
            return self._server.new_login(self._problem)
        channel = self._connection.create_server_channel(encoding=None, window=REAL_WINDOW)
        channel._line_editor = (
            False  # the shell in the sandbox edits its lines; asyncssh has one setting for all channels
        )
        return channel, RealSession(self._server)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool | Awaitable[asyncssh.SSHTCPSession[bytes]]:
        if self._problem is not None or dest_host not in LOCALHOST:
            return False
        return self._server.connect(dest_port)
