"""Bringing about what the database refuses, as a fault of its own would: a lost write, a corrupt index, a past bug."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from uuid import UUID

import psycopg
from psycopg import sql

_SET_FLAGS = "UPDATE pg_index SET indisunique = %s, indisexclusion = %s WHERE indexrelid = %s::regclass"


def plant(superuser_url: str, statements: Sequence[str], values: Mapping[str, UUID], off: Sequence[str] = ()) -> None:
    """As `plant_in`, on a connection of its own, each statement committed."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        plant_in(connection, statements, values, off)


def plant_in(
    connection: psycopg.Connection, statements: Sequence[str], values: Mapping[str, UUID], off: Sequence[str] = ()
) -> None:
    """Run the superuser's statements with triggers and references switched off, and the guards named in `off`.

    Guards are constraints and unique indexes; afterwards each is as it was, and the catalogue says that it holds.
    """
    connection.execute("SET session_replication_role = replica")
    connection.execute("SET allow_system_table_mods = on")
    with ExitStack() as guards:
        for guard in off:
            guards.enter_context(_switched_off(connection, guard))
        for statement in statements:
            done = connection.execute(statement.encode(), values)
            assert done.rowcount != 0, f"nothing was corrupted by: {statement}"


@contextmanager
def _switched_off(connection: psycopg.Connection, guard: str) -> Iterator[None]:
    if guard.startswith("ck_"):
        with _dropped(connection, guard):
            yield
        return
    # The index still takes the row; it only no longer looks whether the row may be there.
    row = connection.execute(
        "SELECT indisunique, indisexclusion FROM pg_index WHERE indexrelid = %s::regclass", [guard]
    ).fetchone()
    assert row is not None
    connection.execute(_SET_FLAGS, [False, False, guard])
    yield
    connection.execute(_SET_FLAGS, [*row, guard])


@contextmanager
def _dropped(connection: psycopg.Connection, guard: str) -> Iterator[None]:
    row = connection.execute(
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [guard]
    ).fetchone()
    assert row is not None, f"there is no constraint {guard}"
    table, definition = (sql.SQL(text) for text in row)
    name = sql.Identifier(guard)
    connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table, name))
    yield
    connection.execute(sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {} NOT VALID").format(table, name, definition))
    connection.execute("UPDATE pg_constraint SET convalidated = true WHERE conname = %s", [guard])
