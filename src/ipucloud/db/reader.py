"""Reads of one statement, straight through the driver.

Most requests are one authenticated read. SQLAlchemy's asynchronous connection costs as much as everything else in
such a request together (measured: 170 µs of 330), so these reads keep a few psycopg connections of their own.
Every connection is read-only and every statement stands alone, which allows what a transaction does not: a statement
that met a connection the server had closed runs again on a fresh one, and a restarted database is not noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import psycopg
import sqlalchemy as sa
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from ipucloud.db.roles import APP_ROLE
from ipucloud.kernel.errors import UNAVAILABLE, Problem

Row: TypeAlias = dict[str, Any]
"""A row by column name; its types are those of the statement, which no checker sees."""

Connection: TypeAlias = psycopg.AsyncConnection[Row]

_SESSION = (
    f"-c role={APP_ROLE} -c timezone=UTC -c default_transaction_read_only=on -c statement_timeout=10s "
    "-c lock_timeout=5s -c jit=off "
    # The statements are long and their plans do not depend on the values: planning costs more than it finds.
    "-c plan_cache_mode=force_generic_plan"
)
_DIALECT = sa.create_engine("postgresql+psycopg://", paramstyle="numeric_dollar").dialect


@dataclass(frozen=True, slots=True)
class Query:
    """A statement in PostgreSQL's own form, with `$1`, `$2`, … for the parameters of these names."""

    text: bytes
    names: tuple[str, ...]


@cache
def query(statement: sa.TextClause) -> Query:
    """`statement` compiled once: psycopg would take its own placeholders apart again for every long statement."""
    compiled = statement.compile(dialect=_DIALECT)
    return Query(str(compiled).encode(), tuple(compiled.positiontup or ()))


class Reader:
    """At most `size` connections, opened when needed, used last-in first-out.

    Every method raises a `Problem` of kind `unavailable` (503) when the server cannot be reached, does not answer in
    time, or no connection becomes free within `wait` seconds.
    """

    def __init__(self, url: str, *, size: int = 4, wait: float = 5.0) -> None:
        self._url = url
        self._wait = wait
        self._free = asyncio.Semaphore(size)
        self._idle: list[Connection] = []

    async def one(self, statement: sa.TextClause, parameters: Mapping[str, object]) -> Row | None:
        """The only row of `statement`, or None."""
        asked = query(statement)
        values = [parameters[name] for name in asked.names]
        await self._take_turn()
        try:
            return await self._read(asked.text, values)
        finally:
            self._free.release()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _read(self, text: bytes, values: Sequence[object]) -> Row | None:
        while self._idle:
            try:
                return await self._ask(self._idle.pop(), text, values)
            except psycopg.OperationalError as error:
                if error.sqlstate is not None and not error.sqlstate.startswith("57P"):
                    raise _unavailable() from error
        try:
            return await self._ask(await self._connect(), text, values)
        except psycopg.OperationalError as error:
            raise _unavailable() from error

    async def _connect(self) -> Connection:
        return await psycopg.AsyncConnection.connect(
            self._url,
            autocommit=True,
            options=_SESSION,
            connect_timeout=3,
            prepare_threshold=2,
            row_factory=dict_row,
            cursor_factory=psycopg.AsyncRawCursor,
        )

    async def _ask(self, connection: Connection, text: bytes, values: Sequence[object]) -> Row | None:
        try:
            cursor = await connection.execute(text, values)
            return await cursor.fetchone()
        finally:
            if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                self._idle.append(connection)
            else:  # broken, or abandoned in the middle of an answer
                await connection.close()

    async def _take_turn(self) -> None:
        try:
            async with asyncio.timeout(self._wait if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError as error:
            raise _unavailable() from error


def _unavailable() -> Problem:
    return Problem(UNAVAILABLE, "The database does not answer. Try again shortly.", headers={"Retry-After": "2"})
