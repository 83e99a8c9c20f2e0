"""Whether this version can work with the database's schema; the same check for API processes and workers."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import NamedTuple

import psycopg
import sqlalchemy as sa
from psycopg import errors as pg_errors

from ipucloud.db import revisions
from ipucloud.db.rows import Query

OLDER = "The database's schema is older than this version needs: run `ipucloud migrate`."
NEWER = (
    "The database's schema is newer than this version supports: start the version of ipucloud that it was migrated for."
)

_MISSING = (pg_errors.UndefinedTable, pg_errors.UndefinedColumn)


class SchemaMismatchError(Exception):
    """Another process of this installation met a schema that lacks a table or column."""


class State(NamedTuple):
    """`revision` of the schema, empty for none; `now` on the database's clock, if it has one."""

    revision: str
    now: datetime | None


STATE = Query("SELECT coalesce((SELECT version_num FROM alembic_version), '') AS revision, app_now() AS now", State)
"""What a process checks of its database: the schema's revision, and the time."""


async def state_of(answer: Awaitable[State]) -> State:
    """The result of `STATE`; a database that was never migrated has no revision and no clock."""
    try:
        return await answer
    except (sa.exc.DBAPIError, psycopg.Error) as error:
        if _is_one_of(error, (*_MISSING, pg_errors.UndefinedFunction)):
            return State("", None)
        raise


def fault_of(revision: str) -> str | None:
    """Why this version must not work with a schema of this revision, and what to do; None when it may.

    A revision unknown to the code is newer: schemas only expand while processes of the previous version run.
    """
    return OLDER if revisions.is_older(revision) else None


def lacks_table_or_column(error: BaseException) -> bool:
    """True when a statement named a table or column that the database does not have."""
    return _is_one_of(error, (*_MISSING, SchemaMismatchError))


def _is_one_of(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    return isinstance(error.orig if isinstance(error, sa.exc.DBAPIError) else error, kinds)
