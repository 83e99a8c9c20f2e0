"""Who is let in to a Poplar server by SSH, and to what."""

from __future__ import annotations

from collections.abc import Awaitable
from enum import Enum
from typing import Protocol

import asyncssh

from ipucloud.laboratory.simulator.ssh import real_session
from ipucloud.laboratory.simulator.ssh.activity import Activity
from ipucloud.laboratory.simulator.ssh.authorized_keys import AuthorizedKeys, LoginKeys
from ipucloud.laboratory.simulator.ssh.real_session import RealSession
from ipucloud.wire.site import ServerSpec

LOGIN_TIMEOUT = 30
KEEPALIVE_SECONDS = 30
MAX_CONNECTIONS = 32
WINDOW = 512 * 1024
LOCALHOST = frozenset({"localhost", "127.0.0.1", "::1"})
"""The hosts to which connections are forwarded: the server itself."""


class Admission(Enum):
    """Whom a connection from some address lets log in, before anybody does."""

    EVERYBODY = "everybody"
    CONTROL_PLANE = "control plane"
    NOBODY = "nobody"


class Place(real_session.Place, Protocol):
    """The server that is logged in to."""

    spec: ServerSpec
    keys: AuthorizedKeys
    login_keys: LoginKeys
    connections: set[asyncssh.SSHServerConnection]
    activity: Activity

    def answers(self) -> bool: ...
    def admits(self, address: str, port: int) -> Admission: ...
    async def connect(self, port: int) -> asyncssh.SSHTCPSession[bytes]: ...


async def listen(place: Place, address: str, port: int, host_key: asyncssh.SSHKey) -> asyncssh.SSHAcceptor:
    """Serve SSH logins of a server."""
    return await asyncssh.listen(
        address,
        port,
        backlog=MAX_CONNECTIONS,
        reuse_address=True,
        server_factory=lambda: Sshd(place),
        server_host_keys=[host_key],
        password_auth=False,
        kbdint_auth=False,
        gss_host=None,
        agent_forwarding=False,
        compression_algs=None,
        encoding=None,
        line_editor=False,  # the shell in the sandbox edits its lines
        login_timeout=LOGIN_TIMEOUT,
        keepalive_interval=KEEPALIVE_SECONDS,
        window=WINDOW,
        server_version="ipucloud-simulated",
    )


class Sshd(asyncssh.SSHServer):
    """Lets in the customer's user with one of the customer's keys, or a certificate for them, from allowed sources."""

    def __init__(self, server: Place) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._server.connections.add(self._connection)
        peer = conn.get_extra_info("peername")
        self._admission = self._server.admits(*peer[:2]) if peer else Admission.NOBODY  # it has left already
        crowded = len(self._server.connections) > MAX_CONNECTIONS
        if crowded or self._admission is Admission.NOBODY or not self._server.answers():
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self._connection)
        self._server.activity.logout(self._connection)

    def auth_completed(self) -> None:
        self._server.activity.login(self._connection)

    async def begin_auth(self, username: str) -> bool:
        authorities = self._server.keys.authorities
        # With principals of the authority's line OpenSSH does not look for the user among those of a certificate.
        customers = self._admission is Admission.EVERYBODY
        if customers and authorities is not None and username == self._server.spec.user:
            self._connection.set_authorized_keys(authorities)
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == self._server.spec.user and (
            (self._admission is Admission.EVERYBODY and key.public_data in self._server.keys.keys)
            or key.public_data in self._server.login_keys
        )

    def session_requested(self) -> RealSession:
        return RealSession(self._server)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool | Awaitable[asyncssh.SSHTCPSession[bytes]]:
        if dest_host not in LOCALHOST:
            return False
        return self._server.connect(dest_port)
