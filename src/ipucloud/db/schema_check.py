"""Whether this version can work with the database's schema; the same check for API processes and workers."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psycopg
import sqlalchemy as sa
from psycopg import errors as pg_errors

import ipucloud
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
    return OLDER if is_older(revision) else None


def lacks_table_or_column(error: BaseException) -> bool:
    """True when a statement named a table or column that the database does not have."""
    return _is_one_of(error, (*_MISSING, SchemaMismatchError))


def _is_one_of(error: BaseException, kinds: tuple[type[BaseException], ...]) -> bool:
    return isinstance(error.orig if isinstance(error, sa.exc.DBAPIError) else error, kinds)


_PACKAGE = Path(ipucloud.__file__).parent
_FORMER = re.compile(r"\d{4}")

BASELINE = "0001_baseline"
FORMER_HEAD = "0340"
"""The last revision from before the baseline: the same schema. Their names were numbers alone."""


class UpgradeError(Exception):
    """The schema cannot be brought to the wanted revision; the text says why."""


def scripts() -> Path:
    """Where the revisions are: inside an installed package, or at the top of a source checkout."""
    packaged = _PACKAGE / "db" / "migrations"
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / "alembic"


@cache
def known() -> tuple[str, ...]:
    """The revisions that the code has, oldest first."""
    return tuple(sorted(path.stem for path in (scripts() / "versions").glob("*.py")))


def head() -> str:
    """The newest revision the code knows."""
    return known()[-1]


def is_former(revision: str) -> bool:
    """True for a revision from before the baseline."""
    return _FORMER.fullmatch(revision) is not None


def is_older(revision: str) -> bool:
    """True for a revision from which the code upgrades, and for the empty one of a database never migrated."""
    return not revision or is_former(revision) or revision in known()[:-1]


def is_newer(revision: str) -> bool:
    """True for a revision that the code does not know: schemas only expand while the previous version runs."""
    return not is_older(revision) and revision != head()
