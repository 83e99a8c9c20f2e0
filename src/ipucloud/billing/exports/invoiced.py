"""Rows beside posted usage: credited machines, rounding, credit, tax, credit notes, what is not posted yet; datasets
about invoices and months.
"""

from __future__ import annotations

from psycopg import sql

from ipucloud.billing.exports.datasets import Kind
from ipucloud.billing.exports.selection import Selection, text
from ipucloud.billing.exports.series import NAMED, NAMES, REGION, WORDS, fixed_text, guard, time_text
from ipucloud.contract.exports import Dataset
from ipucloud.db.documents import decimal_places

_ROUNDED = f"""
'Line ' || line || ' rounded to ' || CASE {decimal_places("currency")} WHEN 2 THEN 'cents'
                                     ELSE 'the smallest amount in ' || currency END
"""
_OF_MONTH = """
WITH issued AS (
  SELECT i.*, coalesce(n.name, a.name) AS account_name,
         coalesce('Net ' || CASE WHEN i.due_on IS NOT NULL THEN a.payment_days END, 'Nothing to pay') AS terms
    FROM invoices i JOIN billing_accounts a ON a.id = i.account_id
    LEFT JOIN export_names n ON (n.month, n.kind, n.id) = (%(month)s, 'account', a.id)
   WHERE {any_line}
), own AS (
  SELECT * FROM issued AS i WHERE month = %(month)s AND %(ends_month)s AND {scope}
), line AS (
  SELECT i.account_id, i.account_name, i.currency, i.number, i.month, i.issued_at, i.due_on, i.terms, l.line, l.sku,
         l.region, l.unit_price, l.machine_minutes, l.usage_month, l.cost, l.amount, l.project_id,
         l.credited_machine_minutes * l.unit_price AS credited, coalesce(b.number, i.number) AS reference,
         coalesce(pn.name, p.name) AS project_name
    FROM issued AS i
    JOIN invoice_lines l ON l.invoice_id = i.id
    JOIN projects p ON p.id = l.project_id
    LEFT JOIN export_names pn ON (pn.month, pn.kind, pn.id) = (%(month)s, 'project', p.id)
    LEFT JOIN invoices b ON b.id = l.corrects
   WHERE i.month = %(month)s AND %(ends_month)s AND {lines}
), part AS (
  SELECT account_id, account_name, currency, number, reference, month AS charge_month, 'Adjustment' AS category,
         NULL AS class, amount - cost AS amount, line || '/rounding' AS part, {rounded} AS description,
         issued_at, due_on, terms, project_id, project_name,
         CASE sku WHEN 'volume-gib' THEN 'volume' WHEN 'snapshot-gib' THEN 'snapshot'
              WHEN 'address' THEN 'address' END AS kind
    FROM line WHERE amount <> cost
  UNION ALL
  SELECT account_id, account_name, currency, number, number, month, 'Credit', NULL, -promo_applied, 'credit',
         'Promotional credit', issued_at, due_on, terms, NULL, NULL, NULL
    FROM own WHERE promo_applied <> 0
  UNION ALL
  SELECT account_id, account_name, currency, number, number, month, 'Tax', NULL, t.tax, 'tax-' || trim_scale(t.rate),
         t.name || ' ' || trim_scale(t.rate * 100) || ' percent', issued_at, due_on, terms, NULL, NULL, NULL
    FROM own JOIN invoice_taxes t ON t.invoice_id = own.id WHERE t.tax <> 0
  UNION ALL
  SELECT account_id, account_name, currency, n.number, i.number, month, note_line.category, 'Correction',
         note_line.amount, note_line.part, note_line.description, n.issued_at, NULL, 'Nothing to pay', NULL, NULL, NULL
    FROM issued AS i JOIN credit_notes n ON n.invoice_id = i.id
   CROSS JOIN LATERAL (
     SELECT 'Credit', -n.net, 'net', 'Credit note'
      UNION ALL
     SELECT 'Tax', -c.tax, 'tax-' || trim_scale(c.rate), 'Tax given back, ' || trim_scale(c.rate * 100) || ' percent'
       FROM credit_note_taxes c WHERE c.credit_note_id = n.id) AS note_line (category, amount, part, description)
   WHERE note_line.amount <> 0 AND {scope} AND n.issued_at >= %(since)s::timestamp AT TIME ZONE 'UTC'
     AND n.issued_at < %(until)s::timestamp AT TIME ZONE 'UTC'
)
"""
# A report that was cited later, for the rest of the interval, is no reason of this charge.
_GIVEN_BACK = """
, given_back AS (
  SELECT c.*, used.month AS usage_month, -c.minutes * c.credited * c.unit_price AS amount, {names},
         (SELECT string_agg(DISTINCT f.code, ', ' ORDER BY f.code)
            FROM usage_credits e JOIN cited_faults f ON f.id = e.report_id
           WHERE e.interval_id = c.interval_id AND f.first_seen_at < c.ended_at) AS codes
    FROM usage_charges c
   CROSS JOIN LATERAL (
     SELECT (c.hour AT TIME ZONE 'UTC')::date AS day, date_trunc('month', c.hour AT TIME ZONE 'UTC')::date AS month
   ) AS used {named}
   WHERE c.billing_month = %(month)s AND c.credited > 0 AND {charges}
)
"""
_COST_AND_USAGE = """
SELECT amount AS "BilledCost", 'urn:ipu:account:' || account_id AS "BillingAccountId",
       account_name AS "BillingAccountName", currency AS "BillingCurrency", category AS "ChargeCategory",
       class AS "ChargeClass", description AS "ChargeDescription", 'One-Time' AS "ChargeFrequency",
       (charge_month + interval '1 month') AT TIME ZONE 'UTC' AS "ChargePeriodEnd",
       charge_month::timestamp AT TIME ZONE 'UTC' AS "ChargePeriodStart", amount AS "ContractedCost",
       amount AS "EffectiveCost", number || '/' || part AS "InvoiceDetailId", number AS "InvoiceId",
       amount AS "ListCost", currency AS "PricingCurrency", amount AS "PricingCurrencyEffectiveCost",
       number || '/' || part AS "x_ChargeId", 0::numeric AS "x_Revision", NULL AS "RegionId", NULL AS "RegionName",
       NULL AS "ResourceId", NULL AS "ResourceName", NULL AS "ResourceType",
       'urn:ipu:project:' || project_id AS "SubAccountId", project_name AS "SubAccountName",
       CASE WHEN project_id IS NOT NULL THEN 'Project' END AS "SubAccountType", NULL AS "Tags",
       'false' AS "x_Provisional", NULL::numeric AS "ConsumedQuantity", NULL AS "ConsumedUnit",
       NULL::numeric AS "ContractedUnitPrice", NULL::numeric AS "ListUnitPrice", NULL AS "PricingCategory",
       NULL::numeric AS "PricingCurrencyContractedUnitPrice", NULL::numeric AS "PricingCurrencyListUnitPrice",
       NULL::numeric AS "PricingQuantity", NULL AS "PricingUnit", NULL AS "SkuId", NULL AS "SkuMeter",
       NULL AS "SkuPriceDetails", NULL AS "SkuPriceId", {service_category} AS "ServiceCategory",
       {service} AS "ServiceName", {service_subcategory} AS "ServiceSubcategory"
  FROM part
 UNION ALL
SELECT amount, 'urn:ipu:account:' || account_id, account_name, currency, 'Credit',
       CASE WHEN usage_month < %(month)s THEN 'Correction' END,
       format('%%s of %%s machines did not work, %%s min: %%s', credited, quantity + credited, minutes, codes),
       'Usage-Based', ended_at, started_at, amount, amount, number || '/' || line || '/credited',
       {invoice_id},
       -minutes * credited * list_unit_price, currency, amount,
       concat_ws('-', to_char(hour AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24'), resource_id, first_minute, rev, 'credit'),
       rev, region, coalesce(region_name, region), 'urn:ipu:cluster:' || resource_id, cluster_name, 'IPU Cluster',
       'urn:ipu:project:' || project_id, project_name, 'Project', tags::text, 'false', NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {service_category}, {service}, {service_subcategory}
  FROM given_back
 UNION ALL
"""
# Usage that is not posted yet: of the running hour, and of those that no worker has closed. It has the minutes that
# have begun, priced as a close would price them, and is marked: the charges that replace it have other ids.
# Quantities have a fraction, as those of posted usage: readers of CSV take a column without any for integers.
_PROVISIONAL = """
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
      {region} = u.region
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
          {details} AS details,
          concat_ws('/', used.sku, used.region, used.currency) AS price_id) AS priced ON charge.category = 'Usage'
 WHERE used.minutes > 0
 ORDER BY "x_ChargeId"
"""
_GRAIN = """
jsonb_build_object('x_SubAccountId', 'urn:ipu:project:' || project_id, 'x_SkuId', sku, 'x_RegionId', region,
                   'x_UsageMonth', to_char(usage_month, 'YYYY-MM'))
"""
_INVOICE_DETAIL = """
, detail AS (
  SELECT account_id, currency, number, reference, 'Usage' AS category, cost + credited AS amount, line::text AS part,
         format('%%s in %%s, %%s %%s-minutes at %%s', sku, region, machine_minutes,
                CASE WHEN sku IN ('volume-gib', 'snapshot-gib') THEN 'GiB'
                     WHEN sku = 'address' THEN 'address' ELSE 'machine' END, trim_scale(unit_price))
           AS description,
         issued_at, due_on, terms, {grain} AS grain
    FROM line
  UNION ALL
  SELECT account_id, currency, number, reference, 'Credit', -credited, line || '/credited',
         'Machines of line ' || line || ' that did not work', issued_at, due_on, terms, {grain}
    FROM line WHERE credited <> 0 OR (number, line) IN (SELECT number, line FROM given_back)
  UNION ALL
  SELECT account_id, currency, number, reference, category, amount, part, description, issued_at, due_on, terms, NULL
    FROM part
)
SELECT amount AS "BilledCost", 'urn:ipu:account:' || account_id AS "BillingAccountId", currency AS "BillingCurrency",
       category AS "ChargeCategory", date_trunc('second', issued_at) AS "InvoiceDetailCreated",
       description AS "InvoiceDetailDescription", grain::text AS "InvoiceDetailGrain",
       number || '/' || part AS "InvoiceDetailId", date_trunc('second', issued_at) AS "InvoiceDetailLastUpdated",
       number AS "InvoiceId", date_trunc('second', issued_at) AS "InvoiceIssueDate",
       'Issued' AS "InvoiceIssueStatus", due_on::timestamp AT TIME ZONE 'UTC' AS "PaymentDueDate",
       terms AS "PaymentTerms", reference AS "ReferenceInvoiceId"
  FROM detail ORDER BY number, part
"""
_BILLING_PERIOD = """
SELECT date_trunc('second', m.opened_at) AS "BillingPeriodCreated",
       date_trunc('second', coalesce(d.issued_at, m.sealed_at, m.opened_at)) AS "BillingPeriodLastUpdated",
       CASE WHEN m.sealed_at IS NULL OR d.issued_at IS NULL THEN 'Open' ELSE 'Closed' END AS "BillingPeriodStatus"
  FROM billing_months m LEFT JOIN invoiced_months d USING (month) WHERE m.month = %(month)s
"""
_QUERIES = {
    Dataset.COST_AND_USAGE: _OF_MONTH + _GIVEN_BACK + _COST_AND_USAGE + _PROVISIONAL,
    Dataset.INVOICE_DETAIL: _OF_MONTH + _GIVEN_BACK + _INVOICE_DETAIL,
    Dataset.BILLING_PERIOD: _BILLING_PERIOD,
}


