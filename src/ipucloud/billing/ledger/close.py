"""Closes hours: the usage of an hour becomes charges and transfers, once.

1. *Begin*: the hour's row is committed. From then on a late usage interval or price marks the hour as dirty.
2. *Barrier*: wait for earlier writers. The lock is released immediately, so that they do not wait for the
   close itself.
3. *Close*: one transaction behind the hour's lock posts all charges with one statement, their sums with another, and
   marks the hour closed. A second worker finds it closed; a killed one leaves nothing.

A close is a function of the usage intervals and prices of its hour, so its result does not depend on time or order.
Late changes are corrected: the signed difference between expected and posted charges is added, with a new revision.
Rows of a sealed month stay; its corrections are posted to the first open month. Minutes without a price are recorded
(`unpriced`) and charged in the same way when they have one; nothing waits for them.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.ledger.transfers import Posted, post_usage
from ipucloud.billing.ledger.unpriced import note_unpriced
from ipucloud.billing.pricing.hour import RATED
from ipucloud.db.documents import clauses
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint

SETTLE_SECONDS = 60
"""How long after its end an hour is closed; requests accepted in it have usually finished by then."""

_DUE = Query(
    """
    SELECT hour
      FROM (SELECT least((SELECT min(started_at) FROM usage_intervals), (SELECT min(hour) FROM hour_closes)) AS at)
             AS first,
           generate_series(date_trunc('hour', first.at, 'UTC'),
                           app_now() - interval '1 hour' - make_interval(secs => :settle), interval '1 hour') AS hour
     WHERE NOT EXISTS (SELECT FROM hour_closes c WHERE c.hour = hour.hour AND c.closed_at IS NOT NULL)
     ORDER BY hour LIMIT :limit
    """,
    datetime,
)
_DIRTY = Query(
    """
    SELECT DISTINCT hour FROM dirty_hours d
     WHERE EXISTS (SELECT FROM hour_closes c WHERE c.hour = d.hour AND c.closed_at IS NOT NULL)
     ORDER BY hour LIMIT :limit
    """,
    datetime,
)
_BEGIN = sa.text(
    """
    INSERT INTO hour_closes (hour) SELECT CAST(:hour AS timestamptz)
     WHERE CAST(:hour AS timestamptz) + interval '1 hour' <= app_now()
    ON CONFLICT DO NOTHING
    """
)
_PATIENCE = sa.text("SET LOCAL lock_timeout = '2s'")
# The number of functions.NOTE_DIRTY_HOURS.
_BARRIER = sa.text("SELECT pg_advisory_xact_lock(7220501)")
_LONG = (
    sa.text("SET LOCAL statement_timeout = '10min'"),
    # A plan for any hour would be one for none: the hour's share of the facts decides.
    sa.text("SET LOCAL plan_cache_mode = force_custom_plan"),
    # All joins are by equality and over everything. Where the planner thinks there is one row, it would loop.
    sa.text("SET LOCAL enable_nestloop = off"),
    sa.text("SET LOCAL work_mem = '64MB'"),
)
_LOCK_OPEN = sa.text("SELECT FROM hour_closes WHERE hour = :hour AND closed_at IS NULL FOR UPDATE")
_LOCK_CLOSED = Query("SELECT revision FROM hour_closes WHERE hour = :hour AND closed_at IS NOT NULL FOR UPDATE", int)
_MONTH = """
, bill AS MATERIALIZED (
  SELECT min(month) AS month FROM billing_months, bounds
   WHERE sealed_at IS NULL AND month >= date_trunc('month', begins AT TIME ZONE 'UTC')::date
)
"""
_POST = """
INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, rev, project_id, account_id, interval_id,
                           price_id, started_at, ended_at, minutes, quantity, credited, sku, region, currency,
                           unit_price, list_unit_price)
