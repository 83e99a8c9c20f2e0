"""Reads of one statement, as in most requests.

Every connection is read-only and every statement stands alone, which allows what a transaction does not: a statement
sent on a connection that the server had closed runs again on a fresh one, so a restarted database goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import psycopg

from ipucloud.db.driver import Connection, ConnectionPool, query
from ipucloud.db.engine import APPLICATION
from ipucloud.db.outages import unavailable
from ipucloud.db.rows import Query, Row
from ipucloud.db.tenancy import APP_ROLE

_SESSION = (
    f"-c role={APP_ROLE} -c timezone=UTC -c default_transaction_read_only=on -c statement_timeout=10s "
    "-c lock_timeout=5s -c jit=off "
    # The statements are long and their plans do not depend on the values: planning costs more than it finds.
    "-c plan_cache_mode=force_generic_plan"
)
_Bound: TypeAlias = tuple[bytes, list[object]]


class Reader:
    """At most `size` connections, which the server shows under the name `application`.

    Every method raises a `Problem` of kind `unavailable` (503) when the server cannot be reached, does not answer in
    time, or no connection becomes free within `wait` seconds.
    """

    def __init__(self, url: str, *, size: int = 4, wait: float = 5.0, application: str = APPLICATION) -> None:
        self._connections = ConnectionPool(url, session=_SESSION, application=application, size=size, wait=wait)

    async def one(
        self, statement: Query[Row], parameters: Mapping[str, object], *, entered: Query[Any] | None = None
    ) -> Row | None:
        """The first row, or None.

        `entered` is sent ahead in the same round trip and the same implicit transaction, for settings that hold in it;
        its parameters are among those of the statement.
        """
        queries = [
            (compiled.text, [parameters[name] for name in compiled.names])
            for compiled in (query(each.statement) for each in (entered, statement) if each is not None)
        ]
        async with self._connections.turn():
            row = await self._read(queries)
        return None if row is None else statement.build(row)

    async def close(self) -> None:
        await self._connections.close()

    async def _read(self, queries: Sequence[_Bound]) -> tuple[Any, ...] | None:
        while connection := self._connections.idle():
            try:
                return await self._ask(connection, queries)
            except psycopg.OperationalError as error:
                if error.sqlstate is not None and not error.sqlstate.startswith("57P"):
                    raise unavailable() from error
        try:
            return await self._ask(await self._connections.connect(), queries)
        except psycopg.OperationalError as error:
            raise unavailable() from error

    async def _ask(self, connection: Connection, queries: Sequence[_Bound]) -> tuple[Any, ...] | None:
        try:
            if len(queries) == 1:
                return await (await connection.execute(*queries[0])).fetchone()
            async with connection.pipeline():
                *_, last = [await connection.execute(*each) for each in queries]
            return await last.fetchone()
        finally:
            await self._connections.give_back(connection)
