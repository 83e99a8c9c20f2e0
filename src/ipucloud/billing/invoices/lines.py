"""The lines of an account's month: its charges, grouped by the database.

However many charges there are, a row comes back for each project, SKU, region, price version and month of usage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

import sqlalchemy as sa

from ipucloud.db.statements import Statements

# `started_at` rather than `hour` tells what was used before a credit expired; a line is the same either way.
_LINES = sa.text(
    """
    SELECT used.*, p.slug AS project
      FROM (SELECT project_id, sku, region, price_id, unit_price,
                   date_trunc('month', hour AT TIME ZONE 'UTC')::date AS usage_month,
                   sum(minutes) AS minutes, sum(CAST(minutes AS bigint) * quantity) AS machine_minutes,
                   sum(cost) AS cost
              FROM usage_charges
             WHERE billing_month = :month AND account_id = :account_id AND currency = :currency
             GROUP BY 1, 2, 3, 4, 5, 6) AS used
      JOIN projects p ON p.id = used.project_id
     WHERE used.minutes <> 0 OR used.machine_minutes <> 0
     ORDER BY usage_month DESC, p.slug, sku, region, unit_price, price_id
    """
)


@dataclass(frozen=True, slots=True)
class Line:
    """So many machine-minutes of a SKU under one price version; `usage_month` before the bill's is a correction."""

    project_id: UUID
    project: str
    sku: str
    region: str
    price_id: UUID
    unit_price: Decimal
    usage_month: date
    minutes: int
    machine_minutes: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Bill:
    """What an invoice is about: an account's charges of a month in one currency."""

    account_id: UUID
    currency: str
    month: date

    def values(self) -> dict[str, object]:
        return {"account_id": self.account_id, "currency": self.currency, "month": self.month}


async def lines_of(connection: Statements, bill: Bill) -> Sequence[Line]:
    """Its lines as they are printed: those of the month first, then corrections of earlier ones."""
    rows = (await connection.execute(_LINES, bill.values())).mappings()
    return [
        Line(**{**row, "minutes": int(row["minutes"]), "machine_minutes": int(row["machine_minutes"])}) for row in rows
    ]
