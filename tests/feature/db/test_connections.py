"""Connections of the application: a close while something is asked, and a password that is changed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from ipucloud.db.engine import APPLICATION, Database
from ipucloud.db.tenancy import APP_ROLE
from ipucloud.kernel.errors import UNAVAILABLE, Problem
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


ONE = sa.text("SELECT 1")


class Login:
    """A user of the database with a password, which a file has."""

    def __init__(self, superuser: psycopg.Connection, file: Path) -> None:
        self.name = f"rotated_{token_hex(4)}"
        self._superuser = superuser
        self._file = file
        self._say("CREATE ROLE {} LOGIN IN ROLE {}", self.name, APP_ROLE)
        self.set_password("one")
        self.write("one")

    def set_password(self, password: str) -> None:
        statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(self.name), sql.Literal(password))
        self._superuser.execute(statement)

    def write(self, password: str) -> None:
        new = self._file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(f"*:*:*:{self.name}:{password}\n")
        new.rename(self._file)

    def disconnect(self) -> None:
        """As a failover does."""
        self._superuser.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [self.name]
        )

    def drop(self) -> None:
        self.disconnect()
        self._say("DROP ROLE {}", self.name)

    def _say(self, statement: str, *names: str) -> None:
        self._superuser.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture
def login(database: Scratch, tmp_path: Path) -> Iterator[Login]:
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        fixture = Login(superuser, tmp_path / "pgpass")
        yield fixture
        fixture.drop()


async def test_a_new_password_is_used_with_the_next_connection(database: Scratch, login: Login, tmp_path: Path) -> None:
    at = conninfo_to_dict(database.app_url)
    url = (
        f"postgresql://{login.name}@/{at['dbname']}?host={at['host']}&port={at['port']}&passfile={tmp_path / 'pgpass'}"
    )
    db = Database(url, pool_size=1)
    try:
        assert await query(db) == (1, 1)
        login.set_password("two")
        assert await query(db) == (1, 1)  # connections that are open stay so
        login.disconnect()
        with pytest.raises(Problem) as refused:
            await query(db)
        assert refused.value.kind is UNAVAILABLE
        login.write("two")
        assert await query(db) == (1, 1)
    finally:
        await db.close()


async def query(db: Database) -> tuple[int, int]:
    """By a statement that stands alone, and in a transaction."""
    async with db.read() as connection:
        alone = (await connection.execute(ONE)).scalar_one()
    return alone, await db.transact(lambda connection: connection.scalar(ONE))
