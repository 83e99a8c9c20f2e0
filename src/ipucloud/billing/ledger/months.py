"""Billing months: a partition of charges each, created in advance and sealed on the second day of the next month.

When a month is sealed, the facts of its charges are written down: what later proves each bill, whatever is recorded
after. A fact is a text: `interval|id|project|cluster|flavor|sku|region|machines|credited|anchor|start|end` or
`price|id|list or contract|sku|region|unit price|from|to`, times in seconds since 1970. An interval ends with the month
at the latest; a price that goes on has `-`. Prices are all that were in force while anything of the bill was in use.
"""

from __future__ import annotations

from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.ledger.close import correct_hour, due_hours, verify_hour
from ipucloud.contract.event_payloads.money import BillingMonthOf
from ipucloud.contract.event_types.money import BILLING_MONTH_LATE, BILLING_MONTH_SEALED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators
from ipucloud.kernel.failpoints import failpoint

_LONG = sa.text("SET LOCAL statement_timeout = '10min'")
_EPOCH = "date_part('epoch', {0})::bigint"
_PRICE = f"""
concat_ws('|', 'price', v.id, {{kind}}, v.sku, v.region, trim_scale(v.unit_price), {_EPOCH.format("v.valid_from")},
          coalesce({_EPOCH.format("v.valid_to")}::text, '-'))
"""
_IN_FORCE = """
(v.sku, v.region, v.currency) = (a.sku, a.region, a.currency) AND v.valid_from < month.ends
AND (v.valid_to IS NULL OR v.valid_to > greatest(a.since, v.valid_from))
"""
_RECORD = sa.text(
    f"""
    WITH month AS (
      SELECT CAST(:month AS date) AS month, (CAST(:month AS date) + interval '1 month') AT TIME ZONE 'UTC' AS ends
    ), used AS MATERIALIZED (
      SELECT DISTINCT account_id, currency, interval_id FROM usage_charges WHERE billing_month = CAST(:month AS date)
    ), piece AS MATERIALIZED (
      SELECT used.account_id, u.* FROM used JOIN usage_intervals u ON u.id = used.interval_id
    ), article AS (
      SELECT account_id, currency, sku, region, min(started_at) AS since FROM piece
       GROUP BY account_id, currency, sku, region
    )
    INSERT INTO billed_facts (month, account_id, currency, fact)
    SELECT month.month, i.account_id, i.currency,
           concat_ws('|', 'interval', i.id, i.project_id, i.resource_id, i.flavor, i.sku, i.region, i.quantity,
                     i.credited, {_EPOCH.format("i.anchor_at")}, {_EPOCH.format("i.started_at")},
                     {_EPOCH.format("least(i.ended_at, month.ends)")})
      FROM piece i, month
    UNION
    SELECT month.month, a.account_id, a.currency, {_PRICE.format(kind="'list'")}
      FROM month, article a JOIN prices v ON true WHERE {_IN_FORCE}
    UNION
    SELECT month.month, a.account_id, a.currency, {_PRICE.format(kind="'contract'")}
      FROM month, article a JOIN contract_prices v ON v.account_id = a.account_id WHERE {_IN_FORCE}
    ON CONFLICT DO NOTHING
    """  # noqa: S608  # our own text
)


async def record_facts(connection: AsyncConnection, month: date) -> None:
    """Write the month's facts down, in the transaction that seals it."""
    await connection.execute(_LONG)
    await connection.execute(_RECORD, {"month": month})


AHEAD_MONTHS = 2
"""Months that are open before they begin."""
HOURS_AT_ONCE = 48
"""Hours verified per turn, so that closing new hours does not wait for a whole month."""

