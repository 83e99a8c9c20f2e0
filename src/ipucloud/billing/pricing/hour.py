"""The cost of an hour's usage, as one statement over usage intervals and prices.

A row for each run of minutes of one usage interval under one price, all of which start within the hour.
"""

from __future__ import annotations

from ipucloud.db.documents import clauses

_BOUNDS = """
bounds AS (
  SELECT CAST(:hour AS timestamptz) AS begins, CAST(:hour AS timestamptz) + interval '1 hour' AS ends
)"""
_USED = "usage_intervals u ON u.started_at < bounds.ends AND (u.ended_at IS NULL OR u.ended_at > bounds.begins)"
_FACTS = "JOIN payer ON payer.project_id = u.project_id"
# OFFSET 0 has each minute counted once: `functions.PRICED_MINUTES`.
# Accounts without contract prices share the rows of the nil account, so that one hash join finds every price.
RATED = f"""{_BOUNDS}, payer AS MATERIALIZED (
  SELECT DISTINCT ON (project_id) project_id, account_id FROM project_accounts, bounds
   WHERE valid_from <= begins ORDER BY project_id, valid_from DESC
), rate AS MATERIALIZED (
  SELECT CAST('00000000-0000-0000-0000-000000000000' AS uuid) AS holder, sku, region, currency, id AS price_id,
         unit_price, unit_price AS list_unit_price,
         valid_from, coalesce(valid_to, 'infinity') AS valid_to
    FROM prices, bounds WHERE valid_from < ends AND (valid_to IS NULL OR valid_to > begins)
  UNION ALL
  SELECT account_id, sku, region, currency, price_id, unit_price, list_unit_price, valid_from,
         coalesce(valid_to, 'infinity')
    FROM account_prices, bounds WHERE valid_from < ends AND (valid_to IS NULL OR valid_to > begins)
), special AS MATERIALIZED (
  SELECT DISTINCT account_id AS holder, sku, region, currency FROM contract_prices
), live AS (
  SELECT u.id AS interval_id, u.resource_id, u.project_id, payer.account_id, u.sku, u.region, u.currency,
         u.quantity - u.credited AS quantity, u.credited, u.anchor_at,
         coalesce(special.holder, CAST('00000000-0000-0000-0000-000000000000' AS uuid)) AS holder,
         greatest(u.started_at, bounds.begins) AS begins, least(u.ended_at, bounds.ends) AS ends
    FROM bounds
    JOIN {_USED}
    {_FACTS}
    LEFT JOIN special ON (special.holder, special.sku, special.region, special.currency)
                       = (payer.account_id, u.sku, u.region, u.currency)
), counted AS (
  SELECT live.interval_id, live.resource_id, live.project_id, live.account_id, live.sku, live.region, live.currency,
         live.quantity, live.credited, rate.price_id, rate.unit_price, rate.list_unit_price, priced.started_at,
         priced.ended_at, priced.first_minute, priced.minutes
    FROM live
    JOIN rate ON (rate.holder, rate.sku, rate.region, rate.currency)
               = (live.holder, live.sku, live.region, live.currency)
             AND rate.valid_from < live.ends AND rate.valid_to > live.begins
   CROSS JOIN LATERAL priced_minutes(live.anchor_at, live.begins, live.ends, rate.valid_from, rate.valid_to,
                                     live.quantity, rate.unit_price) AS priced
  OFFSET 0
), rated AS (
  SELECT * FROM counted WHERE minutes > 0
)"""  # noqa: S608  # our own text
"""CTE `rated`: the charges of the hour that begins at `:hour`. Minutes without a price are not among them."""

_NO_LIST_PRICE = """
(u.sku, u.region, u.currency) NOT IN (
  SELECT sku, region, currency FROM prices, bounds
   WHERE valid_from < ends AND (valid_to IS NULL OR valid_to > begins)
   GROUP BY sku, region, currency, begins, ends
  HAVING range_agg(tstzrange(valid_from, valid_to)) @> tstzrange(begins, ends))
"""
MAYBE_UNPRICED = clauses("WITH", _BOUNDS, "SELECT FROM bounds JOIN", _USED, "WHERE", _NO_LIST_PRICE)
"""A row for each usage interval of the hour that has no list price for the whole hour.

Only these can have minutes without a price: where a list price holds, every account has one. There are next to none.
"""

UNPRICED = clauses(
    "WITH",
    RATED.replace(_FACTS, clauses(_FACTS, "AND", _NO_LIST_PRICE)),
    """
    SELECT account_id, sku, region, currency, sum(used.minutes - coalesce(priced.minutes, 0))::bigint AS minutes
      FROM (SELECT live.*, minutes_between(anchor_at, begins, ends) AS minutes FROM live) AS used
      LEFT JOIN (SELECT interval_id, sum(minutes) AS minutes FROM rated GROUP BY interval_id) AS priced
             USING (interval_id)
     GROUP BY account_id, sku, region, currency
    HAVING sum(used.minutes - coalesce(priced.minutes, 0)) > 0
    """,
)
"""The minutes of the hour that have no price, by account, SKU, region and currency."""
