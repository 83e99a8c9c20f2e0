"""Rows of usage that is not posted yet: of the running hour, and of those that no worker has closed.

Each has the minutes that have begun, priced as a close would price them, and is marked: the charges that replace it
have other ids. A file of a later time has them instead, so provisional rows are never added to another file's.
"""

from __future__ import annotations

from psycopg import sql

from ipucloud.billing.exports.names import (
    CONSUMED_UNIT,
    METER,
    PRICING_CATEGORY,
    PRICING_UNIT,
    RESOURCE_TYPE,
    RESOURCE_URN,
    SERVICES,
    TAGS,
)
from ipucloud.billing.exports.selection import Selection, text

# Quantities have a fraction, as those of posted usage: readers of CSV take a column without any for integers.
_ROWS = """
SELECT charge.cost, 'urn:ipu:account:' || used.account_id, used.account_name, used.currency, charge.category, NULL,
       CASE charge.category WHEN 'Usage' THEN used.sku || ' x' || used.quantity || ', ' || used.minutes || ' min'
            ELSE used.credited || ' of ' || used.quantity || ' machines did not work, ' || used.minutes || ' min' END,
       'Usage-Based', used.ended_at, used.started_at, charge.cost, charge.cost, NULL,
       'draft:' || used.account_id || ':' || to_char(%(month)s::date, 'YYYY-MM'), charge.list_cost, used.currency,
       charge.cost,
       concat_ws('-', to_char(used.hour AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24'), used.resource_id, used.first_minute,
                 'provisional', charge.suffix),
       0, used.region, coalesce(used.region_name, used.region), {urn} || used.resource_id,
       used.cluster_name, {type}, 'urn:ipu:project:' || used.project_id, used.project_name, 'Project',
       used.tags::text, 'true', charge.machines * used.minutes * used.ipus * 1.0, priced.unit, priced.unit_price,
       priced.list_unit_price, priced.category, priced.unit_price, priced.list_unit_price,
       charge.machines * used.minutes * 1.0, priced.pricing_unit, priced.sku, priced.meter, priced.details,
       priced.price_id, {service_category}, {service}, {service_subcategory}
  FROM (
    SELECT hours.hour, u.resource_id, u.project_id, paid.account_id, u.sku, u.region, u.currency, u.quantity,
           u.credited, paid.unit_price, paid.list_unit_price, part.started_at, part.ended_at, part.first_minute,
           part.minutes, a.name AS account_name, p.name AS project_name, k.name AS cluster_name, {tags} AS tags,
           k.machine_type, coalesce(k.machine_ipus, 1) AS ipus, k.kind, region.name AS region_name
      FROM generate_series(
             greatest(%(since)s::timestamp AT TIME ZONE 'UTC',
                      (SELECT coalesce(max(hour) + interval '1 hour', '-infinity') FROM hour_closes
                        WHERE closed_at IS NOT NULL),
                      (SELECT date_trunc('hour', min(started_at), 'UTC') FROM usage_intervals)),
             least(%(until)s::timestamp AT TIME ZONE 'UTC', app_now()) - interval '1 microsecond', interval '1 hour')
             AS hours (hour)
     CROSS JOIN LATERAL (
       SELECT least(hours.hour + interval '1 hour', date_trunc('second', app_now(), 'UTC')) AS until) AS past
      JOIN usage_intervals u ON u.started_at < past.until AND (u.ended_at IS NULL OR u.ended_at > hours.hour)
     CROSS JOIN LATERAL prices_paid(u.project_id, u.sku, u.region, u.currency) AS paid
     CROSS JOIN LATERAL priced_minutes(u.anchor_at, greatest(u.started_at, hours.hour), least(u.ended_at, past.until),
                                       paid.valid_from, paid.valid_to, u.quantity, paid.unit_price) AS part
      JOIN billing_accounts a ON a.id = paid.account_id
      JOIN projects p ON p.id = u.project_id
      JOIN resources k ON k.project_id = u.project_id AND k.id = u.resource_id
      LEFT JOIN unnest(%(regions)s::text[], %(region_names)s::text[]) AS region (slug, name) ON region.slug = u.region
     WHERE %(provisional)s AND {whose} AND paid.valid_from < past.until AND paid.valid_to > hours.hour
    OFFSET 0) AS used
 CROSS JOIN LATERAL (
   SELECT 'Usage' AS category, used.quantity AS machines, NULL AS suffix,
          used.minutes * used.quantity * used.unit_price AS cost,
          used.minutes * used.quantity * used.list_unit_price AS list_cost
    UNION ALL
   SELECT 'Credit', NULL, 'credit', -used.minutes * used.credited * used.unit_price,
          -used.minutes * used.credited * used.list_unit_price
    WHERE used.credited > 0) AS charge
  LEFT JOIN LATERAL (
   SELECT used.unit_price, used.list_unit_price, used.sku, {consumed} AS unit, {category} AS category,
          {unit} AS pricing_unit, {meter} AS meter,
          CASE WHEN used.machine_type IS NOT NULL
               THEN jsonb_build_object('x_IpuCount', used.ipus, 'x_MachineType', used.machine_type)::text END
            AS details,
          concat_ws('/', used.sku, used.region, used.currency) AS price_id) AS priced ON charge.category = 'Usage'
 WHERE used.minutes > 0
"""
_OF_PROJECT = sql.SQL("u.project_id = %(project_id)s")
_OF_ACCOUNT = sql.SQL("paid.account_id = %(account_id)s")


def provisional_rows(selection: Selection) -> sql.Composed:
    """A query of the columns of Cost and Usage, in the order of `invoiced.small_rows`; none unless they are wanted."""
    whose = _OF_PROJECT if selection.account_id is None else _OF_ACCOUNT
    return text(_ROWS).format(
        tags=text(TAGS),
        whose=whose,
        category=text(PRICING_CATEGORY),
        consumed=text(CONSUMED_UNIT),
        unit=text(PRICING_UNIT),
        urn=text(RESOURCE_URN),
        type=text(RESOURCE_TYPE),
        meter=text(METER),
        **{name: text(part) for name, part in SERVICES.items()},
    )
