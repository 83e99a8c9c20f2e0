"""Numbers without gaps: a row for each series and year, locked until the transaction that uses a number ends.

If that transaction fails, its number is used by the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

_NEXT = Query(
    """
    INSERT INTO invoice_counters AS c (series, year, last) VALUES (:series, :year, 1)
    ON CONFLICT (series, year) DO UPDATE SET last = c.last + 1
    RETURNING last
    """,
    int,
)
TODAY = "(app_now() AT TIME ZONE 'UTC')::date"
"""SQL of the day in UTC."""
_TODAY = Query(f"SELECT {TODAY}", date)  # our own text


@dataclass(frozen=True, slots=True)
class Number:
    series: str
    year: int
    sequence: int

    def __str__(self) -> str:
        return f"{self.series}-{self.year}-{self.sequence:06d}"


async def next_number(connection: AsyncConnection, series: str, day: date) -> Number:
    """The next number of the series in the day's year."""
    sequence = await _NEXT.one(connection, {"series": series, "year": day.year})
    return Number(series, day.year, sequence)


async def today(connection: Statements) -> date:
    """The day in UTC."""
    return await _TODAY.one(connection)
