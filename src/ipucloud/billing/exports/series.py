"""Series: what the charges of one resource at one price have in common, written once for each export.

Names are those as of the sealing of a month: later renamings must not change exports of it.

A row of usage has all machines that were used; what is credited of them is a row of its own (`invoiced.py`).

A million rows have some thousand series. Names, ids and prices are computed once for each series, in a temporary table
of the export's snapshot; a row adds its time, minutes and cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

import sqlalchemy as sa
from psycopg import sql

from ipucloud.billing.exports.selection import Connection, Selection, next_month, text
from ipucloud.contract.exports import FileFormat
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query

CREATOR_TAG = "ipucloud/created_by"
"""The key of the tag that says who created a resource, as FOCUS has tags of a provider: with a prefix of its own."""
TAGS = f"""
(k.tags || coalesce((
   SELECT jsonb_build_object('{CREATOR_TAG}', t.name)
     FROM operations o JOIN tokens t ON t.id = o.requested_by
    WHERE o.project_id = k.project_id AND o.cluster_id = k.id AND o.kind = 'cluster.create'
    ORDER BY o.created_at LIMIT 1), '{{}}'))
"""  # noqa: S608  # our own text
"""SQL of the tags of `resources AS k`: its own, and the name of the token that created it.

No tag of a customer takes the creator's place, and none has it whose creation no token asked for.
"""


def invoice_id(number: str = "number", account: str = "account_id") -> str:
    """SQL of FOCUS's invoice id of a row whose invoice has the `number`, if there is one.

    Once the invoices of a month are issued, what costs nothing in it is on none.
    """
    return (
        f"coalesce({number}, CASE WHEN NOT EXISTS (SELECT FROM invoiced_months issued WHERE issued.month = %(month)s)"
        f" THEN 'draft:' || {account} || ':' || to_char(%(month)s::date, 'YYYY-MM') END)"
    )


def _by_kind(cluster: str, volume: str, address: str, snapshot: str | None = None) -> sql.SQL:
    """SQL of what differs between storage, addresses and what is made of machines, by its kind."""
    return text(
        f"CASE kind WHEN 'volume' THEN {volume} WHEN 'snapshot' THEN {snapshot or volume}"
        f" WHEN 'address' THEN {address} ELSE {cluster} END"
    )


WORDS: Mapping[str, sql.Composable] = {
    "tags": text(TAGS),
    "invoice_id": text(invoice_id()),
    # What the provider takes back at any time is priced dynamically.
    "category": text("CASE WHEN right(sku, 12) = '-preemptible' THEN 'Dynamic' ELSE 'Standard' END"),
    "urn": _by_kind("'urn:ipu:cluster:'", "'urn:ipu:volume:'", "'urn:ipu:address:'", "'urn:ipu:snapshot:'"),
    "type": _by_kind("'IPU Cluster'", "'Volume'", "'Address'", "'Snapshot'"),
    "consumed": _by_kind("'IPU-Minutes'", "'GiB-Minutes'", "'Address-Minutes'"),
    "unit": _by_kind("'Server-Minutes'", "'GiB-Minutes'", "'Address-Minutes'"),
    "meter": _by_kind("'Server running time'", "'Volume capacity'", "'Reserved address'", "'Snapshot capacity'"),
    # What is of no resource, such as tax, is of the service of clusters.
    "service_category": _by_kind("'AI and Machine Learning'", "'Storage'", "'Networking'"),
    "service": _by_kind("'IPU Cluster'", "'Volume'", "'Address'"),
    "service_subcategory": _by_kind("'Machine Learning'", "'Block Storage'", "'Network Infrastructure'"),
    "details": text(
        "CASE WHEN machine_type IS NOT NULL"
        " THEN jsonb_build_object('x_IpuCount', ipus, 'x_MachineType', machine_type)::text END"
    ),
}
"""SQL of the columns whose texts are FOCUS's or ours, for rows with `kind`, `sku`, `machine_type` and `ipus`."""
NAMES = f"""
k.kind, coalesce(an.name, a.name) AS account_name, coalesce(pn.name, p.name) AS project_name,
         coalesce(cn.name, k.name) AS cluster_name, coalesce(cn.tags, {TAGS}) AS tags, region.name AS region_name,
         i.number, l.line
"""
REGION = "LEFT JOIN unnest(%(regions)s::text[], %(region_names)s::text[]) AS region (slug, name) ON region.slug"
NAMED = f"""
    JOIN billing_accounts a ON a.id = c.account_id
    JOIN projects p ON p.id = c.project_id
    JOIN resources k ON k.id = c.resource_id
    {REGION} = c.region
    LEFT JOIN export_names an ON (an.month, an.kind, an.id) = (%(month)s, 'account', a.id)
    LEFT JOIN export_names pn ON (pn.month, pn.kind, pn.id) = (%(month)s, 'project', p.id)
    LEFT JOIN export_names cn ON (cn.month, cn.kind, cn.id) = (%(month)s, 'cluster', k.id)
    LEFT JOIN invoices i ON (i.account_id, i.currency, i.month) = (c.account_id, c.currency, %(month)s)
    LEFT JOIN invoice_lines l
      ON l.invoice_id = i.id AND (l.project_id, l.sku, l.region, l.price_id, l.unit_price, l.usage_month)
       = (c.project_id, c.sku, c.region, c.price_id, c.unit_price, used.month)
     AND used.day >= l.since AND used.day < l.until
"""
"""Joins of charges `c`, `used` on a day of a month, which give `NAMES` and the invoice's line, once there is one."""