"""
_SUMS = """
SELECT account_id, currency, sum(cost) AS amount, count(*) AS charges FROM posted GROUP BY account_id, currency
"""
# No ON CONFLICT: a charge that would be posted twice must abort.
_CHARGE = Query(
    clauses(
        "WITH",
        RATED,
        _MONTH,
        ", posted AS (",
        _POST,
        """
    SELECT bill.month, :hour, resource_id, first_minute, 0, project_id, account_id, interval_id, price_id,
           started_at, ended_at, minutes, quantity, credited, sku, region, currency, unit_price, list_unit_price
      FROM rated, bill
    RETURNING account_id, currency, cost)
    """,
        _SUMS,
    ),
    Posted,
)
# By what a minute costs, not by which version says so: a correction that cuts a version in two changes nothing there.
_SAME = "interval_id, account_id, project_id, resource_id, sku, region, currency, quantity, credited, unit_price,"
_CORRECT = Query(
    clauses(
        "WITH",
        RATED,
        _MONTH,
        ", difference AS (SELECT",
        _SAME,
        """
           list_unit_price, min(first_minute) AS first_minute, min(started_at) AS started_at,
           max(ended_at) AS ended_at, sum(minutes) AS minutes, max(rev) AS rev,
           coalesce(max(price_id::text) FILTER (WHERE posted), max(price_id::text))::uuid AS price_id
      FROM (SELECT""",
        _SAME,
        """
                   list_unit_price, first_minute, started_at, ended_at, minutes, 0 AS rev, price_id, false AS posted
              FROM rated
            UNION ALL SELECT""",
        _SAME,
        """
                   list_unit_price, first_minute, started_at, ended_at, -minutes, rev, price_id, true
              FROM usage_charges WHERE hour = :hour) AS both_sides
     GROUP BY""",
        _SAME,
        """
           list_unit_price
    ), last_rev AS (
      SELECT resource_id, max(rev) AS rev FROM usage_charges WHERE hour = :hour GROUP BY resource_id
    ), posted AS (
    """,
        _POST,
        """
    SELECT bill.month, :hour, resource_id, first_minute,
           coalesce(last_rev.rev, 0) + row_number() OVER (
             PARTITION BY resource_id ORDER BY minutes, first_minute, price_id),
           project_id, account_id, interval_id, price_id, started_at, ended_at, minutes, quantity, credited, sku,
           region, currency, unit_price, list_unit_price
      FROM bill, difference LEFT JOIN last_rev USING (resource_id)
     WHERE minutes <> 0
    RETURNING account_id, currency, cost)
    """,
        _SUMS,
    ),
    Posted,
)
# Of charges that nothing closed: those of accounts to which a close would have transferred them, and nothing did.
_NOT_TRANSFERRED = Query(
    """
    SELECT account_id, currency, sum(cost) AS amount, count(*) AS charges FROM usage_charges u
     WHERE hour = :hour AND NOT EXISTS (
             SELECT FROM ledger_transfers t
              WHERE t.idem = concat_ws('/', 'usage', to_char(u.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'), 0,
                                       u.account_id, u.currency))
     GROUP BY account_id, currency
    """,
    Posted,
)
_ADOPTED = sa.text(
    """
    UPDATE hour_closes SET closed_at = app_now(),
                           charges = (SELECT count(*) FROM usage_charges u WHERE u.hour = CAST(:hour AS timestamptz))
     WHERE hour = :hour
    """
)
_CLOSED = sa.text("UPDATE hour_closes SET closed_at = app_now(), charges = :charges WHERE hour = :hour")
_CORRECTED = sa.text("UPDATE hour_closes SET revision = revision + 1 WHERE hour = :hour")
_CLEAN = sa.text("DELETE FROM dirty_hours WHERE hour = :hour")
_VERIFIED = sa.text("UPDATE hour_closes SET verified_at = app_now() WHERE hour = :hour")


async def due_hours(connection: Statements, limit: int) -> list[datetime]:
    """The first hours that are over and not closed, since anything was used at all."""
    return await _DUE.all(connection, {"settle": SETTLE_SECONDS, "limit": limit})


async def hours_to_correct(connection: Statements, limit: int) -> list[datetime]:
    """Closed hours with late changes."""
    return await _DIRTY.all(connection, {"limit": limit})


async def close_hour(database: Database, hour: datetime) -> int:
    """Post the usage in [hour, hour + 1 h); returns the number of charges, 0 if it was closed already.

    An hour that is not over stays as it is. Its month must be open. Raises sqlalchemy.exc.DBAPIError if a writer
    takes more than two seconds; then nothing is posted, and the hour is closed later.
    """
    async with database.begin() as connection:
        await connection.execute(_BEGIN, {"hour": hour})
    failpoint("close.begun")
    async with database.begin() as connection:
        await connection.execute(_PATIENCE)
        await connection.execute(_BARRIER)
    failpoint("close.barrier_passed")
    async with database.begin() as connection:
        charges = await post_hour(connection, hour)
        failpoint("close.before_commit")
    failpoint("close.committed")
    return charges


async def correct_hour(database: Database, hour: datetime, *, verify: bool = False) -> int:
    """Post the signed difference of a closed hour; returns the number of rows.

    Without a difference nothing is added. `verify` marks the hour as verified.
    """
    async with database.begin() as connection:
        rows = await _correct(connection, hour, verify=verify)
        failpoint("correct.before_commit")
    failpoint("correct.committed")
    return rows


async def post_hour(connection: AsyncConnection, hour: datetime) -> int:
    """The close itself, of an hour that was begun, in the caller's transaction; see `close_hour`."""
    await _take_time(connection)
    if (await connection.execute(_LOCK_OPEN, {"hour": hour})).one_or_none() is None:
        return 0
    failpoint("close.hour_locked")
    sums = await _CHARGE.all(connection, {"hour": hour})
    failpoint("close.charged")
    await post_usage(connection, hour, 0, sums)
    failpoint("close.transferred")
    await note_unpriced(connection, hour)
    charges = sum(each.charges for each in sums)
    await connection.execute(_CLOSED, {"hour": hour, "charges": charges})
    return charges


async def adopt_hour(connection: AsyncConnection, hour: datetime) -> bool:
    """Close an hour that may have charges although no close posted them; False if it is closed, or not over.

    They are transferred, and what differs from the usage is posted as by a correction. Writers wait until the caller's
    transaction has ended.
    """
    await connection.execute(_PATIENCE)
    await connection.execute(_BEGIN, {"hour": hour})
    if (await connection.execute(_LOCK_OPEN, {"hour": hour})).one_or_none() is None:
        return False
    await connection.execute(_BARRIER)
    sums = await _NOT_TRANSFERRED.all(connection, {"hour": hour})
    await connection.execute(_ADOPTED, {"hour": hour})
    await post_usage(connection, hour, 0, sums)
    await _correct(connection, hour, verify=False)
    return True


async def verify_hour(connection: AsyncConnection, hour: datetime) -> None:
    """Check an hour against its usage in the caller's transaction, post what differs, and mark it as verified."""
    await adopt_hour(connection, hour)
    await _correct(connection, hour, verify=True)


async def _correct(connection: AsyncConnection, hour: datetime, *, verify: bool) -> int:
    await _take_time(connection)
    revision = await _LOCK_CLOSED.one_or_none(connection, {"hour": hour})
    if revision is None:
        return 0
    # First, so that changes noted from now on stay noted: the following statements see at least as much.
    await connection.execute(_CLEAN, {"hour": hour})
    failpoint("correct.hour_locked")
    sums = await _CORRECT.all(connection, {"hour": hour})
    failpoint("correct.charged")
    if sums:
        await post_usage(connection, hour, revision + 1, sums)
        await connection.execute(_CORRECTED, {"hour": hour})
    await note_unpriced(connection, hour)
    if verify:
        await connection.execute(_VERIFIED, {"hour": hour})
    return sum(each.charges for each in sums)


async def _take_time(connection: AsyncConnection) -> None:
    for statement in _LONG:
        await connection.execute(statement)
