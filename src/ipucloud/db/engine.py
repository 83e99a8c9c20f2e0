"""Database access: every connection acts as the application role, in UTC, with limits on how long it may wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ipucloud.db.driver import ConnectionPool
from ipucloud.db.outages import asks_again, connection_died, reachable, too_busy
from ipucloud.db.statements import SingleStatements, Statements, Tenant
from ipucloud.db.tenancy import APP_ROLE
from ipucloud.db.turns import Turns
from ipucloud.kernel.errors import Problem

Result = TypeVar("Result")

APPLICATION = "ipucloud"
"""The name in `pg_stat_activity` of a connection that neither its process nor its URL names."""
TRANSACTION_TRIES = 5
_SESSION = (
    f"-c role={APP_ROLE} -c timezone=UTC -c statement_timeout=10s -c lock_timeout=5s "
    "-c idle_in_transaction_session_timeout=15s -c jit=off -c random_page_cost=1.1"
)
"""Pages are read from memory or an SSD. With PostgreSQL's default, for disks that turn, a list of 50 clusters reads
small tables from end to end for each of them instead of looking up the few rows by key, and takes half as long again.
"""


def sqlalchemy_url(url: str) -> sa.URL:
    """A libpq URL (`postgresql://…`) as SQLAlchemy spells it for psycopg 3."""
    return sa.make_url(url).set(drivername="postgresql+psycopg")


def json_dumps(value: object) -> str:
    return orjson.dumps(value).decode()


_PLANNED_ONCE = " -c plan_cache_mode=force_generic_plan"


class Database:
    """One process's way to PostgreSQL: `begin()` for a transaction, `read()` for single statements.

    At most `pool_size` connections for each of the two, which the server shows under the name `application`.
    `planned_once`: statements find their rows by key, so their plans do not depend on the values. Planning the one that
    admits a create takes longer than running it, and a new connection would do so for each of its first creates.

    Both raise a `Problem` of kind `unavailable` (503) when the server cannot be reached or no connection is free.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 5,
        pool_timeout: float = 5.0,
        application: str = APPLICATION,
        planned_once: bool = False,
    ) -> None:
        session = _SESSION + (_PLANNED_ONCE if planned_once else "")
        self.url = url
        self.application = application
        self._engine: AsyncEngine = create_async_engine(
            sqlalchemy_url(url),
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=pool_timeout,
            pool_use_lifo=True,
            hide_parameters=True,
            json_serializer=json_dumps,
            json_deserializer=orjson.loads,
            connect_args={
                "options": session,
                "fallback_application_name": application,
                "connect_timeout": 3,
                "prepare_threshold": 2,
            },
        )
        self._turns = Turns(pool_size, pool_timeout)
        self._connections = ConnectionPool(
            url, session=session, application=application, size=pool_size, wait=pool_timeout
        )
        self._single: Statements = SingleStatements(self._connections)

    @property
    def waiting(self) -> int:
        """How many transactions wait for a connection."""
        return self._turns.waiting

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed on a clean exit, rolled back on any exception."""
        async with reachable(), self._turns.turn(), self._engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def read(self, tenant: Tenant | None = None) -> AsyncIterator[Statements]:
        """Where every statement stands alone, and sees only rows of the `tenant`, if one is given."""
        yield self._single if tenant is None else SingleStatements(self._connections, tenant)

    async def transact(self, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction, and again from the start when that certainly repeats nothing.

        That is when the database asks for it (deadlock, serialization failure), and when the connection died before
        COMMIT was sent, such as one that a restart ended. `work` must have no effect outside the transaction.

        Raises a `Problem` of kind `unavailable`, as `begin` does and when every attempt failed.
        """
        for attempt in range(1, TRANSACTION_TRIES + 1):
            finished = False
            try:
                async with self.begin() as connection:
                    result = await work(connection)
                    finished = True
                return result
            except sa.exc.DBAPIError as error:
                if not asks_again(error):
                    raise
                if attempt == TRANSACTION_TRIES:
                    raise too_busy() from error
            except Problem as problem:
                if finished or attempt == TRANSACTION_TRIES or not connection_died(problem.__cause__):
                    raise
            await asyncio.sleep(0.005 * attempt)
        raise AssertionError("the loop returns or raises")

    async def close(self) -> None:
        await self._connections.close()
        await self._engine.dispose()
