"""What the database shows a reader of a project, whatever statement is sent."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from ipucloud.db.guards import put_in_force
from ipucloud.db.tenancy import APP_ROLE, JUDGED_TOGETHER, OF_ALL, TENANT_ROLE, changeable, visible
from ipucloud.laboratory.postgres.binaries import find_binaries
from ipucloud.schema import metadata
from tests.support.filled_names import Filled
from tests.support.postgres import Database
from tests.support.waiting import PATIENCE

SHOWN = sorted(name for name, table in metadata.tables.items() if visible(table) is not None)
OF_PROJECTS = sorted(name for name in SHOWN if "project_id" in metadata.tables[name].columns)
CHANGED = sorted(set(OF_PROJECTS) - {"work"})


@contextmanager
def reading(database: Database, tenant: object = "") -> Iterator[psycopg.Connection[Any]]:
    """A transaction that reads for a project."""
    with psycopg.connect(database.app_url) as connection:
        connection.execute("SELECT set_config('ipucloud.tenant', %s, true)", [str(tenant)])
        connection.execute(f"SET LOCAL ROLE {TENANT_ROLE}".encode())
        yield connection


@contextmanager
def changing(database: Database, project: object) -> Iterator[psycopg.Connection[Any]]:
    """A transaction that changes a project."""
    with psycopg.connect(database.app_url) as connection:
        connection.execute("SELECT set_config('ipucloud.changed_project', %s, true)", [str(project)])
        yield connection


def locked(connection: psycopg.Connection[Any], table: str, project: object) -> int | None:
    """How many rows of the project can be locked; None: the application may not change the table at all."""
    statement = sql.SQL("SELECT FROM {} WHERE project_id = %s FOR KEY SHARE").format(sql.Identifier(table))
    try:
        with connection.transaction():
            return len(connection.execute(statement, [project]).fetchall())
    except InsufficientPrivilege:
        return None


def count(connection: psycopg.Connection[Any], table: str, condition: str = "true", *values: object) -> int:
    counted = sql.SQL("SELECT count(*) FROM {} WHERE ").format(sql.Identifier(table)) + sql.SQL(condition)
    [(number,)] = connection.execute(counted, values).fetchall()
    return int(number)


def test_every_table_with_an_owner_is_shown_by_a_policy() -> None:
    owned = {
        name for name, table in metadata.tables.items() if {"project_id", "account_id"} & set(table.columns.keys())
    }
    assert owned - set(SHOWN) == set()


@pytest.mark.usefixtures("filled")
def test_a_reader_of_nobody_sees_no_row_of_a_tenant(database: Database) -> None:
    with reading(database) as connection:
        assert {name: rows for name in SHOWN if (rows := count(connection, name))} == {}


def test_a_reader_sees_the_rows_of_its_project(database: Database, filled: Filled) -> None:
    """All of them, and of other projects only what is printed on an invoice that it may read."""
    with psycopg.connect(database.app_url) as connection:
        own = {name: count(connection, name, "project_id = %s", filled.project.id) for name in OF_PROJECTS}
    assert sum(rows > 0 for rows in own.values()) > 40
    with reading(database, filled.project.id) as connection:
        assert {name: count(connection, name, "project_id = %s", filled.project.id) for name in OF_PROJECTS} == own
        others = {
            name: rows
            for name in OF_PROJECTS
            if (rows := count(connection, name, "project_id <> %s", filled.project.id))
        }
    assert set(others) <= {"invoice_lines"}


def test_a_reader_of_another_project_sees_none_of_them(database: Database, filled: Filled) -> None:
    with reading(database, filled.other_project.id) as connection:
        counts = {name: count(connection, name, "project_id = %s", filled.project.id) for name in OF_PROJECTS}
        assert {name: rows for name, rows in counts.items() if rows} == {}
        assert count(connection, "projects") == 1
        assert count(connection, "shown_waits") == 0


def test_a_reader_reads_what_it_must_and_writes_nothing(database: Database) -> None:
    may = (
        "SELECT has_table_privilege(%s, %s, 'SELECT'), has_table_privilege(%s, %s, 'INSERT, UPDATE, DELETE, TRUNCATE')"
    )
    with psycopg.connect(database.superuser_url) as connection:
        for name in metadata.tables:
            [privileges] = connection.execute(may, [TENANT_ROLE, name, TENANT_ROLE, name]).fetchall()
            assert privileges == (name in SHOWN or name in OF_ALL, False), name
        [powers] = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole FROM pg_roles WHERE rolname = %s", [TENANT_ROLE]
        ).fetchall()
        assert powers == (False,) * 4
    with reading(database) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute("SET LOCAL ROLE ipucloud_owner")


@pytest.mark.usefixtures("filled")
def test_row_security_cannot_be_switched_off(database: Database) -> None:
    with reading(database) as connection:
        connection.execute("SET LOCAL row_security = off")
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            connection.execute("SELECT FROM clusters")


def test_the_owner_is_under_policies_too_and_backs_up_everything(database: Database, filled: Filled) -> None:
    """As docs/operations.md has it."""
    program = find_binaries(None, data_major=None).directory / "pg_dump"
    command = [str(program), "--data-only", "--table=clusters", database.owner_url]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert run.returncode != 0, "FORCE ROW LEVEL SECURITY holds for the owner"
    command.insert(1, "--enable-row-security")
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert str(filled.cluster) in run.stdout


def test_a_migration_puts_policies_in_force_again(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("ALTER TABLE clusters DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")
        connection.execute("ALTER TABLE tokens NO FORCE ROW LEVEL SECURITY")
    done = put_in_force(database.owner_url)
    assert sorted(done) == [f"{table}: row-level security is in force again." for table in ("clusters", "tokens")]
    assert put_in_force(database.owner_url) == []


def test_every_table_of_projects_is_under_policies_of_changes() -> None:
    assert [name for name in OF_PROJECTS if changeable(metadata.tables[name]) is None] == ["work"]
    assert set(JUDGED_TOGETHER) - set(CHANGED) == {"projects"}


def test_a_change_locks_and_reads_the_rows_of_its_own_project(database: Database, filled: Filled) -> None:
    with changing(database, filled.project.id) as connection:
        own = {name: locked(connection, name, filled.project.id) for name in CHANGED}
        assert sum(rows is not None and rows > 0 for rows in own.values()) > 30
    with changing(database, filled.other_project.id) as connection:
        others = {name: locked(connection, name, filled.project.id) for name in CHANGED}
        assert {name: rows for name, rows in others.items() if rows} == {}
        read = {name for name in CHANGED if count(connection, name, "project_id = %s", filled.project.id)}
        assert read <= set(JUDGED_TOGETHER)
        assert connection.execute("SELECT FROM projects WHERE id = %s FOR KEY SHARE", [filled.project.id]).rowcount == 0


def test_a_change_writes_no_row_of_another_project(database: Database, filled: Filled) -> None:
    add = (
        "INSERT INTO quotas (project_id, region, machine_type, machine_limit, used)"
        " SELECT %s, region, 'bow2000', 1, 0 FROM quotas LIMIT 1 RETURNING project_id"
    )
    with changing(database, filled.project.id) as connection:
        with pytest.raises(InsufficientPrivilege, match="row-level security"), connection.transaction():
            connection.execute(add, [filled.other_project.id])
        with pytest.raises(InsufficientPrivilege, match="row-level security"), connection.transaction():
            connection.execute("UPDATE clusters SET project_id = %s", [filled.other_project.id])
        assert connection.execute("UPDATE clusters SET version = version").rowcount > 0
        connection.rollback()
    with changing(database, filled.other_project.id) as connection:
        assert connection.execute("UPDATE clusters SET version = version").rowcount == 0
        assert connection.execute("DELETE FROM webhooks").rowcount == 0


def test_the_application_sees_every_row(database: Database, filled: Filled) -> None:
    with psycopg.connect(database.app_url) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (APP_ROLE,)
        assert count(connection, "clusters", "id = %s", filled.cluster) == 1