def constants(selection: Selection) -> dict[str, object]:
    """Columns with the same value in every row of every dataset, by name; others are empty."""
    return {
        "BillingAccountType": "Organization",
        "BillingPeriodEnd": selection.next_month,
        "BillingPeriodStart": selection.month,
        "HostProviderName": selection.provider,
        "InvoiceIssuerName": selection.provider,
        "ProviderName": selection.provider,
        "PublisherName": selection.provider,
        "ServiceProviderName": selection.provider,
    }


def small_rows(selection: Selection) -> sql.Composed:
    """Every row of a month of the selection except usage; there are few."""
    whose = "u.project_id = %(project_id)s" if selection.account_id is None else "paid.account_id = %(account_id)s"
    words = {
        **WORDS,
        "any_line": selection.of_documents,
        "scope": selection.of_invoices,
        "lines": selection.of_lines,
        "charges": selection.of_charges,
        "whose": text(whose),
        "rounded": text(_ROUNDED),
        "grain": text(_GRAIN),
        "names": text(NAMES),
        "named": text(NAMED),
        "region": text(REGION),
    }
    return text(_QUERIES[selection.dataset]).format(**words)


def small_rows_as_text(selection: Selection) -> sql.Composed:
    """The same as a file of text has it, all columns in order."""
    names = {part.split('"')[0] for part in _QUERIES[selection.dataset].split('AS "')[1:]}
    fixed = constants(selection)
    cells: list[sql.Composable] = []
    for column in selection.columns:
        if column.name not in names:
            value = fixed_text(fixed.get(column.name))
            # The statement has parameters, so that a percent sign of its own has to be doubled.
            cells.append(sql.Literal(None if value is None else value.replace("%", "%%")))
        elif column.kind is Kind.TIME:
            cells.append(time_text(sql.Identifier(column.name)))
        elif column.kind is Kind.CHOSEN:
            cells.append(guard(column.name))
        else:
            cells.append(sql.Identifier(column.name))
    return text("SELECT {cells} FROM ({rows}) AS small").format(
        cells=sql.SQL(", ").join(cells), rows=small_rows(selection)
    )
