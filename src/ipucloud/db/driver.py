"""The driver itself, for statements that stand alone.

SQLAlchemy's asynchronous connection costs as much as everything else in a request of one statement together (measured:
170 µs of 330), so single statements go straight through psycopg, on connections of their own.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import orjson
import psycopg
import sqlalchemy as sa
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads

from ipucloud.db.outages import unavailable

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]

_DIALECT = sa.create_engine("postgresql+psycopg://", paramstyle="numeric_dollar").dialect


@dataclass(frozen=True, slots=True)
class Query:
    """A statement in PostgreSQL's own form, with `$1`, `$2`, … for the parameters of these names."""

    text: bytes
    names: tuple[str, ...]


@lru_cache(maxsize=1024)
def query(statement: sa.TextClause) -> Query:
    """`statement` compiled once: psycopg would take its own placeholders apart again for every long statement."""
    compiled = statement.compile(dialect=_DIALECT)
    return Query(str(compiled).encode(), tuple(compiled.positiontup or ()))


class Lines:
    """At most `size` connections in autocommit, opened when needed, used last-in first-out.

    `session` is what libpq calls `options`; the server shows the connections under the name `application`. Whoever
    waits longer than `wait` seconds for a line gets a `Problem` of kind `unavailable`.
    """

    def __init__(self, url: str, *, session: str, application: str, size: int, wait: float) -> None:
        self._url = url
        self._session = session
        self._application = application
        self._wait = wait
        self._free = asyncio.Semaphore(size)
        self._idle: list[Connection] = []

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """The right to use one line."""
        try:
            async with asyncio.timeout(self._wait if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError as error:
            raise unavailable() from error
        try:
            yield
        finally:
            self._free.release()

    def idle(self) -> Connection | None:
        """The line used last, if one is open. A line that the server has ended since is not given out.

        It may still end before the next statement arrives; but what a restart left behind is noticed here, so that a
        statement that must not be sent twice need not fail on it.
        """
        while self._idle:
            connection = self._idle.pop()
            if not _has_news(connection):
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
        """Keep the line for the next one, unless it was abandoned in the middle of an answer.

        One that broke takes the idle ones along: they are of the same server, and older.
        """
        if connection.pgconn.transaction_status == TransactionStatus.IDLE:
            self._idle.append(connection)
            return
        if connection.broken:
            await self.close()
        await connection.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()


def _has_news(connection: Connection) -> bool:
    """Whether the server has said something unasked: that it ends, most likely."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))
