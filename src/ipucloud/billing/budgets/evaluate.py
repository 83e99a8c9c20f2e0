"""Evaluates budgets: reached thresholds fire once a month.

One statement computes and stores every budget's figures, and fires; of concurrent evaluations the key of
`budget_alerts` lets only one fire, and the event is in the same transaction.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

import sqlalchemy as sa

from ipucloud.billing.accounts.store import readers_of
from ipucloud.billing.reports.outlook import OUTLOOK, OVER_EVERYTHING
from ipucloud.db.documents import clauses, money
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD_FOR_ACCOUNT
from ipucloud.kernel.failpoints import failpoint

LATE_HOURS = 2
"""How long after its end a month is evaluated, so that its last minutes count."""


class _Month(NamedTuple):
    month: date
    since: datetime
    until: datetime
    current: bool


_MONTHS = Query(
    """
    SELECT month::date AS month, month AT TIME ZONE 'UTC' AS since,
           (month + interval '1 month') AT TIME ZONE 'UTC' AS until,
           month = date_trunc('month', app_now() AT TIME ZONE 'UTC') AS current
      FROM (SELECT DISTINCT date_trunc('month', instant AT TIME ZONE 'UTC') AS month
              FROM unnest(ARRAY[app_now() - make_interval(hours => :late), app_now()]) AS instant) AS checked_at
     WHERE EXISTS (SELECT FROM budgets WHERE deleted_at IS NULL)
     ORDER BY month
    """,
    _Month,
)
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(7220503)")
_FIGURE = "CASE t.measure WHEN 'actual' THEN f.actual ELSE f.forecast END"
_EVALUATE = Query(
    clauses(
        """
        WITH chosen AS (
          SELECT project_id FROM budgets WHERE deleted_at IS NULL AND project_id IS NOT NULL
          UNION SELECT p.project_id FROM budgets b JOIN project_accounts p USING (account_id) WHERE b.deleted_at IS NULL
        ),
        """,
        OUTLOOK,
        """
        , spent AS MATERIALIZED (
          SELECT id, sum(accrued) AS accrued, sum(cost) AS cost
            FROM (SELECT b.id, o.accrued, o.cost FROM budgets b JOIN outlook o USING (project_id, currency)
                   WHERE b.tag_key IS NULL
                  UNION ALL
                  SELECT b.id, o.accrued, o.cost FROM budgets b JOIN outlook o USING (project_id, currency)
                    JOIN resources c ON c.project_id = o.project_id AND c.id = o.resource_id
                   WHERE c.tags ->> b.tag_key = b.tag_value
                  UNION ALL
                  SELECT b.id, o.accrued, o.cost FROM budgets b JOIN outlook o USING (account_id, currency)) AS counted
           GROUP BY id
        ), figures AS (
          SELECT b.id, b.name, b.project_id, b.account_id, b.amount, b.currency,
                 coalesce(s.accrued, 0) AS actual, coalesce(s.cost, 0) AS forecast
            FROM budgets b LEFT JOIN spent s USING (id) WHERE b.deleted_at IS NULL
        ), stored AS (
          UPDATE budgets b
             SET month = :month, actual = f.actual, forecast = f.forecast, evaluated_at = app_now()
            FROM figures f WHERE f.id = b.id AND :current
        ), fired AS (
          INSERT INTO budget_alerts (budget_id, month, measure, percent, figure, amount)
        """,
        f"SELECT f.id, :month, t.measure, t.percent, {_FIGURE}, f.amount",
        "FROM figures f JOIN budget_thresholds t ON t.budget_id = f.id",
        f"WHERE {_FIGURE} * 100 >= f.amount * t.percent AND (t.measure = 'actual' OR :current)",
        """
          ON CONFLICT DO NOTHING
          RETURNING budget_id, month, measure, percent, figure, amount
        ), announced AS (
          -- Of an account's budget, its payers and every project that it pays for are notified.
        """,
        RECORD_FOR_ACCOUNT,
        """
          SELECT coalesce(f.project_id, reader.project_id), reader.account_id,
                 CASE fired.measure WHEN 'actual' THEN 'budget.threshold_reached' ELSE 'budget.forecast_reached' END,
                 'budget', f.id, jsonb_build_object(
                   'name', f.name, 'month', to_char(fired.month, 'YYYY-MM'), 'percent', fired.percent,
        """,
        f"'amount', {money('fired.amount', 'f.currency')}, 'figure', {money('fired.figure', 'f.currency')},",
        """
                   'action', t.action)
            FROM fired
            JOIN figures f ON f.id = fired.budget_id
            JOIN budget_thresholds t ON (t.budget_id, t.measure, t.percent)
                                      = (fired.budget_id, fired.measure, fired.percent)
            LEFT JOIN
        """,
        readers_of("f.account_id"),
        """
              ON true
           WHERE num_nonnulls(f.project_id, reader.project_id, reader.account_id) = 1
        )
        SELECT count(*) FROM fired
        """,
    ),
    int,
)


async def evaluate_budgets(database: Database) -> int:
    """Compute every budget's month, and fire reached thresholds; returns how many fired."""
    async with database.read() as connection:
        months = await _MONTHS.all(connection, {"late": LATE_HOURS})
    fired = 0
    for month in months:
        async with database.begin() as connection:
            for statement in (*OVER_EVERYTHING, _ONE_AT_A_TIME):
                await connection.execute(statement)
            fired += await _EVALUATE.one(connection, month._asdict())
            failpoint("budgets.before_commit")
    return fired
