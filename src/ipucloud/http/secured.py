"""TLS for the connections of a listener, within the listener's limits from the first byte on.

A client that has connected and not yet agreed on keys counts like one whose request's header is to come. asyncio's own
way, `create_server(ssl=…)`, shows a protocol only connections whose handshake is over.
"""

from __future__ import annotations

import asyncio
import math
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from ssl import SSLContext
from typing import Any

from ipucloud.http.gate import Gate
from ipucloud.http.protocol import limited
from ipucloud.http.refusals import Reason
from ipucloud.http.waits import Peer, Wait


class Handshake(SSLProtocol):
    """One connection, with what it speaks once keys are agreed on."""

    address = ""
    peer: Peer | None = None
    waiting: Wait | None = None

    def __init__(self, gate: Gate, context: SSLContext, protocol: asyncio.Protocol) -> None:
        # The gate is earlier than asyncio's time-out, and counts.
        seconds = math.ceil(gate.limits.header_seconds) + 60
        nobody: Any = None  # waits for the end of the handshake
        super().__init__(
            asyncio.get_running_loop(), protocol, context, nobody, server_side=True, ssl_handshake_timeout=seconds
        )
        self._gate = gate
        self._tcp: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as asyncio has it
        self._tcp = transport
        name = transport.get_extra_info("peername")
        self.address = name[0] if isinstance(name, tuple) else ""
        refused = self._gate.admit(self)
        if refused is not None:
            self.drop(refused)
            return
        self._gate.wait(self, Wait.HEADER, asyncio.get_running_loop().time())
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        if self.peer is not None:
            self._gate.count(Reason.TLS, self.address)
        self._gate.forget(self)
        super().connection_lost(exc)

    def over(self) -> None:
        """Keys are agreed on: from here on the protocol within counts."""
        self._gate.forget(self)

    def shed(self) -> None:
        self.drop(Reason.SHED)

    def overdue(self, now: float) -> None:
        self.drop(Reason.HEADER_TIMEOUT)

    def drop(self, reason: Reason) -> None:
        self._gate.count(reason, self.address)
        self._gate.forget(self)
        if self._tcp is not None:
            self._tcp.abort()


def secured(gate: Gate, context: SSLContext) -> Callable[..., Handshake]:
    """As `limited`, for connections over TLS."""

    class Secured(limited(gate)):  # type: ignore[misc]  # a class made for this listener
        handshake: Handshake

        def connection_made(self, transport: asyncio.Transport) -> None:
            self.handshake.over()
            super().connection_made(transport)

    def connection(**around: Any) -> Handshake:  # what uvicorn gives a protocol
        protocol = Secured(**around)
        protocol.handshake = Handshake(gate, context, protocol)
        return protocol.handshake

    return connection
