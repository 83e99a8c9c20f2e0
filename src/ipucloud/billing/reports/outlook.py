"""A month's expected cost: usage so far, and current usage continued to its end; one statement.

The same arithmetic as a close: each minute takes the size, the payer and the price in force when it begins, prices that
are to come among them. What runs now runs on until the cluster expires, or the month ends. A figure grows with the
intervals of the month, not with its minutes.
"""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.documents import clauses

OVER_EVERYTHING = (
    sa.text("SET LOCAL statement_timeout = '2min'"),
    # Where the planner thinks that a step gives one row, it would loop over the whole of another for each.
    sa.text("SET LOCAL enable_nestloop = off"),
)
"""Settings of a transaction that reads all projects at once."""

# A protected cluster outlives its expiry; one past it is being deleted.
_OUTLOOK = """
), live AS MATERIALIZED (
  SELECT u.id AS interval_id, u.resource_id, u.project_id, u.flavor, u.sku, u.region, u.currency, u.anchor_at,
         u.quantity - u.credited AS quantity, b.now, b.cut, greatest(u.started_at, b.begins) AS begins,
         least(b.ends, coalesce(u.ended_at, CASE WHEN c.ends_at IS NULL THEN b.ends
                                ELSE greatest(b.now, date_trunc('second', c.ends_at, 'UTC')) END)) AS ends
    FROM bounds b
    JOIN usage_intervals u ON u.started_at < b.ends AND (u.ended_at IS NULL OR u.ended_at > b.begins)
    JOIN resources c ON c.project_id = u.project_id AND c.id = u.resource_id
   WHERE u.project_id IN (SELECT project_id FROM chosen)
), paid AS MATERIALIZED (
  SELECT article.project_id, article.sku, article.region, article.currency, price.account_id, price.unit_price,
         price.valid_from, price.valid_to
    FROM (SELECT DISTINCT project_id, sku, region, currency FROM live) AS article
   CROSS JOIN LATERAL prices_paid(article.project_id, article.sku, article.region, article.currency) AS price
), slice AS (
  SELECT live.interval_id, live.project_id, paid.account_id, live.resource_id, live.currency, past.minutes AS past,
         past.cost AS accrued, month.minutes, month.cost
    FROM live
    JOIN paid ON (paid.project_id, paid.sku, paid.region, paid.currency)
               = (live.project_id, live.sku, live.region, live.currency)
             AND paid.valid_from < live.ends AND paid.valid_to > live.begins
   CROSS JOIN LATERAL priced_minutes(live.anchor_at, live.begins, least(live.ends, live.cut), paid.valid_from,
                                     paid.valid_to, live.quantity, paid.unit_price) AS past
   CROSS JOIN LATERAL priced_minutes(live.anchor_at, live.begins, live.ends, paid.valid_from, paid.valid_to,
                                     live.quantity, paid.unit_price) AS month
), outlook AS (
  SELECT project_id, account_id, resource_id, currency, sum(past) AS accrued_minutes, sum(accrued) AS accrued,
         sum(minutes) AS minutes, sum(cost) AS cost
    FROM slice GROUP BY project_id, account_id, resource_id, currency
), unpriced AS (
  SELECT live.project_id, sum(minutes_between(anchor_at, begins, ends) - coalesce(priced, 0)) AS minutes
    FROM live
    LEFT JOIN (SELECT interval_id, sum(minutes) AS priced FROM slice GROUP BY interval_id) AS known
      USING (interval_id)
   GROUP BY live.project_id
)"""


def outlook(since: str, until: str, cut: str = "app_now()") -> str:
    """CTEs that follow a CTE `chosen` (project_id): `outlook` by project, payer, resource and currency, and `unpriced`.

    `since`, `until` and `cut` are SQL expressions. Of the minutes that begin between the first two, `accrued` is what
    those before `cut` cost, and `cost` what all of them will. Minutes without a price are in neither, and counted in
    `unpriced`.
    """
    bounds = (
        f"bounds AS (SELECT {since} AS begins, {until} AS ends, date_trunc('second', app_now(), 'UTC') AS now, "
        f"date_trunc('second', {cut}, 'UTC') AS cut"
    )
    return clauses(bounds, _OUTLOOK)


OUTLOOK = outlook("CAST(:since AS timestamptz)", "CAST(:until AS timestamptz)")
