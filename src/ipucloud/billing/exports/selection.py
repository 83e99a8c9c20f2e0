"""The days and the rows of an export, and the session that reads them: one snapshot for the whole file.

Every row of a bill has one day of the bill's month, so that periods that divide a month have every row exactly once:

- a charge has the day in which it began; one of a month before, which is a correction, the first day of the month;
- an invoice's own rows have the last day of the invoice's month;
- a credit note's rows have the day on which it was issued.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

from ipucloud.billing.exports.datasets import Column, columns_of
from ipucloud.contract.exports import MAX_DAYS, Dataset, FileFormat, FocusVersion
from ipucloud.db.tenancy import APP_ROLE

Connection = psycopg.Connection[tuple[Any, ...]]
APPLICATION = "ipucloud export"
"""The name of a child process's connections in PostgreSQL's `pg_stat_activity`."""
_SESSION = (
    f"-c role={APP_ROLE} -c timezone=UTC -c datestyle=ISO -c jit=off -c lock_timeout=5s -c statement_timeout=30min"
    " -c idle_in_transaction_session_timeout=5min -c work_mem=64MB"
)


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


@dataclass(frozen=True, slots=True)
class Selection:
    """Days of the bill, of one project or of everything that one account pays for.

    `provider` is the service's name; `regions` are region names by slug. `provisional`: with rows of hours that are not
    closed. Values per month are those of `parts`.
    """

    dataset: Dataset
    version: FocusVersion
    format: FileFormat
    period: Period
    project_id: UUID | None
    account_id: UUID | None
    provider: str
    regions: Mapping[str, str]
    provisional: bool = False

    def __post_init__(self) -> None:
        if (self.project_id is None) == (self.account_id is None):
            raise ValueError("an export is of a project or of an account")

    @property
    def columns(self) -> tuple[Column, ...]:
        return columns_of(self.dataset, self.version)

    @property
    def parts(self) -> tuple[Selection, ...]:
        """The same by the months of the bills: a file has one after the other."""
        return tuple(replace(self, period=part) for part in self.period.by_month())

    @property
    def month(self) -> date:
        """The first day of the bill's month."""
        return self.period.since.replace(day=1)

    @property
    def next_month(self) -> date:
        return next_month(self.month)

    @property
    def values(self) -> dict[str, object]:
        """Parameters of the statements."""
        return {
            "month": self.month,
            "since": self.period.since,
            "until": self.period.until,
            "ends_month": self.period.until == self.next_month,
            "project_id": self.project_id,
            "account_id": self.account_id,
            "provisional": self.provisional,
            "provider": self.provider,
            "regions": list(self.regions),
            "region_names": list(self.regions.values()),
        }

    @property
    def of_charges(self) -> sql.Composable:
        """Condition on `usage_charges AS c` of the month. Corrections of months before have its first day."""
        whose = _PROJECT_CHARGES if self.account_id is None else _ACCOUNT_CHARGES
        since = _FROM_SINCE if self.period.since > self.month else sql.SQL("")
        until = _UP_TO_UNTIL if self.period.until < self.next_month else sql.SQL("")
        return whose + since + until

    @property
    def of_documents(self) -> sql.SQL:
        """Condition on `invoices AS i`: those with a line that is selected."""
        return _PROJECT_DOCUMENTS if self.account_id is None else _ACCOUNT_INVOICES

    @property
    def of_lines(self) -> sql.SQL:
        """Condition on `invoice_lines AS l` of those."""
        return _PROJECT_LINES if self.account_id is None else sql.SQL("true")

    @property
    def of_invoices(self) -> sql.SQL:
        """Condition on `invoices AS i`: an invoice's own rows are a project's only if no other is on it."""
        return _PROJECT_INVOICES if self.account_id is None else _ACCOUNT_INVOICES


_PROJECT_CHARGES = sql.SQL(
    "c.project_id = %(project_id)s"
    " AND c.account_id IN (SELECT account_id FROM project_accounts WHERE project_id = %(project_id)s)"
)
_ACCOUNT_CHARGES = sql.SQL("c.account_id = %(account_id)s")
_FROM_SINCE = sql.SQL(" AND c.hour >= %(since)s::timestamp AT TIME ZONE 'UTC'")
_UP_TO_UNTIL = sql.SQL(" AND c.hour < %(until)s::timestamp AT TIME ZONE 'UTC'")
_PROJECT_INVOICES = sql.SQL(
    "i.account_id IN (SELECT account_id FROM project_accounts WHERE project_id = %(project_id)s)"
    " AND EXISTS (SELECT FROM invoice_lines l WHERE l.invoice_id = i.id)"
    " AND NOT EXISTS (SELECT FROM invoice_lines l WHERE l.invoice_id = i.id AND l.project_id <> %(project_id)s)"
)
_PROJECT_LINES = sql.SQL("l.project_id = %(project_id)s")
_PROJECT_DOCUMENTS = sql.SQL(
    "i.account_id IN (SELECT account_id FROM project_accounts WHERE project_id = %(project_id)s)"
    " AND EXISTS (SELECT FROM invoice_lines l WHERE l.invoice_id = i.id AND l.project_id = %(project_id)s)"
)
_ACCOUNT_INVOICES = sql.SQL("i.account_id = %(account_id)s")


@contextmanager
def snapshot(url: str) -> Iterator[Connection]:
    """A connection whose statements all see one snapshot. It writes only temporary tables."""
    # Parameters are bound here, because COPY takes none.
    with psycopg.connect(
        url,
        options=_SESSION,
        fallback_application_name=APPLICATION,
        connect_timeout=3,
        cursor_factory=psycopg.ClientCursor,
    ) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield connection
        connection.rollback()


def text(statement: str) -> sql.SQL:
    """A statement of this package's own text."""
    return sql.SQL(statement)
