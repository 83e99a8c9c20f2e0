"""Direct use of the driver for statements that stand alone.

SQLAlchemy's asynchronous connection costs as much as everything else in a request of one statement together (measured:
170 µs of 330), so single statements go straight through psycopg, on connections of their own.
"""

from __future__ import annotations

import select
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import orjson
import psycopg
import sqlalchemy as sa
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads

from ipucloud.db.turns import Turns

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]
Cursor: TypeAlias = psycopg.AsyncCursor[tuple[Any, ...]]

_DIALECT = sa.create_engine("postgresql+psycopg://", paramstyle="numeric_dollar").dialect


@dataclass(frozen=True, slots=True)
class Query:
    """A statement in PostgreSQL's own form; `$1`, `$2`, … are the parameters of these names."""

    text: bytes
    names: tuple[str, ...]


@lru_cache(maxsize=1024)
def query(statement: sa.TextClause) -> Query:
    """`statement` compiled once: psycopg would parse its own placeholders again on every execution."""
    compiled = statement.compile(dialect=_DIALECT)
    return Query(str(compiled).encode(), tuple(compiled.positiontup or ()))


class ConnectionPool:
    """At most `size` connections in autocommit, opened when needed, used last-in first-out.

    `session` is what libpq calls `options`; the server shows the connections under the name `application`. A caller
    that waits longer than `wait` seconds for a connection gets a `Problem` of kind `unavailable`.
    """

    def __init__(self, url: str, *, session: str, application: str, size: int, wait: float) -> None:
        self._url = url
        self._session = session
        self._application = application
        self._turns = Turns(size, wait)
        self._idle: list[Connection] = []
        self._closed = False

    def turn(self) -> AbstractAsyncContextManager[None]:
        """The right to use one connection."""
        return self._turns.turn()

    def idle(self) -> Connection | None:
        """The connection used last, if one is open. One that the server has ended since is discarded.

        It may still end before the next statement arrives, but connections that a restart ended are detected here, so
        that a statement that must not be sent twice need not fail.
        """
        while self._idle:
            connection = self._idle.pop()
            if not _has_unread_input(connection):
                return connection
            connection.pgconn.finish()
        return None

    async def connect(self) -> Connection:
        connection = await psycopg.AsyncConnection.connect(
            self._url,
            autocommit=True,
            options=self._session,
            fallback_application_name=self._application,
            connect_timeout=3,
            prepare_threshold=2,
            cursor_factory=psycopg.AsyncRawCursor,
        )
        set_json_loads(orjson.loads, connection)
        return connection

    async def give_back(self, connection: Connection) -> None:
        """Keep the connection for reuse, unless it was abandoned in the middle of an answer or the pool is closed.

        If it broke, the idle ones are closed too: they belong to the same server, and are older.
        """
        if connection.pgconn.transaction_status == TransactionStatus.IDLE and not self._closed:
            self._idle.append(connection)
            return
        if connection.broken:
            await self._close_idle()
        await connection.close()

    async def close(self) -> None:
        """Close the idle connections now, and those in use when they are given back."""
        self._closed = True
        await self._close_idle()

    async def _close_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()


def _has_unread_input(connection: Connection) -> bool:
    """Whether the server has sent something unasked: most likely that it ends the connection."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))
