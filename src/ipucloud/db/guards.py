"""Guards of the schema that exist and are switched off: the owner puts them in force again."""

from __future__ import annotations

import psycopg
from psycopg import sql

from ipucloud.db.roles import APP_ROLE

_TRIGGERS = """
SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace AND t.tgenabled = 'D'
"""
_CONSTRAINTS = """
SELECT c.relname, k.conname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
 WHERE k.connamespace = 'public'::regnamespace AND NOT k.convalidated
"""
_INDEXES = """
SELECT c.relname, n.relname
  FROM pg_index i JOIN pg_class n ON n.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid
 WHERE n.relnamespace = 'public'::regnamespace AND NOT (i.indisvalid AND i.indisready AND i.indislive)
"""
_REACHABLE = """
SELECT c.relname, 'privileges' FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = 'usage_charges'::regclass
   AND (has_table_privilege(%(role)s::name, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
        OR has_any_column_privilege(%(role)s::name, c.oid, 'SELECT, INSERT, UPDATE'))
"""
_REPAIRS = (
    (_TRIGGERS, "ALTER TABLE {table} ENABLE TRIGGER {name}"),
    (_CONSTRAINTS, "ALTER TABLE {table} VALIDATE CONSTRAINT {name}"),
    (_INDEXES, "REINDEX INDEX {name}"),
    (_REACHABLE, "REVOKE ALL ON {table} FROM {role}"),
)


def put_in_force(owner_url: str) -> list[str]:
    """Switch on triggers, validate constraints, build indexes that are not in force, and close partitions of charges.

    Returns a sentence for each, also for one that existing rows violate, which stays as it is.
    """
    done = []
    with psycopg.connect(owner_url, autocommit=True) as connection:
        for found, repair in _REPAIRS:
            for table, name in connection.execute(found, {"role": APP_ROLE}).fetchall():
                names = {"table": sql.Identifier(table), "name": sql.Identifier(name), "role": sql.Identifier(APP_ROLE)}
                try:
                    connection.execute(sql.SQL(repair).format(**names))
                    done.append(f"{table}: {name} is in force again.")
                except psycopg.IntegrityError as error:
                    done.append(f"{table}: {name} is not in force: {str(error).splitlines()[0]}")
    return done
