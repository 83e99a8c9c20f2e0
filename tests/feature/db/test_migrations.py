"""Migrations: they make what the models say, and go down and up on a database in use."""

from __future__ import annotations

import psycopg
import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from psycopg import sql

from ipucloud.db import migrate
from ipucloud.db.engine import sqlalchemy_url
from ipucloud.schema import metadata
from tests.support.dumps import schema_of
from tests.support.filled import fill
from tests.support.filled_names import Filled
from tests.support.postgres import Database

RESERVATION = """
INSERT INTO reservations (id, project_id, name, region, flavor, machine_type, blocks, machines, ipus, servers,
                          own_hosts, sku, currency, starts_at, ends_at, state, created_by)
SELECT gen_random_uuid(), project_id, 'earlier', region, flavor, machine_type, 1, machines, ipus, 1, false, sku,
       currency, '2020-01-01 00:00Z', '2020-01-01 02:00Z', 'ended', gen_random_uuid()
  FROM clusters LIMIT 1
"""
RESERVED = """
INSERT INTO usage_intervals (id, project_id, resource_id, resource_kind, flavor, sku, region, currency, quantity,
                             anchor_at, started_at, ended_at)
SELECT gen_random_uuid(), project_id, id, 'reservation', flavor, sku, region, currency, machines, starts_at, starts_at,
       ends_at
  FROM reservations WHERE name = 'earlier'
"""


def make_from_models(database: Database) -> None:
    engine = sa.create_engine(sqlalchemy_url(database.owner_url), poolclass=sa.NullPool)
    with engine.begin() as connection:
        metadata.create_all(connection)


def rows(database: Database) -> dict[str, int]:
    with psycopg.connect(database.superuser_url) as connection:
        counted = {
            name: connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))).fetchone()
            for name in metadata.tables
        }
    return {name: row[0] for name, row in counted.items() if row is not None}


def test_alembic_sees_no_difference_between_models_and_migrations(database: Database) -> None:
    migrate.check(database.owner_url)


def test_alembic_would_see_one(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("ALTER TABLE clusters DROP COLUMN user_data")
    with pytest.raises(CommandError, match="New upgrade operations detected"):
        migrate.check(database.owner_url)


def test_the_migrations_make_the_schema_of_the_models(database: Database) -> None:
    """A dump sees what Alembic does not compare: exclusion and check constraints, triggers, functions, types."""
    migrated = schema_of(database.superuser_url)
    migrate.downgrade(database.owner_url, "base")
    make_from_models(database)
    assert migrated == schema_of(database.superuser_url)
    assert any("EXCLUDE USING gist" in statement for statement in migrated)
    assert any(statement.startswith("CREATE TRIGGER operations_final") for statement in migrated)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE usage_intervals DROP CONSTRAINT ex_usage_intervals_no_overlap",
        "DROP TRIGGER operations_final ON operations",
        "ALTER TABLE quotas DROP CONSTRAINT ck_quotas_used",
        "ALTER TABLE clusters ALTER version DROP DEFAULT",
    ],
)
def test_a_dump_shows_what_alembic_does_not_compare(database: Database, change: str) -> None:
    before = schema_of(database.superuser_url)
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(change.encode())
    assert schema_of(database.superuser_url) != before


def test_every_table_of_a_filled_database_has_a_row(database: Database, filled: Filled) -> None:
    assert [name for name, count in rows(database).items() if count == 0] == []


def test_every_migration_goes_down_and_up_again_on_a_filled_database(database: Database, filled: Filled) -> None:
    newest = schema_of(database.superuser_url)
    for revision in ScriptDirectory(str(migrate.scripts())).walk_revisions():
        below = revision.down_revision or "base"
        assert isinstance(below, str)
        migrate.downgrade(database.owner_url, below)
        migrate.upgrade(database.owner_url, revision.revision)
        migrate.downgrade(database.owner_url, below)
    assert schema_of(database.superuser_url) == set()
    migrate.upgrade(database.owner_url)
    assert schema_of(database.superuser_url) == newest
    fill(database.app_url)


def test_facts_of_before_0170_say_what_they_are_of(database: Database, filled: Filled) -> None:
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute(RESERVATION)
        connection.execute(RESERVED)
    kinds = "SELECT resource_kind, dimension, of_cluster, reservation_id, id FROM usage_intervals ORDER BY id"
    with psycopg.connect(database.superuser_url) as connection:
        before = connection.execute(kinds).fetchall()
    before_it = ScriptDirectory(str(migrate.scripts())).get_revision("0170").down_revision
    assert isinstance(before_it, str)
    migrate.downgrade(database.owner_url, before_it)
    with psycopg.connect(database.superuser_url) as connection:
        former = connection.execute("SELECT of_cluster, reservation_id, id FROM usage_intervals ORDER BY id").fetchall()
    assert former == [row[2:] for row in before]
    migrate.upgrade(database.owner_url)
    with psycopg.connect(database.superuser_url) as connection:
        assert connection.execute(kinds).fetchall() == before
    assert {row[:2] for row in before} == {("cluster", "machine"), ("reservation", "machine")}


def test_an_upgrade_of_the_newest_schema_changes_nothing(database: Database, filled: Filled) -> None:
    before = rows(database)
    migrate.upgrade(database.owner_url)
    assert rows(database) == before
