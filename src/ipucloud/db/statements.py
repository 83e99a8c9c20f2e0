"""Objects that execute statements: a transaction, or a connection where each statement stands alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData

from ipucloud.db.driver import Connection, ConnectionPool, Cursor, query
from ipucloud.db.outages import as_sqlalchemy, reachable
from ipucloud.db.tenancy import TENANT_ROLE


class Statements(Protocol):
    """Accepts statements, for functions that do not need a transaction; SQLAlchemy's `AsyncConnection` is one.

    A function that needs its statements to take effect together requires an `AsyncConnection`.
    """

    async def execute(self, statement: sa.TextClause, parameters: Mapping[str, Any] | None = None) -> Answer:
        """Raises a `Problem` of kind `unavailable` (503) when the database does not answer."""


class Answer(Protocol):
    """The rows of a statement, to be read once; `rowcount` is how many it returned or touched."""

    @property
    def rowcount(self) -> int: ...
    def __iter__(self) -> Any: ...
    def all(self) -> Sequence[sa.Row[*tuple[Any, ...]]]: ...
    def first(self) -> sa.Row[*tuple[Any, ...]] | None: ...
    def one(self) -> sa.Row[*tuple[Any, ...]]: ...
    def one_or_none(self) -> sa.Row[*tuple[Any, ...]] | None: ...
    def scalar(self) -> Any: ...
    def scalar_one(self) -> Any: ...
    def scalar_one_or_none(self) -> Any: ...
    def scalars(self) -> sa.ScalarResult[Any]: ...
    def mappings(self) -> sa.MappingResult: ...


class Rows(IteratorResult[Any]):
    """A complete answer."""

    def __init__(self, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], rowcount: int) -> None:
        super().__init__(_metadata(columns), iter(rows))
        self.rowcount = rowcount


@cache
def _metadata(columns: tuple[str, ...]) -> SimpleResultMetaData:
    return SimpleResultMetaData(columns)


class Tenant(NamedTuple):
    """For whom is read: a project, a billing account, or both, with a token that was authenticated.

    `clusters`: those that it is limited to, as PostgreSQL writes an array; None: it is not.
    """

    project_id: UUID | None
    token_id: UUID
    payer_id: UUID | None = None
    clusters: str | None = None


_ENTER = query(
    sa.text(
        "SELECT concat(set_config('ipucloud.tenant', coalesce(CAST(CAST(:project_id AS uuid) AS text), ''), true),"
        " set_config('ipucloud.tenant_token', CAST(CAST(:token_id AS uuid) AS text), true),"
        " set_config('ipucloud.payer', coalesce(CAST(CAST(:payer_id AS uuid) AS text), ''), true),"
        " set_config('ipucloud.clusters', coalesce(CAST(:clusters AS text), ''), true),"
        f" set_config('role', '{TENANT_ROLE}', true))"
    )
)


class SingleStatements:
    """Statements that stand alone, straight through the driver: one round trip each, and nothing to give back.

    Those of a `tenant` see its rows only (`db.tenancy`).
    """

    def __init__(self, connections: ConnectionPool, tenant: Tenant | None = None) -> None:
        self._connections = connections
        self._tenant = tenant

    async def execute(self, statement: sa.TextClause, parameters: Mapping[str, Any] | None = None) -> Answer:
        compiled = query(statement)
        values = [(parameters or {})[name] for name in compiled.names]
        async with reachable(), self._connections.turn():
            connection = self._connections.idle() or await self._connect()
            return await self._ask(connection, compiled.text, values)

    async def _connect(self) -> Connection:
        try:
            return await self._connections.connect()
        except psycopg.Error as error:
            raise as_sqlalchemy(error, connection_died=False) from error

    async def _ask(self, connection: Connection, text: bytes, values: Sequence[object]) -> Rows:
        try:
            cursor = await self._sent(connection, text, values)
            if cursor.description is None:
                return Rows((), (), cursor.rowcount)
            columns = tuple(column.name for column in cursor.description)
            return Rows(columns, await cursor.fetchall(), cursor.rowcount)
        except psycopg.Error as error:
            raise as_sqlalchemy(error, connection_died=connection.closed) from error
        finally:
            await self._connections.give_back(connection)

    async def _sent(self, connection: Connection, text: bytes, values: Sequence[object]) -> Cursor:
        if self._tenant is None:
            return await connection.execute(text, values)
        async with connection.pipeline():
            await connection.execute(_ENTER.text, self._tenant)
            return await connection.execute(text, values)
