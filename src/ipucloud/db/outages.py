"""A database that does not answer, or not in time: how it is detected, and the advice to callers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import psycopg
import sqlalchemy as sa
from psycopg import errors as pg_errors

from ipucloud.kernel.errors import UNAVAILABLE, Problem

RETRY_AFTER = {"Retry-After": "2"}
_DIALECT = sa.create_engine("postgresql+psycopg://").dialect


def unavailable() -> Problem:
    return Problem(
        UNAVAILABLE,
        "The database does not answer. Send the same request with the same Idempotency-Key again shortly: it takes "
        "effect once, even if it already has.",
        headers=RETRY_AFTER,
    )


def too_busy() -> Problem:
    """The database answered: what the request needs was locked by others for too long."""
    return Problem(
        UNAVAILABLE,
        "Other requests change the same object, or the database is overloaded. Nothing was changed; send the request "
        "again shortly.",
        headers=RETRY_AFTER,
    )


@asynccontextmanager
async def reachable() -> AsyncIterator[None]:
    """Turn what a database that does not answer, or not in time, raises into a `Problem` of kind `unavailable`."""
    try:
        yield
    except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
        if gave_up(error):
            raise too_busy() from error
        if is_unreachable(error) and not asks_again(error):
            raise unavailable() from error
        raise


def is_unreachable(error: sa.exc.DBAPIError | sa.exc.TimeoutError) -> bool:
    """True when the server is down, restarting, out of connections, read-only or out of disk, or a lock stays taken."""
    if isinstance(error, sa.exc.TimeoutError):
        return True
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)
    return error.connection_invalidated or state[:2] in {"08", "53", "57"} or state in {"25006", "55P03"}


def gave_up(error: Exception) -> bool:
    """True when a statement was ended by `lock_timeout` or `statement_timeout`; its transaction is rolled back."""
    return isinstance(error, sa.exc.DBAPIError) and isinstance(
        error.orig, pg_errors.LockNotAvailable | pg_errors.QueryCanceled
    )


def asks_again(error: Exception) -> bool:
    """True when the server rolled the transaction back so that others could proceed; it may succeed now."""
    return isinstance(error, sa.exc.DBAPIError) and isinstance(
        error.orig, pg_errors.DeadlockDetected | pg_errors.SerializationFailure
    )


def connection_died(error: BaseException | None) -> bool:
    """True for a connection that was open; one that cannot be opened is not retried."""
    return isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated


def as_sqlalchemy(error: psycopg.Error, *, connection_died: bool) -> sa.exc.DBAPIError:
    """What SQLAlchemy raises for an error of the driver; the statement and its values are left out."""
    wrapped: Any = sa.exc.DBAPIError.instance(
        None, None, error, psycopg.Error, hide_parameters=True, connection_invalidated=connection_died, dialect=_DIALECT
    )
    return cast("sa.exc.DBAPIError", wrapped)
