"""A worker's presence in the database: its owner number, held as a session lock, and its listener for wakes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

import psycopg

from ipucloud.db.engine import APPLICATION
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.wake import CHANNEL

_OWNER_BITS = 62


class Presence(Protocol):
    """A worker's identity: while `owner` is not 0, its leases are its own."""

    owner: int

    async def open(self) -> None:
        """Take a new owner number. Raises psycopg.OperationalError when the server does not answer."""

    async def listen(self, on_wake: Callable[[], None]) -> None:
        """Report wakes until the presence is lost; then raise psycopg.OperationalError."""

    async def close(self) -> None:
        """Give the number up: its leases can be freed."""


class SessionPresence:
    """A direct connection that holds the advisory lock of a fresh random owner number and listens for wakes.

    The number is new with every connection: a worker that lost its connection has lost its leases, and must not be
    mistaken for its former self. The connection must be direct: a transaction pooler would drop the lock.
    """

    def __init__(self, database_url: str, application: str = APPLICATION) -> None:
        self._url = database_url
        self._application = application
        self._connection: psycopg.AsyncConnection | None = None
        self.owner = 0

    async def open(self) -> None:
        connection = await psycopg.AsyncConnection.connect(
            self._url,
            autocommit=True,
            fallback_application_name=self._application,
            connect_timeout=3,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
        )
        owner = secrets.randbits(_OWNER_BITS)
        failpoint("presence.connected")
        await connection.execute("SELECT pg_advisory_lock(%s)", (owner,))
        await connection.execute(f"LISTEN {CHANNEL}")
        self._connection, self.owner = connection, owner
        failpoint("presence.taken")

    async def listen(self, on_wake: Callable[[], None]) -> None:
        if self._connection is None:
            raise psycopg.OperationalError("not connected")
        async for _ in self._connection.notifies():
            on_wake()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await asyncio.shield(connection.close())
