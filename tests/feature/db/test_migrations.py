"""Migrations: they make what the models say, from an empty database and from those of the versions before."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from psycopg import sql

from ipucloud.db import migrate
from ipucloud.db.engine import sqlalchemy_url
from ipucloud.db.schema_check import (
    BASELINE,
    FORMER_HEAD,
    OLDER,
    UpgradeError,
    fault_of,
    head,
    is_former,
    known,
    scripts,
)
from ipucloud.resources.tables import ResourceKind
from ipucloud.schema import metadata
from tests.support.dumps import schema_of
from tests.support.filled_names import Filled
from tests.support.postgres import Database, TestServer

NEXT = """
from alembic import op

revision = "{name}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE clusters ADD COLUMN note text")


def downgrade() -> None:
    op.execute("ALTER TABLE clusters DROP COLUMN note")
"""


def make_from_models(database: Database) -> None:
    engine = sa.create_engine(sqlalchemy_url(database.owner_url), poolclass=sa.NullPool)
    with engine.begin() as connection:
        metadata.create_all(connection)


def revision_of(database: Database) -> str:
    with psycopg.connect(database.superuser_url) as connection:
        [(revision,)] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return str(revision)


def record(database: Database, revision: str) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", [revision])


def rows(database: Database) -> dict[str, int]:
    with psycopg.connect(database.superuser_url) as connection:
        counted = {
            name: connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))).fetchone()
            for name in metadata.tables
        }
    return {name: row[0] for name, row in counted.items() if row is not None}


def test_alembic_sees_no_difference_between_models_and_migrations(database: Database) -> None:
    migrate.check(database.owner_url, metadata)


def test_alembic_would_see_one(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("ALTER TABLE clusters DROP COLUMN user_data")
    with pytest.raises(CommandError, match="New upgrade operations detected"):
        migrate.check(database.owner_url, metadata)


def test_the_migrations_make_the_schema_of_the_models(database: Database, postgres: TestServer) -> None:
    """A dump sees what Alembic does not compare: exclusion and check constraints, triggers, functions, types."""
    migrated = schema_of(database.superuser_url)
    with postgres.unmigrated_database() as empty:
        make_from_models(empty)
        assert migrated == schema_of(empty.superuser_url)
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


def test_every_later_migration_goes_down_and_up_again_on_a_filled_database(database: Database, filled: Filled) -> None:
    """Its downgrade is what tries it on rows; the baseline has none."""
    newest = schema_of(database.superuser_url)
    for revision in ScriptDirectory(str(scripts())).walk_revisions():
        if (below := revision.down_revision) is None:
            break
        assert isinstance(below, str)
        migrate.downgrade(database.owner_url, below)
        migrate.upgrade(database.owner_url, revision.revision)
        migrate.downgrade(database.owner_url, below)
    migrate.upgrade(database.owner_url)
    assert schema_of(database.superuser_url) == newest


def test_what_was_stored_in_plain_before_0004_is_hidden(database: Database, filled: Filled) -> None:
    """Variables of programs stay as they are: a worker encrypts them, as it does the queries."""
    migrate.downgrade(database.owner_url, "0003_verified_people")
    url, kept = "https://hooks.example.com/a?token=s3cret&s3cret&b=", "INSERT INTO idempotency_keys"
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("UPDATE webhooks SET url = %s", [url])
        connection.execute('UPDATE jobs SET environment = \'{"TOKEN": "s3cret"}\'')
        for table, body in (
            ("webhooks", {"url": url}),
            ("jobs", {"environment": {"TOKEN": "s3cret"}}),
            ("services", {"environment": {}}),
        ):
            connection.execute(
                sql.SQL(
                    "{} (scope, key, fingerprint, status, body, subject_id) SELECT id, %s, '', 201, %s, id FROM {}"
                ).format(sql.SQL(kept), sql.Identifier(table)),
                [table, orjson.dumps(body)],
            )
        connection.execute(
            f"{kept} (scope, key, fingerprint, status, body) VALUES (gen_random_uuid(), 'x', '', 204, '')"
        )
    migrate.upgrade(database.owner_url)
    with psycopg.connect(database.superuser_url) as connection:
        shown = "https://hooks.example.com/a?token=***&***&b=***"
        assert set(connection.execute("SELECT url, query FROM webhooks")) == {(shown, "token=s3cret&s3cret&b=")}
        bodies = connection.execute("SELECT key, convert_from(body, 'UTF8') FROM idempotency_keys").fetchall()
    stored = {key: orjson.loads(body) for key, body in bodies if key in {"webhooks", "jobs", "services"}}
    assert stored == {"webhooks": {"url": shown}, "jobs": {"environment": ["TOKEN"]}, "services": {"environment": []}}


def test_resources_have_what_billing_read_of_each_noun_before_0008(database: Database, filled: Filled) -> None:
    before = """
    SELECT id, project_id, kind, name, tags, region, flavor, machine_type, machines, ipus, sku, currency,
           state = 'deleted', CASE WHEN NOT delete_protection THEN expires_at END, created_at FROM billed_clusters
    """
    after = """
    SELECT id, project_id, kind, name, tags, region, coalesce(flavor, sku), coalesce(machine_type, kind), quantity,
           quantity * coalesce(machine_ipus, 1), sku, currency, deleted_at IS NOT NULL, ends_at, created_at
      FROM resources
    """
    kept = "SELECT id, resource_id FROM usage_intervals ORDER BY id"
    with psycopg.connect(database.superuser_url) as connection:
        written = connection.execute(after + "ORDER BY id").fetchall()
        intervals = connection.execute(kept).fetchall()
    migrate.downgrade(database.owner_url, "0007_billing_rule_of_clusters")
    with psycopg.connect(database.superuser_url) as connection:
        assert connection.execute(before + "ORDER BY id").fetchall() == written
    migrate.upgrade(database.owner_url)
    with psycopg.connect(database.superuser_url) as connection:
        assert connection.execute(after + "ORDER BY id").fetchall() == written
        assert connection.execute(kept).fetchall() == intervals
    assert {row[2] for row in written} == {*ResourceKind}


def test_revisions_are_named_as_their_files_and_follow_each_other() -> None:
    revisions = [script.revision for script in ScriptDirectory(str(scripts())).walk_revisions()]
    assert tuple(reversed(revisions)) == known()
    assert [name.split("_")[0] for name in known()] == [f"{number:04}" for number in range(1, len(known()) + 1)]
    assert known()[0] == BASELINE
    assert not any(map(is_former, known()))


def test_the_next_migration_runs_and_is_newer_than_this_version(
    database: Database, filled: Filled, tmp_path: Path
) -> None:
    newest, before = schema_of(database.superuser_url), rows(database)
    name = f"{len(known()) + 1:04}_notes"
    shutil.copytree(scripts(), tmp_path / "alembic", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "alembic" / "versions" / f"{name}.py").write_text(NEXT.format(name=name, before=head()))
    next_version = migrate.configuration(database.owner_url)
    next_version.set_main_option("script_location", str(tmp_path / "alembic"))
    command.upgrade(next_version, "head")
    assert schema_of(database.superuser_url) != newest
    assert revision_of(database) == name
    assert rows(database) == before
    assert fault_of(name) is None, "processes of this version go on beside it"
    with pytest.raises(UpgradeError, match=name):
        migrate.upgrade(database.owner_url)
    command.downgrade(next_version, head())
    assert schema_of(database.superuser_url) == newest


def test_a_database_from_before_the_baseline_is_recorded_as_being_at_it(database: Database, filled: Filled) -> None:
    newest = schema_of(database.superuser_url)
    before = rows(database) | {"provider_logouts": 0}  # a later table, which goes with its rows
    migrate.downgrade(database.owner_url, BASELINE)
    with psycopg.connect(database.superuser_url) as connection:
        there = {name for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')")}
    record(database, FORMER_HEAD)
    assert fault_of(FORMER_HEAD) == OLDER
    sentence = migrate.upgrade(database.owner_url)
    assert sentence == f"The schema was at {FORMER_HEAD}, which is the same as {BASELINE}: recorded as that."
    assert (revision_of(database), schema_of(database.superuser_url)) == (head(), newest)
    # What tables had that came since went with them.
    after = rows(database)
    assert [(name, after[name]) for name in sorted(there & after.keys())] == [
        (name, before[name]) for name in sorted(there & before.keys())
    ]
    assert migrate.upgrade(database.owner_url) is None


@pytest.mark.parametrize("revision", ["0001", "0007", "0331"])
def test_an_earlier_one_is_refused_and_left_as_it_is(database: Database, revision: str) -> None:
    """0001 among them: the first revision of before, not the baseline."""
    record(database, revision)
    assert fault_of(revision) == OLDER
    with pytest.raises(migrate.BeforeBaselineError, match=f"at {revision}, and upgrades begin with {FORMER_HEAD}"):
        migrate.upgrade(database.owner_url)
    assert revision_of(database) == revision
