"""A test database that is emptied instead of dropped, which takes a fraction of the time of another copy.

Whatever a test may change is put back as it was in the copy: rows, sequences, the database's clock, the tables of
months. A database whose definitions were changed otherwise, or that was used often enough to hold mostly dead rows, is
not used again. A statement that every test runs is planned once for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import psycopg
from psycopg import sql

USES = 60
"""Of one database: every test leaves dead rows behind."""
CLOCK = "app_now"
"""The function that tests replace to set the database's time."""

_OTHERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> ALL (%s)
"""
_TABLES = """
SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema)' ORDER BY 1, 2
"""
_PARTITIONED = "SELECT relname FROM pg_class WHERE relkind = 'p'"
_SEQUENCES = """
SELECT format('%I.%I', schemaname, sequencename) AS name, coalesce(last_value, start_value), last_value IS NOT NULL
  FROM pg_sequences ORDER BY 1
"""
# A changed definition is a row of another transaction in one of these, or a row less. Of relations the server itself
# changes rows.
_DEFINITIONS = " UNION ALL ".join(
    [
        "SELECT 'pg_class' AS name, count(*), md5(string_agg(format('%s %s %s %s %s', relname, relrowsecurity,"
        " relforcerowsecurity, reloptions, relacl), ' ' ORDER BY oid)) FROM pg_class WHERE relkind <> 't'",
        "SELECT 'pg_proc', count(*), md5(string_agg(format('%s %s', prosrc, proacl), ' ' ORDER BY oid)) FROM pg_proc",
        "SELECT 'pg_db_role_setting', count(*), max(setconfig::text) FROM pg_db_role_setting"
        " WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())",
        *(
            f"SELECT '{name}', count(*), max(xmin::text::bigint)::text FROM {name}"  # noqa: S608
            for name in (
                *("pg_namespace", "pg_attribute", "pg_attrdef", "pg_constraint", "pg_index", "pg_trigger"),
                *("pg_rewrite", "pg_policy", "pg_type", "pg_statistic_ext", "pg_event_trigger", "pg_default_acl"),
            )
        ),
    ]
)


IN_USE: dict[str, ReusableDatabase] = {}
"""Those that a test has now, by the application's URL."""


class ReusableDatabase:
    """A database as it was copied. Holds a connection of its superuser and one of the application until `close`."""

    def __init__(self, app_url: str, superuser_url: str) -> None:
        self._uses = 0
        self._groups: Sequence[str] = ()
        self._reader = psycopg.connect(
            app_url, autocommit=True, options="-c plan_cache_mode=force_generic_plan -c jit=off"
        )
        self._reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._connection = psycopg.connect(superuser_url, autocommit=True, prepare_threshold=0)
        self._connection.execute("SET session_replication_role = replica")  # no triggers, no references
        tables = self._read_tables()
        self._filled = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(number, table)
            for number, table in enumerate(tables)
        )
        self._tables = tables
        self._rows: Mapping[int, bytes] = {number: self._copy(number) for number in self._numbers_of_filled()}
        self._sequences = self._connection.execute(_SEQUENCES).fetchall()
        self._clock = self._connection.execute(f"SELECT pg_get_functiondef('{CLOCK}'::regproc)").fetchall()[0][0]
        self._definitions = self._read_definitions()

    def reset(self) -> bool:
        """Put everything back; False when it cannot be used again. Whoever is still connected is disconnected."""
        self._uses += 1
        try:
            return self._uses < USES and self._put_back()
        except psycopg.OperationalError:  # the test ended all connections, these among them
            return False

    def _put_back(self) -> bool:
        own = [connection.info.backend_pid for connection in (self._connection, self._reader)]
        self._connection.execute(_OTHERS, [own])
        if self._read_definitions() != self._definitions:
            self._connection.execute(self._clock)
            for table in self._read_tables():
                if table not in self._tables:
                    self._connection.execute(sql.SQL("DROP TABLE {}").format(table))
            if self._read_definitions() != self._definitions:
                return False
        with self._connection.transaction():
            for number in self._numbers_of_filled():
                self._connection.execute(sql.SQL("DELETE FROM {}").format(self._tables[number]))
            for number, rows in self._rows.items():
                with self._connection.cursor().copy(self._copying(number, "FROM STDIN")) as copy:
                    copy.write(rows)
        for changed in set(self._connection.execute(_SEQUENCES).fetchall()) - set(self._sequences):
            copied = next(row for row in self._sequences if row[0] == changed[0])
            self._connection.execute("SELECT setval(%s::regclass, %s, %s)", copied)
        return True

    def those_with_rows(self, statements: Mapping[str, str]) -> set[str]:
        """The names of the statements that return a row, all as of one instant; always the same statements."""
        if not self._groups:
            self._prepare(statements)
        with self._reader.transaction():
            return {name for each in self._groups for (name,) in self._reader.execute(f"EXECUTE {each}")}

    def _prepare(self, statements: Mapping[str, str]) -> None:
        """One for all, but for those about tables with partitions: another partition has them planned again."""
        partitioned = [name for (name,) in self._connection.execute(_PARTITIONED)]
        groups: dict[str, list[str]] = {"about_partitions": [], "about_others": []}
        for name, text in statements.items():
            group = "about_partitions" if any(table in text for table in partitioned) else "about_others"
            groups[group].append(f"SELECT '{name}' WHERE EXISTS ({text})")
        for group, queries in groups.items():
            self._reader.execute(f"PREPARE {group} AS {' UNION ALL '.join(queries)}")
        self._groups = list(groups)

    def close(self) -> None:
        self._connection.close()
        self._reader.close()

    def _numbers_of_filled(self) -> Sequence[int]:
        return [number for (number,) in self._connection.execute(self._filled)]

    def _copy(self, number: int) -> bytes:
        with self._connection.cursor().copy(self._copying(number, "TO STDOUT")) as copy:
            return b"".join(bytes(block) for block in copy)

    def _copying(self, number: int, direction: str) -> sql.Composed:
        return sql.SQL("COPY {} {}").format(self._tables[number], sql.SQL(direction))

    def _read_tables(self) -> list[sql.Identifier]:
        return [sql.Identifier(*row) for row in self._connection.execute(_TABLES)]

    def _read_definitions(self) -> Sequence[tuple[object, ...]]:
        return self._connection.execute(_DEFINITIONS).fetchall()
