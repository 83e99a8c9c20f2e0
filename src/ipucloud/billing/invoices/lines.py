"""The lines of an account's month: its charges, grouped by the database.

The result has a row for each project, SKU, region, price version and month of usage, however many charges there are.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa

from ipucloud.db.documents import clauses
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import rounded

ROWS_AT_ONCE = 200
"""Lines fetched at once; memory does not grow with how many there are."""

# `started_at` rather than `hour` tells what was used before a credit expired; a line is the same either way.
_USED = """
SELECT account_id, currency, project_id, p.slug AS project, sku, region, price_id, unit_price, usage_month, minutes,
       machine_minutes, credited_machine_minutes, cost
  FROM (SELECT account_id, currency, project_id, sku, region, price_id, unit_price,
               date_trunc('month', hour AT TIME ZONE 'UTC')::date AS usage_month, sum(minutes) AS minutes,
               sum(CAST(minutes AS bigint) * quantity)::bigint AS machine_minutes,
               sum(CAST(minutes AS bigint) * credited)::bigint AS credited_machine_minutes, sum(cost) AS cost
          FROM usage_charges
"""
_PRINTED = """
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) AS used
  JOIN projects p ON p.id = used.project_id
 WHERE used.minutes <> 0 OR used.machine_minutes <> 0 OR used.credited_machine_minutes <> 0
 ORDER BY account_id, currency, usage_month DESC, p.slug, sku, region, unit_price, price_id
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
    """A line of an invoice: machine-minutes of a SKU under one price version.

    `cost` is exact. `credited_machine_minutes` are not among `machine_minutes`, and cost nothing. A `usage_month`
    before the bill's is a correction.
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
    minutes: int
    machine_minutes: int
    credited_machine_minutes: int
    cost: Decimal

    @property
    def amount(self) -> Decimal:
        """As it is printed: rounded to cents, halves away from zero."""
        return rounded(self.cost)


_OF_ONE = Query(
    clauses(_USED, "WHERE billing_month = :month AND account_id = :account_id AND currency = :currency", _PRINTED),
    Line,
)
_OF_MANY = Query(
    clauses(_USED, "WHERE billing_month = :month AND account_id = ANY(CAST(:accounts AS uuid[]))", _PRINTED),
    Line,
    yield_per=ROWS_AT_ONCE,
)


@dataclass(frozen=True, slots=True)
class Bill:
    """The basis of an invoice: an account's charges of a month in one currency."""

    account_id: UUID
    currency: str
    month: date

    def values(self) -> dict[str, object]:
        return {"account_id": self.account_id, "currency": self.currency, "month": self.month}


async def lines_of(connection: Statements, bill: Bill) -> Sequence[Line]:
    """Its lines as they are printed: those of the month first, then corrections of earlier ones."""
    return await _OF_ONE.all(connection, bill.values())


async def lines_of_many(
    database: Database, month: date, accounts: Sequence[UUID]
) -> AsyncGenerator[tuple[Bill, Sequence[Line]]]:
    """The bills of the accounts that have lines in the month, one after the other, as `lines_of` gives each.

    The charges are read once for all of them: the database looks each account up when they are few, and reads the
    whole month when they are many. One connection is held until the last bill was taken.
    """
    bill, lines = None, []
    async with database.begin() as connection:
        for statement in _PATIENCE:
            await connection.execute(statement)
        async for row in await connection.stream(_OF_MANY.statement, {"month": month, "accounts": list(accounts)}):
            line = Line(*row)
            whose = Bill(line.account_id, line.currency, month)
            if bill is not None and whose != bill:
                yield bill, lines
                lines = []
            bill = whose
            lines.append(line)
    if bill is not None:
        yield bill, lines
