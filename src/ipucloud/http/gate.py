"""The shared state of one listener's connections: admission, overdue clients, counters and log lines."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import lru_cache
from ipaddress import ip_address
from resource import RLIMIT_NOFILE, getrlimit

import structlog

from ipucloud.http.limits import Limits, subscriber
from ipucloud.http.metrics import CONNECTIONS, REFUSED
from ipucloud.http.refusals import Reason, refusals
from ipucloud.http.waits import Connection, Peer, Wait, Waits

SWEEP_SECONDS = 1.0
SWEEP_CONNECTIONS = 64
"""Closed in one turn of the loop, so that thousands of simultaneous deadlines do not block it."""
LINGER_SECONDS = 2.0
"""How long a client may take to read why it was refused."""

log = structlog.get_logger(__name__)


class Gate:
    """One listener's connections, to be used in one event loop. `name` is the label `listener` of its metrics."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.limits = limits
        self.room = limits.room(getrlimit(RLIMIT_NOFILE)[0])
        self.refusals = refusals(limits)
        self._name = name
        self._waits = Waits()
        self._connections: set[Connection] = set()
        self._peers: dict[str, Peer] = {}
        self._peer_key = lru_cache(maxsize=4096)(self._find_peer_key)
        self._seconds = {
            Wait.CLOSE: LINGER_SECONDS,
            Wait.HEADER: limits.header_seconds,
            Wait.IDLE: limits.idle_seconds,
            Wait.BODY: limits.body_seconds,
            Wait.READ: limits.write_seconds,
        }
        self._refused = {reason: REFUSED.labels(name, reason.value) for reason in Reason}
        self._open = CONNECTIONS.labels(name)
        self._unreported: Counter[Reason] = Counter()
        self._last_address: dict[Reason, str] = {}
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, connection: Connection) -> Reason | None:
        """Admit a new connection; if there is no room, close silent ones.

        Returns the reason to refuse it, if any; even then it counts until `forget`.
        """
        key, trusted = self._peer_key(connection.address)
        peer = self._peers.get(key)
        if peer is None:
            peer = self._peers[key] = Peer(key, trusted=trusted)
        connection.peer = peer
        peer.connections += 1
        self._connections.add(connection)
        self._open.inc()
        if self._timer is None:
            self._sweep_later(asyncio.get_running_loop())
        refused = None
        while peer.connections > self.limits.per_address and not peer.trusted and refused is None:
            refused = self._shed(peer.waits, Reason.ADDRESS_FULL)
        full = None
        while len(self._connections) > self.room and full is None:
            full = self._shed(self._waits, Reason.FULL)
        return refused or full

    def forget(self, connection: Connection) -> None:
        """The connection is closed. Safe to repeat."""
        peer = connection.peer
        if peer is None:
            return
        self.wait(connection, None, 0.0)
        connection.peer = None
        self._connections.remove(connection)
        self._open.dec()
        peer.connections -= 1
        if not peer.connections:
            del self._peers[peer.key]

    def wait(self, connection: Connection, kind: Wait | None, now: float) -> None:
        """From now on the connection waits for this; None: the client has sent everything."""
        if connection.peer is not None:
            self._waits.move(connection, kind, now)
            connection.peer.waits.move(connection, kind, now)
            connection.waiting = kind

    def count(self, reason: Reason, address: str) -> None:
        """Count a refused client or a closed connection."""
        self._refused[reason].inc()
        self._unreported[reason] += 1
        self._last_address[reason] = address

    def _shed(self, waits: Waits, otherwise: Reason) -> Reason | None:
        longest = waits.first()
        if longest is None:
            return otherwise
        longest.shed()
        return None

    def _find_peer_key(self, address: str) -> tuple[str, bool]:
        """The key that an address is counted under, and whether it is trusted; a local socket is, and has no key."""
        trusted = not address or any(ip_address(address) in network for network in self.limits.trusted)
        return address if trusted else subscriber(address), trusted

    def _sweep_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(SWEEP_SECONDS, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._connections:
            self._sweep_later(loop)
        self._close_overdue(loop)
        self._report()

    def _close_overdue(self, loop: asyncio.AbstractEventLoop) -> None:
        now, more = loop.time(), False
        for kind, seconds in self._seconds.items():
            overdue = self._waits.since(kind, now - seconds, SWEEP_CONNECTIONS)
            more |= len(overdue) == SWEEP_CONNECTIONS
            for connection in overdue:
                connection.overdue(now)
        if more:
            loop.call_soon(self._close_overdue, loop)

    def _report(self) -> None:
        """One line for each reason that occurred since the last report."""
        unreported, self._unreported = self._unreported, Counter()
        for reason, count in unreported.items():
            reported = {"listener": self._name, "count": count, "address": self._last_address[reason]}
            if reason is Reason.IDLE:
                log.info("idle_connections_closed", **reported)
            else:
                log.warning("clients_refused", reason=reason.value, **reported)
