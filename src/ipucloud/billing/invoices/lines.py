"""The lines of an account's month: its charges, grouped by the database.

The result has a row for each project, SKU, region, price version, month of usage and period of the tax rates, however
many charges there are.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.invoices.tax import STANDARD_KIND
from ipucloud.billing.reports.rollup import DAY_CLOSED, HOLDS
from ipucloud.db.documents import clauses
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import places_of, rounded

ROWS_AT_ONCE = 200
"""Lines fetched at once; memory does not grow with how many there are."""


# By the day of `hour` rather than of `started_at`, which is only needed to tell what was used before a credit expired.
def _used(tax_days: str) -> str:
    """`tax_days`: SQL of the days within a month on which the standard rate of any country changed, in order."""
    return f"""
SELECT account_id, currency, project_id, p.slug AS project, sku, region, price_id, unit_price, usage_month,
       greatest(usage_month, ({tax_days})[tax_period]) AS since,
       least((usage_month + interval '1 month')::date, ({tax_days})[tax_period + 1]) AS until,
       minutes, machine_minutes, credited_machine_minutes, cost
  FROM (SELECT account_id, currency, project_id, sku, region, price_id, unit_price,
               date_trunc('month', day::timestamp)::date AS usage_month,
               width_bucket(day, ({tax_days})) AS tax_period,
               sum(minutes)::bigint AS minutes, sum(machine_minutes)::bigint AS machine_minutes,
               sum(credited_machine_minutes)::bigint AS credited_machine_minutes, sum(cost) AS cost
          FROM (
"""  # noqa: S608  # our own text


_CHARGED = """
SELECT account_id, currency, project_id, sku, region, price_id, unit_price,
       CAST(hour AT TIME ZONE 'UTC' AS date) AS day, minutes, CAST(minutes AS bigint) * quantity AS machine_minutes,
       CAST(minutes AS bigint) * credited AS credited_machine_minutes, cost
  FROM usage_charges AS c
"""
_PRINTED = """
          ) AS charged
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) AS used
  JOIN projects p ON p.id = used.project_id
 -- Charges that net to nothing have a line too, which the charges of an export refer to; it is behind all others.
 ORDER BY account_id, currency, used.minutes = 0 AND used.machine_minutes = 0 AND used.credited_machine_minutes = 0,
          usage_month DESC, p.slug, sku, region, unit_price, price_id, since
"""
# The first rows come when the whole month is grouped; the next ones when the invoices of those before are issued.
_PATIENCE = (
    sa.text("SET LOCAL statement_timeout = '10min'"),
    sa.text("SET LOCAL idle_in_transaction_session_timeout = '10min'"),
    # All rows are needed: a plan for fast first rows would look up the charges one by one.
    sa.text("SET LOCAL cursor_tuple_fraction = 1"),
    # There are few lines, but the planner expects many: it would sort the charges, or look them up in order.
    sa.text("SET LOCAL enable_sort = off"),
    sa.text("SET LOCAL enable_incremental_sort = off"),
    sa.text("SET LOCAL work_mem = '64MB'"),
)


class Line(NamedTuple):
    """A line of an invoice: machine-minutes of a SKU under one price version, used in [since, until).

    `cost` is exact. `credited_machine_minutes` are not among `machine_minutes`, and cost nothing. A `usage_month`
    before the bill's is a correction. The days are all of the month, unless a tax rate changed within it.
    """

    account_id: UUID
    currency: str
    project_id: UUID
    project: str
    sku: str
    region: str
    price_id: UUID
    unit_price: Decimal
    usage_month: date
    since: date
    until: date
    minutes: int
    machine_minutes: int
    credited_machine_minutes: int
    cost: Decimal

    @property
    def amount(self) -> Decimal:
        """As it is printed: rounded to the currency's decimal places, halves away from zero."""
        return rounded(self.cost, places_of(self.currency))

    def continues(self, before: Line) -> bool:
        """Whether it is the same usage as that of the line before, on the days that follow."""
        return before.until == self.since and before[:_SAME] == self[:_SAME]

    def after(self, before: Line) -> Line:
        """One line of both."""
        return self._replace(
            since=before.since,
            minutes=before.minutes + self.minutes,
            machine_minutes=before.machine_minutes + self.machine_minutes,
            credited_machine_minutes=before.credited_machine_minutes + self.credited_machine_minutes,
            cost=before.cost + self.cost,
        )


_SAME = Line._fields.index("since")

