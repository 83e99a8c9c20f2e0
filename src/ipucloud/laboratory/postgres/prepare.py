"""What a server of ours holds before its first migration: its roles and an empty database."""

from collections.abc import Callable

import psycopg
from psycopg import sql

from ipucloud.db.tenancy import APP_ROLE, OWNER_ROLE, TENANT_ROLE

DATABASE = "ipucloud"
CONNECT_SECONDS = 20

_ATTRIBUTES = {
    OWNER_ROLE: sql.SQL("LOGIN CREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS"),
    APP_ROLE: sql.SQL("LOGIN NOCREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS"),
}
_TENANT = (
    sql.SQL("CREATE ROLE {0} NOLOGIN NOCREATEROLE NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS"),
    sql.SQL("GRANT {0} TO {1}"),
)


def prepare_roles(superuser_url: str, verifier: Callable[[str], str]) -> None:
    """Make the owner's and the application's role, or bring existing ones back to their attributes and password.

    The role that the application takes to read for tenants has no password: nobody logs in as it.

    `verifier` gives what the server stores of a role's password.
    """
    with psycopg.connect(superuser_url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        present = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        for role, attributes in _ATTRIBUTES.items():
            verb = sql.SQL("ALTER" if role in present else "CREATE")
            connection.execute(
                sql.SQL("{} ROLE {} {} PASSWORD {}").format(verb, sql.Identifier(role), attributes, verifier(role))
            )
        if TENANT_ROLE not in present:
            for statement in _TENANT:
                connection.execute(statement.format(sql.Identifier(TENANT_ROLE), sql.Identifier(APP_ROLE)))


def prepare_database(superuser_url: Callable[[str], str], name: str = DATABASE) -> None:
    """Make a database for migrations to fill: owned by the owner's role, closed to everybody else's tables.

    Safe to repeat. `superuser_url` gives the superuser's URL of a database.
    """
    database, owner = sql.Identifier(name), sql.Identifier(OWNER_ROLE)
    with psycopg.connect(superuser_url("postgres"), autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, owner))
    with psycopg.connect(superuser_url(name), autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        connection.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(owner))
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
