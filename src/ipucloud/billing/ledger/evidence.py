"""Facts of a month's charges, written down when it is sealed: what later proves each bill, whatever is recorded after.

A fact is a text: `interval|id|project|cluster|flavor|sku|region|machines|credited|anchor|start|end` or
`price|id|list or contract|sku|region|unit price|from|to`, times in seconds since 1970. An interval ends with the month
at the latest; a price that goes on has `-`. Prices are all that were in force while anything of the bill was in use.
"""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

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
