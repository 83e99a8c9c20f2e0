"""Minutes without a price: recorded with the close of their hour, so that nobody has to search for them.

The price book cannot have a hole (`pricing.holes`), but it can begin too late, and may have had one before that rule.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.hour import MAYBE_UNPRICED, UNPRICED
from ipucloud.contract.event_payloads.money import UnpricedUse
from ipucloud.contract.event_types.money import PRICE_MISSING, PRICE_SUPPLIED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators


class _Use(NamedTuple):
    """Minutes of an hour; `elsewhere`: other hours have some of the same account, SKU, region and currency."""

    account_id: UUID
    sku: str
    region: str
    currency: str
    minutes: int
    elsewhere: bool


_ELSEWHERE = """
, EXISTS (SELECT FROM unpriced_minutes o WHERE o.hour <> CAST(:hour AS timestamptz)
             AND (o.account_id, o.sku, o.region, o.currency) = (n.account_id, n.sku, n.region, n.currency)) AS elsewhere
"""
# Asked first, and nearly always no: it costs a fraction of the two statements that count.
_ANY = Query(
    clauses("SELECT EXISTS (SELECT FROM unpriced_minutes WHERE hour = :hour) OR EXISTS (", MAYBE_UNPRICED, ")"), bool
)
_NOTED = "SELECT account_id, sku, region, currency, minutes"
_KNOWN = Query(clauses(_NOTED, _ELSEWHERE, "FROM unpriced_minutes n WHERE hour = :hour"), _Use)
_FOUND = Query(clauses("SELECT n.*", _ELSEWHERE, "FROM (", UNPRICED, ") AS n"), _Use)
_FORGET = sa.text("DELETE FROM unpriced_minutes WHERE hour = :hour")
_NOTE = sa.text(
    """
    INSERT INTO unpriced_minutes (hour, account_id, sku, region, currency, minutes)
    VALUES (:hour, :account_id, :sku, :region, :currency, :minutes)
    """
)


async def note_unpriced(connection: AsyncConnection, hour: datetime) -> None:
    """Record which minutes of the hour have no price now, in the transaction that posts those that have one.

    Operators get an event with the first hour of an account's SKU that has any, and with the last that has none left.
    """
    parameters = {"hour": hour}
    if not await _ANY.one(connection, parameters):
        return
    former = {each[:4]: each for each in await _KNOWN.all(connection, parameters)}
    present = {each[:4]: each for each in await _FOUND.all(connection, parameters)}
    if {key: each.minutes for key, each in former.items()} == {key: each.minutes for key, each in present.items()}:
        return
    await connection.execute(_FORGET, parameters)
    if present:
        await connection.execute(_NOTE, [_values(hour, each) for each in present.values()])
    for key, row in present.items():
        if key not in former and not row.elsewhere:
            await _notify(connection, PRICE_MISSING, hour, row)
    for key, row in former.items():
        if key not in present and not row.elsewhere:
            await _notify(connection, PRICE_SUPPLIED, hour, row)


def _values(hour: datetime, use: _Use) -> dict[str, object]:
    values = use._asdict() | {"hour": hour}
    del values["elsewhere"]
    return values


async def _notify(connection: AsyncConnection, kind: EventType, hour: datetime, use: _Use) -> None:
    data = UnpricedUse(account_id=use.account_id, sku=use.sku, currency=use.currency, hour=hour)
    await record_for_operators(connection, kind, region=use.region, data=data)
