"""A copy of a database takes its place whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from ipucloud.laboratory.postgres import SUPERUSER
from ipucloud.laboratory.sample.copies import replacing
from tests.support.postgres import Database, TestServer


def marked(postgres: TestServer, name: str) -> bool:
    with psycopg.connect(postgres.url(SUPERUSER, name)) as connection:
        [(exists,)] = connection.execute("SELECT to_regclass('mark') IS NOT NULL").fetchall()
    return bool(exists)


def mark(postgres: TestServer, name: str) -> None:
    with psycopg.connect(postgres.url(SUPERUSER, name)) as connection:
        connection.execute("CREATE TABLE mark ()")


@pytest.fixture
def database(postgres: TestServer) -> Iterator[Database]:
    """One that is nobody's but the test's: another takes its place."""
    with postgres.fresh_database() as fresh:
        yield fresh


def databases(postgres: TestServer, name: str) -> list[str]:
    with psycopg.connect(postgres.url(SUPERUSER, "postgres")) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s ORDER BY 1", [f"{name}%"])
        return [name for (name,) in rows]


def interrupted_copy(postgres: TestServer, name: str) -> None:
    with replacing(postgres.url, name) as copy:
        mark(postgres, copy)
        raise InterruptedError


def test_a_copy_takes_the_place_of_its_original(postgres: TestServer, database: Database) -> None:
    with replacing(postgres.url, database.name) as copy:
        mark(postgres, copy)
        assert not marked(postgres, database.name)
    assert marked(postgres, database.name)
    assert databases(postgres, database.name) == [database.name]
    with psycopg.connect(database.app_url) as connection:
        kept = "SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = %s"
        assert connection.execute(kept, [database.name]).fetchall() == []


def test_what_a_failed_copy_leaves_is_dropped_by_the_next(postgres: TestServer, database: Database) -> None:
    with pytest.raises(InterruptedError):
        interrupted_copy(postgres, database.name)
    assert not marked(postgres, database.name)
    with replacing(postgres.url, database.name) as copy:
        assert not marked(postgres, copy)
    assert databases(postgres, database.name) == [database.name]
