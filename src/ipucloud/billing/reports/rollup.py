"""The daily roll-up: sums of a day's charges, so that a report or a draft of a month does not read every hour.

A roll-up remembers how many hours of its day were closed and the sum of their revisions. Every transaction that posts
charges changes one of the two (`close.post_hour`, `close.correct_hour`), in the row that it holds. So a roll-up whose
figures are those of `hour_closes` is right, and any other is made again; whoever reads compares them in the statement
that reads. Nothing is added to the close itself.
"""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa

from ipucloud.db.documents import clauses
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

DAYS_AT_ONCE = 31
"""Days rolled up per turn; the next turn continues."""

DAY_CLOSED = """
CROSS JOIN LATERAL (
  SELECT count(*)::integer AS hours, coalesce(sum(h.revision), 0)::bigint AS revisions FROM hour_closes h
   WHERE h.hour >= rolled.day::timestamp AT TIME ZONE 'UTC'
     AND h.hour < (rolled.day + 1)::timestamp AT TIME ZONE 'UTC' AND h.closed_at IS NOT NULL
) AS present
"""
"""A join that gives each day of `rolled` what `hour_closes` has of it."""

HOLDS = "(rolled.hours, rolled.revisions) = (present.hours, present.revisions)"
"""Whether a row of `day_rollups AS rolled` is as the charges are."""

_STALE = Query(
    """
    SELECT day
      FROM (SELECT (hour AT TIME ZONE 'UTC')::date AS day, count(*) AS hours, sum(revision) AS revisions
              FROM hour_closes
             WHERE closed_at IS NOT NULL AND hour < date_trunc('day', app_now(), 'UTC')
             GROUP BY 1) AS closed
      LEFT JOIN day_rollups USING (day)
     WHERE (closed.hours, closed.revisions) IS DISTINCT FROM (day_rollups.hours, day_rollups.revisions)
     ORDER BY day LIMIT :limit
    """,
    date,
)
_KNOW = sa.text("INSERT INTO day_rollups (day) VALUES (:day) ON CONFLICT DO NOTHING")
_LOCK = Query("SELECT version FROM day_rollups WHERE day = :day FOR UPDATE", int)
_PATIENCE = sa.text("SET LOCAL statement_timeout = '10min'")
# One statement: its rows and the figures of their inputs are of one snapshot.
_BUILD = sa.text(
    clauses(
        """
        WITH inserted AS (
          INSERT INTO usage_days (day, version, account_id, project_id, resource_id, flavor, sku, region, currency,
                                  billing_month, price_id, unit_price, minutes, machine_minutes,
                                  credited_machine_minutes, cost, list_cost)
          SELECT CAST(:day AS date), :version, c.account_id, c.project_id, c.resource_id, u.flavor, c.sku, c.region,
                 c.currency, c.billing_month, c.price_id, c.unit_price, sum(c.minutes),
                 sum(c.minutes::bigint * c.quantity), sum(c.minutes::bigint * c.credited), sum(c.cost),
                 sum(c.minutes * c.quantity * c.list_unit_price)
            FROM usage_charges c JOIN usage_intervals u ON u.id = c.interval_id
           WHERE c.billing_month >= date_trunc('month', CAST(:day AS date))::date
             AND c.hour >= CAST(:day AS date)::timestamp AT TIME ZONE 'UTC'
             AND c.hour < (CAST(:day AS date) + 1)::timestamp AT TIME ZONE 'UTC'
           GROUP BY c.account_id, c.project_id, c.resource_id, u.flavor, c.sku, c.region, c.currency,
                    c.billing_month, c.price_id, c.unit_price
          RETURNING 1
        )
        UPDATE day_rollups AS rolled
           SET version = :version, hours = present.hours, revisions = present.revisions, built_at = app_now(),
               clusters = (SELECT count(*) FROM inserted)
          FROM (SELECT CAST(:day AS date) AS day) AS params
        """,
        DAY_CLOSED.replace("rolled.", "params."),
        "WHERE rolled.day = params.day",
    )
).bindparams(sa.bindparam("version", type_=sa.Integer))
_FORGET = sa.text("DELETE FROM usage_days WHERE day = :day AND version < :version")


async def stale_days(connection: Statements, limit: int) -> list[date]:
    """Days that are over and have no roll-up, or one that something was posted after."""
    return await _STALE.all(connection, {"limit": limit})


async def roll_up(database: Database, day: date) -> None:
    """Write the day's roll-up again. If interrupted, the previous one stays; concurrent runs are serialised."""
    async with database.begin() as connection:
        await connection.execute(_PATIENCE)
        await connection.execute(_KNOW, {"day": day})
        version = await _LOCK.one(connection, {"day": day}) + 1
        await connection.execute(_BUILD, {"day": day, "version": version})
        await connection.execute(_FORGET, {"day": day, "version": version})


async def roll_up_days(database: Database) -> list[date]:
    """Write missing and outdated roll-ups, in batches; returns their days."""
    async with database.read() as connection:
        days = await stale_days(connection, DAYS_AT_ONCE)
    for day in days:
        await roll_up(database, day)
    return days
