"""Periods of days. Pure.

Every row of a bill has one day of the bill's month, so that periods that divide a month have every row exactly once:

- a charge has the day in which it began; one of a month before, which is a correction, the first day of the month;
- an invoice's own rows have the last day of the invoice's month;
- a credit note's rows have the day on which it was issued.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from ipucloud.contract.exports import MAX_DAYS


@dataclass(frozen=True, slots=True)
class Period:
    """Days of the bill in [since, until), UTC. Raises ValueError when there is none, or more than `MOST_DAYS`."""

    since: date
    until: date

    def __post_init__(self) -> None:
        if not 1 <= (self.until - self.since).days <= MAX_DAYS:
            raise ValueError(f"a period has 1 to {MAX_DAYS} days")

    @property
    def days(self) -> int:
        return (self.until - self.since).days

    @property
    def month(self) -> date | None:
        """The first day, if the period is a calendar month."""
        whole = self.since.day == 1 and self.until == next_month(self.since)
        return self.since if whole else None

    def __str__(self) -> str:
        """`2026-05` for a month, else `2026-05-04--2026-06-01`."""
        return f"{self.since:%Y-%m}" if self.month else f"{self.since}--{self.until}"

    def by_month(self) -> tuple[Period, ...]:
        """The same days, cut at the ends of months: each part is of one bill."""
        parts, since = [], self.since
        while since < self.until:
            until = min(next_month(since), self.until)
            parts.append(Period(since, until))
            since = until
        return tuple(parts)


def next_month(day: date) -> date:
    """The first day of the month after a day's."""
    return (day.replace(day=1) + timedelta(days=31)).replace(day=1)


def day_of(day: date) -> Period:
    """One day."""
    return Period(day, day + timedelta(days=1))


def month_of(day: date) -> Period:
    """The whole month of a day."""
    return Period(day.replace(day=1), next_month(day))
