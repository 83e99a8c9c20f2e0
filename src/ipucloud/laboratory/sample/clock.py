"""The clock of a database, moved."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import psycopg
from psycopg import sql

_SET = "CREATE OR REPLACE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS {}"
_TIME = "SELECT statement_timestamp()"
"""The clock's body as migrations have it."""


class Months(NamedTuple):
    """Two months in sequence, and the one after them; each is its first day."""

    first: date
    second: date
    after: date

    @classmethod
    def sealed_by(cls, now: datetime) -> Months:
        """The newest two months that have been over for a day, so that they can be sealed."""
        after = (now.astimezone(UTC) - timedelta(days=1)).date().replace(day=1)
        second = (after - timedelta(days=1)).replace(day=1)
        return cls((second - timedelta(days=1)).replace(day=1), second, after)

    def at(self, month: int, day: int, hour: int) -> datetime:
        """An hour, in UTC; `month` is 0, 1, or 2 for the month after."""
        return datetime(self[month].year, self[month].month, day, hour, tzinfo=UTC)


class DatabaseClock:
    """Sets `app_now()`, as the role that owns the schema. No other process may use the database meanwhile."""

    def __init__(self, owner_url: str) -> None:
        self._owner_url = owner_url

    def show(self, instant: datetime) -> None:
        """Make the clock show this instant, and go on from there."""
        behind = (datetime.now(UTC) - instant).total_seconds()
        self._set(f"{_TIME} - interval '{behind:.6f} seconds'")

    def show_time(self) -> None:
        """Make the clock show the time again."""
        self._set(_TIME)

    def _set(self, body: str) -> None:
        with psycopg.connect(self._owner_url, autocommit=True) as connection:
            connection.execute(sql.SQL(_SET).format(sql.Literal(body)))
