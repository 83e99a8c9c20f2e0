"""A closed database leaves no connection behind, whatever was being asked."""

from __future__ import annotations

import asyncio
import contextlib

import psycopg
import pytest
import sqlalchemy as sa

from ipucloud.db.engine import APPLICATION, Database
from tests.support.postgres import Database as Scratch
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
OPEN = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s"


async def test_a_statement_cancelled_while_the_database_closes_leaves_no_connection(database: Scratch) -> None:
    """psycopg ends a cancelled statement in good order, so its connection comes back after the pool was closed."""
    db = Database(database.app_url, pool_size=2)
    with psycopg.connect(database.owner_url, autocommit=True) as holder:

        async def count(statement: str, *values: str) -> int:
            row = holder.execute(statement, values).fetchone()
            assert row is not None
            return int(row[0])

        async def query() -> None:
            async with db.read() as connection:
                await connection.execute(sa.text("SELECT pg_advisory_lock(1)"))

        async def waits() -> bool:
            return await count(WAITING) == 1

        async def gone() -> bool:
            return await count(OPEN, APPLICATION) == 0

        holder.execute("SELECT pg_advisory_lock(1)")
        task = asyncio.create_task(query())
        await until(waits)
        task.cancel()
        await db.close()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await until(gone)
