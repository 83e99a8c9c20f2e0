"""A copy of a database that takes its place at the end, or is thrown away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from ipucloud.db.tenancy import OWNER_ROLE
from ipucloud.laboratory.postgres import SUPERUSER

UrlOf = Callable[[str, str], str]
"""The libpq URL of a role and a database."""

_COPY = "CREATE DATABASE {copy} OWNER {owner} TEMPLATE {original}"
_SWAP = ("ALTER DATABASE {original} RENAME TO {old}", "ALTER DATABASE {copy} RENAME TO {original}")


@contextmanager
def replacing(url_of: UrlOf, original: str) -> Iterator[str]:
    """Copy the database, and have the copy take its name when the block ends well; gives the copy's name.

    The database is as it was until then, also when this process is killed: what that leaves is dropped by the next
    copy. Nobody may be connected to it at the beginning and at the end of the block. The copy does not wait for the
    disk; taking the name does.
    """
    names = {
        "original": sql.Identifier(original),
        "copy": sql.Identifier(copy := f"{original}_copy"),
        "old": sql.Identifier(f"{original}_old"),
        "owner": sql.Identifier(OWNER_ROLE),
    }

    with psycopg.connect(url_of(SUPERUSER, "postgres"), autocommit=True) as server:

        def execute(*statements: str) -> None:
            for statement in statements:
                server.execute(sql.SQL(statement).format(**names))

        _drop_leftovers(execute)
        execute(_COPY, "ALTER DATABASE {copy} SET synchronous_commit = off")
        yield copy
        execute("ALTER DATABASE {copy} RESET synchronous_commit")
        with server.transaction():
            execute(*_SWAP)
        _drop_leftovers(execute)


def _drop_leftovers(execute: Callable[..., None]) -> None:
    execute("DROP DATABASE IF EXISTS {copy} WITH (FORCE)", "DROP DATABASE IF EXISTS {old} WITH (FORCE)")