_MONTHS = Query(
    """
    SELECT month FROM billing_months b
     WHERE sealed_at IS NOT NULL AND NOT EXISTS (SELECT FROM export_months e WHERE e.month = b.month) ORDER BY month
    """,
    date,
)
_PATIENCE = sa.text("SET LOCAL statement_timeout = '10min'")
_FREEZE = sa.text("INSERT INTO export_months (month) VALUES (:month) ON CONFLICT DO NOTHING")
_NAMES = sa.text(
    f"""
    WITH charged AS MATERIALIZED (
      SELECT DISTINCT account_id, project_id, resource_id FROM usage_charges WHERE billing_month = :month
    )
    INSERT INTO export_names (month, kind, id, name, tags)
    SELECT :month, 'cluster', k.id, k.name, {TAGS}
      FROM resources k WHERE k.id IN (SELECT resource_id FROM charged)
    UNION ALL
    SELECT :month, 'project', p.id, p.name, NULL FROM projects p WHERE p.id IN (SELECT project_id FROM charged)
    UNION ALL
    SELECT :month, 'account', a.id, a.name, NULL FROM billing_accounts a WHERE a.id IN (SELECT account_id FROM charged)
    """  # noqa: S608  # our own text
)
FORMULA = r"'^[=+@\t\r\uFF1D\uFF0B\uFF0D\uFF20-]'"
"""First characters of formulas in spreadsheets (`kernel.cells`); text in PostgreSQL has no NUL."""