_MISSING = Query(
    """
    SELECT month::date AS month
      FROM (SELECT least(app_now(), (SELECT min(started_at) FROM usage_intervals), (SELECT min(hour) FROM hour_closes))
                   AS at) AS first,
           generate_series(date_trunc('month', first.at AT TIME ZONE 'UTC'),
                           (app_now() AT TIME ZONE 'UTC') + make_interval(months => :ahead), interval '1 month')
             AS month
     WHERE NOT EXISTS (SELECT FROM billing_months b WHERE b.month = month.month::date)
     ORDER BY month
    """,
    date,
)
_OPEN = sa.text("SELECT open_billing_month(:month)")
_TO_SEAL = Query(
    """
    SELECT month FROM billing_months
     WHERE sealed_at IS NULL AND (month + interval '1 month 1 day') AT TIME ZONE 'UTC' <= app_now()
     ORDER BY month
    """,
    date,
)
_UNVERIFIED = Query(
    """
    SELECT hour FROM hour_closes c
     WHERE hour >= CAST(:month AS date)::timestamp AT TIME ZONE 'UTC'
       AND hour < (CAST(:month AS date) + interval '1 month') AT TIME ZONE 'UTC'
       AND (verified_at IS NULL OR EXISTS (SELECT FROM dirty_hours d WHERE d.hour = c.hour))
     ORDER BY hour
    """,
    datetime,
)
_SEAL = Query("SELECT seal_billing_month(:month)", bool)
_LATE = Query(
    """
    UPDATE billing_months SET late_at = app_now()
     WHERE sealed_at IS NULL AND late_at IS NULL AND (month + interval '1 month 2 days') AT TIME ZONE 'UTC' <= app_now()
       AND opened_at + interval '1 day' <= app_now()
    RETURNING month
    """,
    date,
)


async def open_months(database: Database) -> list[date]:
    """Create missing partitions from the month of the first usage to the next month; returns the new ones."""
    async with database.read() as connection:
        missing = await _MISSING.all(connection, {"ahead": AHEAD_MONTHS})
    for month in missing:
        async with database.begin() as connection:
            await connection.execute(_OPEN, {"month": month})
        failpoint("months.opened")
    return missing


async def seal_months(database: Database) -> list[date]:
    """Seal every month that ended a day ago, after a last check of each of its hours; returns the sealed ones.

    Each hour is verified and recorded in its own transaction, so that an interrupted check continues where it
    stopped. A month with an hour that is not closed stays open; minutes without a price are charged later
    (`unpriced`).
    """
    sealed = []
    async with database.read() as connection:
        months = await _TO_SEAL.all(connection)
        due = await due_hours(connection, 1)
    for month in months:
        if any(_month_of(hour) <= month for hour in due):
            continue
        if await _verify(database, month):
            async with database.begin() as connection:
                done = await _SEAL.one(connection, {"month": month})
                if done:
                    await record_facts(connection, month)
                    await _notify(connection, BILLING_MONTH_SEALED, month)
                failpoint("months.before_seal_commit")
            sealed += [month] if done else []
    return sealed


async def verify_month(connection: AsyncConnection, month: date) -> int:
    """Close and verify what was not verified of a month, though sealed; returns the number of hours.

    What differs is charged to the first open month.
    """
    hours = await _UNVERIFIED.all(connection, {"month": month})
    for hour in hours:
        await verify_hour(connection, hour)
    return len(hours)


async def note_late_months(database: Database) -> list[date]:
    """Tell operators once of each month that is not sealed a day after it should have been; returns those."""
    async with database.begin() as connection:
        late = await _LATE.all(connection)
        for month in late:
            await _notify(connection, BILLING_MONTH_LATE, month)
    return late


async def _notify(connection: AsyncConnection, kind: EventType, month: date) -> None:
    await record_for_operators(connection, kind, region=None, data=BillingMonthOf(month=f"{month:%Y-%m}"))


async def _verify(database: Database, month: date) -> bool:
    """Whether the whole month is verified; a turn verifies at most two days."""
    for hour in (await _unverified(database, month))[:HOURS_AT_ONCE]:
        await correct_hour(database, hour, verify=True)
        failpoint("months.hour_verified")
    return not await _unverified(database, month)


async def _unverified(database: Database, month: date) -> list[datetime]:
    async with database.read() as connection:
        return await _UNVERIFIED.all(connection, {"month": month})


def _month_of(hour: datetime) -> date:
    return hour.date().replace(day=1)
