"""The database fixture: every test starts from the same migrated state."""

import psycopg
import pytest

from ipucloud.db.schema_check import head
from tests.support.postgres import Database


@pytest.mark.parametrize("turn", [1, 2])
def test_a_test_never_sees_what_another_committed(database: Database, turn: int) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("CREATE TABLE left_behind (value int)")
        connection.execute("INSERT INTO left_behind VALUES (%s)", [turn])
    with psycopg.connect(database.superuser_url) as connection:
        assert connection.execute("SELECT current_database()").fetchone() == (database.name,)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(head(),)]
