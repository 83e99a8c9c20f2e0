"""The leaves of a bill: its facts as they were written down, then its charges, read in parts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple
from uuid import UUID

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query

AT_ONCE = 5000
"""Charges read at once; no connection is held between two parts, and memory does not grow with how many there are."""
_FACTS = Query(
    """
    SELECT fact FROM billed_facts WHERE (month, account_id, currency) = (:month, :account_id, :currency)
     ORDER BY fact COLLATE "C"
    """,
    str,
)


class _Charge(NamedTuple):
    hour: datetime
    resource_id: UUID
    first_minute: int
    rev: int
    leaf: str


_CHARGES = Query(
    """
    SELECT hour, resource_id, first_minute, rev,
           concat_ws('|', 'charge', date_part('epoch', hour)::bigint, resource_id, first_minute, rev, project_id,
                     interval_id, price_id, date_part('epoch', started_at)::bigint,
                     date_part('epoch', ended_at)::bigint, minutes, quantity, credited, sku, region,
                     trim_scale(unit_price), trim_scale(cost)) AS leaf
      FROM usage_charges
     WHERE billing_month = :month AND account_id = :account_id AND currency = :currency
       AND hour >= :hour
       AND (hour, resource_id, first_minute, rev) > (:hour, CAST(:resource_id AS uuid), :first_minute, :rev)
     ORDER BY hour, resource_id, first_minute, rev LIMIT :limit
    """,
    _Charge,
)


@dataclass(frozen=True, slots=True)
class Billed:
    """An account's sealed charges of a month in one currency."""

    month: date
    account_id: UUID
    currency: str

    @property
    def values(self) -> dict[str, object]:
        return {"month": self.month, "account_id": self.account_id, "currency": self.currency}

    def leaf(self, root: bytes, leaves: int) -> str:
        """What the month's tree has of the bill."""
        return "|".join(["bill", f"{self.month:%Y-%m}", str(self.account_id), self.currency, root.hex(), str(leaves)])


async def facts_of(database: Database, bill: Billed) -> list[str]:
    async with database.read() as connection:
        return await _FACTS.all(connection, bill.values)


async def charges_of(database: Database, bill: Billed) -> AsyncGenerator[list[str]]:
    """Parts of the bill's charges, in order of hour, resource, minute and revision. They never change."""
    behind = _Charge(datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0), -1, 0, "")
    while True:
        after = {name: value for name, value in behind._asdict().items() if name != "leaf"}
        async with database.read() as connection:
            charges = await _CHARGES.all(connection, bill.values | after | {"limit": AT_ONCE})
        if charges:
            yield [each.leaf for each in charges]
            behind = charges[-1]
        if len(charges) < AT_ONCE:
            return
