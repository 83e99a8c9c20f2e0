"""Guards of the schema are put in force again, and powers that the application must not have are taken away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import psycopg
from psycopg import sql

from ipucloud.db.tenancy import APP_ROLE, FACTS, HISTORY, OWNER_ROLE, TENANT_ROLE

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
_POLICIES = """
SELECT c.relname, 'row-level security' FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
 WHERE p.polname = 'tenant' AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
"""
_REPAIRS = (
    (_POLICIES, "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"),
    (_TRIGGERS, "ALTER TABLE {table} ENABLE TRIGGER {name}"),
    (_CONSTRAINTS, "ALTER TABLE {table} VALIDATE CONSTRAINT {name}"),
    (_INDEXES, "REINDEX INDEX {name}"),
    (_REACHABLE, "REVOKE ALL ON {table} FROM {role}"),
)
_MAY = """
SELECT has_table_privilege(%(role)s::name, %(table)s, %(privilege)s)
    OR %(privilege)s IN ('INSERT', 'UPDATE') AND has_any_column_privilege(%(role)s::name, %(table)s, %(privilege)s)
"""
_MAY_FACT = """
SELECT EXISTS (SELECT FROM unnest(%(facts)s::text[]) AS fact
                WHERE has_column_privilege(%(role)s::name, %(table)s, fact, 'UPDATE'))
"""
_GRANTED_COLUMNS = """
SELECT a.attname FROM pg_attribute a CROSS JOIN LATERAL aclexplode(a.attacl) AS acl
 WHERE a.attrelid = %(table)s::regclass AND acl.grantee = %(role)s::regrole AND acl.privilege_type = 'UPDATE'
   AND a.attname <> ALL (%(facts)s::text[])
"""
_POWERFUL = """
SELECT FROM pg_roles
 WHERE rolname = %(role)s AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)
"""
_GROUPS = """
SELECT roleid::regrole::text FROM pg_auth_members
 WHERE member = %(role)s::regrole AND roleid <> %(tenant)s::regrole
"""
_OWNS = """
SELECT FROM pg_shdepend
 WHERE refclassid = 'pg_authid'::regclass AND refobjid = %(role)s::regrole AND deptype = 'o'
   AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
"""
_ROLE = {"role": APP_ROLE, "tenant": TENANT_ROLE}
_APP, _OWNER = sql.Identifier(APP_ROLE), sql.Identifier(OWNER_ROLE)


def put_in_force(owner_url: str) -> list[str]:
    """Switch on triggers and row-level security, validate constraints, build indexes, close partitions of charges.

    Takes from the application what it must not have, too. Returns a sentence for each, also for what stays as it is: a
    guard that existing rows violate, or a power that only a superuser can take.
    """
    done = []
    with psycopg.connect(owner_url, autocommit=True) as connection:
        for search, repair in _REPAIRS:
            for table, name in connection.execute(search, _ROLE).fetchall():
                names = {"table": sql.Identifier(table), "name": sql.Identifier(name), "role": _APP}
                try:
                    connection.execute(sql.SQL(repair).format(**names))
                    done.append(f"{table}: {name} is in force again.")
                except psycopg.IntegrityError as error:
                    done.append(f"{table}: {name} is not in force: {str(error).splitlines()[0]}")
        done += revoke_powers(connection)
    return done


def revoke_powers(connection: psycopg.Connection) -> list[str]:
    """Take from the application's role the powers and privileges that it must not have; a sentence for each."""
    done = []
    for what, statements in _excesses(connection):
        try:
            with connection.transaction():
                for statement in statements:
                    connection.execute(statement)
            done.append(f"{APP_ROLE}: {what} is taken away.")
        except psycopg.errors.InsufficientPrivilege as error:
            done.append(
                f"{APP_ROLE}: {what} stays: {str(error).splitlines()[0]}. Run `ipucloud migrate` again with a superuser"
                " in IPUCLOUD_MIGRATION_DATABASE_URL."
            )
    return done


def _excesses(connection: psycopg.Connection) -> Iterator[tuple[str, list[sql.Composed]]]:
    """What it may and must not, with the statements that change it."""
    if connection.execute(_POWERFUL, _ROLE).fetchall():
        powers = "ALTER ROLE {} NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS"
        yield "the power over roles or databases", [sql.SQL(powers).format(_APP)]
    for (group,) in connection.execute(_GROUPS, _ROLE).fetchall():
        yield f"membership of {group}", [sql.SQL("REVOKE {} FROM {}").format(sql.SQL(group), _APP)]
    if connection.execute(_OWNS, _ROLE).fetchall():
        yield "ownership", [sql.SQL("REASSIGN OWNED BY {} TO {}").format(_APP, _OWNER)]
    for table in sorted(HISTORY.keys() | FACTS.keys()):
        facts = list(FACTS.get(table, ()))
        values: dict[str, object] = {"table": table, "facts": facts, **_ROLE}
        wrong = [each for each in HISTORY.get(table, ()) if _is(connection, _MAY, values | {"privilege": each})]
        if _is(connection, _MAY_FACT, values) and "UPDATE" not in wrong:
            wrong.append("UPDATE")
        if wrong:
            yield f"{', '.join(wrong)} on {table}", _revoked(connection, table, wrong, values)


def _revoked(
    connection: psycopg.Connection, table: str, privileges: list[str], values: Mapping[str, object]
) -> list[sql.Composed]:
    """Revoking UPDATE of a table revokes it of its columns; those that may be updated, if any, are granted again."""
    name, privilege = sql.Identifier(table), sql.SQL(", ").join(map(sql.SQL, privileges))
    statements = [sql.SQL("REVOKE {} ON {} FROM {}, PUBLIC").format(privilege, name, _APP)]
    columns = [column for (column,) in connection.execute(_GRANTED_COLUMNS, values).fetchall()]
    if columns and "UPDATE" in privileges and "UPDATE" not in HISTORY.get(table, ()):
        listed = sql.SQL(", ").join(map(sql.Identifier, columns))
        statements.append(sql.SQL("GRANT UPDATE ({}) ON {} TO {}").format(listed, name, _APP))
    return statements


def _is(connection: psycopg.Connection, query: str, values: Mapping[str, object]) -> bool:
    row = connection.execute(query.encode(), values).fetchone()
    return row is not None and bool(row[0])