_CHARGED = """
CREATE TEMPORARY TABLE export_charged ON COMMIT DROP AS
  SELECT c.account_id, c.project_id, c.resource_id, c.price_id, c.sku, c.region, c.currency,
         c.quantity + c.credited AS quantity, c.unit_price, c.list_unit_price, {since} AS since
    FROM usage_charges c WHERE c.billing_month = %(month)s AND {charges}
"""
_USAGE_MONTH = """
CASE WHEN c.hour >= %(month)s::timestamp AT TIME ZONE 'UTC' THEN %(month)s
     ELSE date_trunc('month', c.hour AT TIME ZONE 'UTC')::date END
"""
_SINCE = """
greatest({usage_month}, ({days}::timestamp[])[width_bucket(c.hour AT TIME ZONE 'UTC', {days}::timestamp[])]::date)
"""
_DIVIDED = """
SELECT DISTINCT l.since FROM invoices i JOIN invoice_lines l ON l.invoice_id = i.id
 WHERE i.month = %(month)s AND l.since <> l.usage_month ORDER BY 1
"""
_GROUPED = "   GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
_SERIES = """
CREATE TEMPORARY TABLE export_series ON COMMIT DROP AS
WITH named AS (
  SELECT c.*, used.month AS usage_month, {names}, k.machine_type, coalesce(k.machine_ipus, 1) AS ipus
    FROM export_charged AS c
   CROSS JOIN LATERAL (SELECT c.since AS day, date_trunc('month', c.since)::date AS month) AS used {named}
)
SELECT (row_number() OVER (ORDER BY resource_id, since, price_id, quantity, account_id, list_unit_price))::integer
         AS no,
       resource_id, price_id, quantity, account_id, list_unit_price, since, ipus,
       unit_price = list_unit_price AS at_list_price, sku || ' x' || quantity || ', ' AS description,
       'urn:ipu:account:' || account_id AS "BillingAccountId",
       {account_name} AS "BillingAccountName",
       currency AS "BillingCurrency",
       'Usage' AS "ChargeCategory",
       CASE WHEN usage_month < %(month)s THEN 'Correction' END AS "ChargeClass",
       'Usage-Based' AS "ChargeFrequency",
       {consumed} AS "ConsumedUnit",
       unit_price AS "ContractedUnitPrice",
       number || '/' || line AS "InvoiceDetailId",
       {invoice_id} AS "InvoiceId",
       list_unit_price AS "ListUnitPrice",
       {category} AS "PricingCategory",
       currency AS "PricingCurrency",
       unit_price AS "PricingCurrencyContractedUnitPrice",
       list_unit_price AS "PricingCurrencyListUnitPrice",
       {unit} AS "PricingUnit",
       region AS "RegionId",
       coalesce(region_name, region) AS "RegionName",
       {urn} || resource_id AS "ResourceId",
       {cluster_name} AS "ResourceName",
       {type} AS "ResourceType",
       {service_category} AS "ServiceCategory",
       {service} AS "ServiceName",
       {service_subcategory} AS "ServiceSubcategory",
       sku AS "SkuId",
       {meter} AS "SkuMeter",
       {details} AS "SkuPriceDetails",
       concat_ws('/', sku, region, currency) AS "SkuPriceId",
       'urn:ipu:project:' || project_id AS "SubAccountId",
       {project_name} AS "SubAccountName",
       'Project' AS "SubAccountType",
       tags::text AS "Tags",
       'false' AS "x_Provisional"
  FROM named
"""
JOIN = """
  JOIN export_series s
    ON (s.resource_id, s.price_id, s.quantity, s.account_id, s.list_unit_price)
     = (c.resource_id, c.price_id, c.quantity + c.credited, c.account_id, c.list_unit_price)
   AND s.since = {since}
"""
_CHARGES = "SELECT {what} FROM usage_charges c"
_OF_WINDOW = """
 WHERE c.billing_month = %(month)s AND c.hour >= {begins}::timestamp AT TIME ZONE 'UTC'
   AND c.hour < {ends}::timestamp AT TIME ZONE 'UTC' AND {scope}
 ORDER BY c.hour, c.resource_id, c.first_minute, c.rev
"""
# In an order that does not depend on when the charges were posted.


@dataclass(frozen=True, slots=True)
class Window:
    """Charges that begin in [begins, ends). `since`: the first day of their line, of a month or of a tax rate in it."""

    since: date
    begins: date
    ends: date