_TAX_DAYS = """
SELECT coalesce(array_agg(DISTINCT day ORDER BY day), '{}') AS days
  FROM tax_rates CROSS JOIN LATERAL (VALUES (valid_from), (valid_to)) AS changed (day)
 WHERE kind = :kind AND day <> date_trunc('month', day)
"""
_TAX_DAYS_FIRST = Query(_TAX_DAYS, list[date])
# Not with a subquery for the days: it could keep PostgreSQL from grouping a month's charges in parallel.
_OF_MANY = Query(
    clauses(
        *(_used("CAST(:tax_days AS date[])"), _CHARGED),
        *("WHERE billing_month = :month AND account_id = ANY(CAST(:accounts AS uuid[]))", _PRINTED),
    ),
    Line,
    yield_per=ROWS_AT_ONCE,
)
# Few rows are left to be grouped into lines, and sorted.
_SUMMED_BY_DAY = """
SELECT c.account_id, c.currency, c.project_id, c.sku, c.region, c.price_id, c.unit_price, c.day,
       sum(c.minutes) AS minutes, sum(c.machine_minutes) AS machine_minutes,
       sum(c.credited_machine_minutes) AS credited_machine_minutes, sum(c.cost) AS cost
  FROM
"""
_EACH_DAY = "GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"
_OF_BILL = "c.account_id = :account_id AND c.currency = :currency AND c.billing_month = :month"
# Corrections of earlier months, whose hours are before the first day, are few, and are read from the charges.
_DRAFTED = Query(
    clauses(
        *("WITH turns AS MATERIALIZED (", _TAX_DAYS),
        """
        ), whole AS MATERIALIZED (
          SELECT rolled.day, rolled.version FROM day_rollups AS rolled
        """,
        DAY_CLOSED,
        "WHERE",
        HOLDS,
        """
             AND rolled.day >= :month AND rolled.day < CAST(:month AS date) + interval '1 month'
        ), loose AS MATERIALIZED (
          SELECT '-infinity'::timestamptz AS begins, CAST(:month AS date)::timestamp AT TIME ZONE 'UTC' AS ends
          UNION ALL
          SELECT begins, begins + interval '1 day'
            FROM generate_series(CAST(:month AS date)::timestamp AT TIME ZONE 'UTC',
                                 (CAST(:month AS date) + interval '1 month - 1 day') AT TIME ZONE 'UTC',
                                 interval '1 day') AS begins
           WHERE NOT EXISTS (SELECT FROM whole WHERE whole.day = (begins AT TIME ZONE 'UTC')::date)
        )
        """,
        _used("SELECT days FROM turns"),
        _SUMMED_BY_DAY,
        "usage_days AS c JOIN whole USING (day, version) WHERE",
        _OF_BILL,
        _EACH_DAY,
        "UNION ALL",
        _SUMMED_BY_DAY,
        "loose CROSS JOIN LATERAL (",
        _CHARGED,
        "WHERE",
        _OF_BILL,
        "AND c.hour >= loose.begins AND c.hour < loose.ends) AS c",
        _EACH_DAY,
        _PRINTED,
    ),
    Line,
)


@dataclass(frozen=True, slots=True)
class Bill:
    """The basis of an invoice: an account's charges of a month in one currency."""

    account_id: UUID
    currency: str
    month: date

    def values(self) -> dict[str, object]:
        return {"account_id": self.account_id, "currency": self.currency, "month": self.month}


async def drafted_lines(connection: Statements, bill: Bill) -> Sequence[Line]:
    """Its lines as of now: those of the month first, then corrections of earlier ones.

    Days that are rolled up are read from the roll-up, all others from the charges, in one statement: the lines are
    those that `lines_of_many` gives of the same charges.
    """
    return await _DRAFTED.all(connection, bill.values() | {"kind": STANDARD_KIND})


async def lines_of_many(
    database: Database, month: date, accounts: Sequence[UUID]
) -> AsyncGenerator[tuple[Bill, Sequence[Line]]]:
    """The bills of the accounts that have lines in the month, one after the other, each with its lines as printed.

    The charges are read once for all of them: the database looks each account up when they are few, and reads the
    whole month when they are many. One connection is held until the last bill was taken.
    """
    bill, lines = None, []
    async with database.begin() as connection:
        for statement in _PATIENCE:
            await connection.execute(statement)
        values: dict[str, object] = {"month": month, "accounts": list(accounts)}
        values["tax_days"] = await _TAX_DAYS_FIRST.one(connection, {"kind": STANDARD_KIND})
        async for row in await connection.stream(_OF_MANY.statement, values):
            line = Line(*row)
            whose = Bill(line.account_id, line.currency, month)
            if bill is not None and whose != bill:
                yield bill, lines
                lines = []
            bill = whose
            lines.append(line)
    if bill is not None:
        yield bill, lines