def make_series(connection: Connection, selection: Selection) -> int:
    """Create the temporary table `export_series` of a month in the connection's snapshot; returns their number."""
    connection.execute("DROP TABLE IF EXISTS export_series, export_charged")
    guarded = selection.format is FileFormat.CSV
    guards = {
        name: guard(name) if guarded else sql.Identifier(name)
        for name in ("account_name", "project_name", "cluster_name")
    }
    # In two steps: how many series there are is guessed badly, and known once they are counted.
    charged = text(_CHARGED).format(since=_since(connection, selection), charges=selection.of_charges)
    connection.execute(sql.Composed([charged, sql.SQL(_GROUPED)]), selection.values)
    connection.execute("ANALYZE export_charged")
    series = text(_SERIES).format(**guards, **WORDS, names=text(NAMES), named=text(NAMED))
    count = connection.execute(series, selection.values).rowcount
    connection.execute("ANALYZE export_series")
    return count


def guard(column: str) -> sql.Composed:
    """The text of a column, behind an apostrophe where a spreadsheet would compute it."""
    return text("CASE WHEN {column} ~ " + FORMULA + " THEN '''' || {column} ELSE {column} END").format(
        column=sql.Identifier(column)
    )


def time_text(instant: sql.Composable) -> sql.Composed:
    """A timestamptz of whole seconds as `2026-01-31T23:59:30Z`; three times as fast as to_char."""
    return text("replace(({instant} AT TIME ZONE 'UTC')::text, ' ', 'T') || 'Z'").format(instant=instant)


def fixed_text(value: object) -> str | None:
    """A constant as a file of text has it."""
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}T00:00:00Z"
    return None if value is None else str(value)


def windows(connection: Connection, selection: Selection) -> list[Window]:
    """Corrections of months before, then the days one by one, so that nothing large is sorted."""
    divided = _divided(connection, selection)
    months = connection.execute(
        "SELECT DISTINCT date_trunc('month', since)::date FROM export_series WHERE since < %(month)s ORDER BY 1",
        selection.values,
    )
    before = [window for (month,) in months for window in _parts_of(month, divided)]
    days = [selection.period.since + timedelta(days=day) for day in range(selection.period.days)]
    starts = [selection.month, *(day for day in divided if day >= selection.month)]
    return before + [Window(max(start for start in starts if start <= day), day, day + timedelta(1)) for day in days]


def _parts_of(month: date, divided: Sequence[date]) -> list[Window]:
    """The parts of a month that have lines of their own."""
    ends = next_month(month)
    starts = [month, *(day for day in divided if month < day < ends)]
    return [Window(start, start, end) for start, end in pairwise([*starts, ends])]


def _divided(connection: Connection, selection: Selection) -> list[date]:
    """Days within a month from which on lines of the month's invoices have another tax rate."""
    return [day for (day,) in connection.execute(_DIVIDED, selection.values)]


def _since(connection: Connection, selection: Selection) -> sql.Composable:
    """The first day of a charge's line, as an expression on `usage_charges AS c`."""
    divided = _divided(connection, selection)
    if not divided:
        return text(_USAGE_MONTH)
    return text(_SINCE).format(usage_month=text(_USAGE_MONTH), days=sql.Literal(divided))


def charges_in(selection: Selection, window: Window, what: sql.Composable, join: str = "") -> sql.Composed:
    """A query of `what` for every charge of a window, as `c`; with `join=JOIN` also its series, as `s`."""
    return text(_CHARGES + join + _OF_WINDOW).format(
        what=what,
        since=sql.Literal(window.since),
        begins=sql.Literal(window.begins),
        ends=sql.Literal(window.ends),
        scope=selection.of_charges,
    )


async def freeze_names(database: Database) -> list[date]:
    """Record the names of every sealed month that has none yet, each in one transaction; returns the months."""
    async with database.read() as connection:
        months = await _MONTHS.all(connection)
    for month in months:
        async with database.begin() as connection:
            await connection.execute(_PATIENCE)
            if (await connection.execute(_FREEZE, {"month": month})).rowcount:
                await connection.execute(_NAMES, {"month": month})
    return months
