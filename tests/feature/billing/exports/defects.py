"""Our own suite over the rows of an exported Cost and Usage file: what the validators of the format do not look at.

The file is loaded as text into a temporary table, so that what is checked is what a reader gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from psycopg import sql

from ipucloud.billing.exports.datasets import Column, Kind, columns_of
from ipucloud.billing.exports.selection import Connection, Period, text
from ipucloud.billing.exports.series import FORMULA
from ipucloud.contract.exports import Dataset, FocusVersion

MOST = 100
"""Defects of one kind that are listed."""


@dataclass(frozen=True, slots=True)
class Defect:
    """`row` counts from 1 behind the header; 0: the file as a whole."""

    check: str
    row: int
    detail: str


_ENUMS: dict[str, tuple[str, ...]] = {
    "CapacityReservationStatus": ("Used", "Unused"),
    "ChargeCategory": ("Usage", "Tax", "Credit", "Adjustment"),
    "ChargeClass": ("Correction",),
    "ChargeFrequency": ("One-Time", "Usage-Based"),
    "CommitmentDiscountCategory": ("Spend", "Usage"),
    "CommitmentDiscountStatus": ("Used", "Unused"),
    "PricingCategory": ("Standard", "Dynamic"),
    "PricingUnit": ("Server-Minutes", "GiB-Minutes"),
    "ConsumedUnit": ("IPU-Minutes", "GiB-Minutes"),
    "ResourceType": ("IPU Cluster", "Volume"),
    "ServiceCategory": ("AI and Machine Learning", "Storage"),
    "ServiceName": ("IPU Cluster", "Volume"),
    "ServiceSubcategory": ("Machine Learning", "Block Storage"),
    "SubAccountType": ("Project",),
    "BillingAccountType": ("Organization",),
}
_FORMS = {
    Kind.DECIMAL: r"^-?[0-9]{1,28}(\.[0-9]{1,20})?$",
    Kind.TIME: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}
_TOGETHER = (
    ("RegionId", "RegionName"),
    ("ResourceId", "ResourceName", "ResourceType"),
    ("SubAccountId", "SubAccountName", "SubAccountType"),
    ("ConsumedQuantity", "ConsumedUnit"),
    ("PricingQuantity", "PricingUnit"),
    ("SkuId", "SkuPriceId", "SkuMeter", "SkuPriceDetails"),
)
_NO_DETAILS = 'SELECT *, NULL::text AS "InvoiceDetailId" FROM typed WHERE false'
_URNS = {"BillingAccountId": "account", "SubAccountId": "project", "ResourceId": "cluster"}

CHECKS = {
    "cost_is_price_times_quantity": """
        SELECT row, format('%%s is not %%s x %%s', "ContractedCost", "ContractedUnitPrice", "PricingQuantity")
          FROM usage
         WHERE "ContractedCost" IS DISTINCT FROM "ContractedUnitPrice" * "PricingQuantity"
        """,
    "list_cost_is_list_price_times_quantity": """
        SELECT row, format('%%s is not %%s x %%s', "ListCost", "ListUnitPrice", "PricingQuantity") FROM usage
         WHERE "ListCost" IS DISTINCT FROM "ListUnitPrice" * "PricingQuantity"
        """,
    "costs_agree": """
        SELECT row, format('billed %%s, contracted %%s, effective %%s', "BilledCost", "ContractedCost", "EffectiveCost")
          FROM typed
         WHERE "BilledCost" <> "ContractedCost" OR "BilledCost" <> "EffectiveCost"
            OR "BilledCost" <> "PricingCurrencyEffectiveCost" OR "BillingCurrency" <> "PricingCurrency"
            OR "ContractedUnitPrice" <> "PricingCurrencyContractedUnitPrice"
            OR "ListUnitPrice" <> "PricingCurrencyListUnitPrice"
        """,
    "price_is_not_negative": """
        SELECT row, format('%%s, %%s', "ContractedUnitPrice", "ListUnitPrice") FROM typed
         WHERE "ContractedUnitPrice" < 0 OR "ListUnitPrice" < 0
        """,
    "period_runs_forward": """
        SELECT row, format('%%s to %%s', "ChargePeriodStart", "ChargePeriodEnd") FROM typed
         WHERE "ChargePeriodStart" >= "ChargePeriodEnd" OR "BillingPeriodStart" >= "BillingPeriodEnd"
        """,
    "period_is_in_its_month": """
        SELECT row, format('%%s is not in the month of %%s', "ChargePeriodStart", "BillingPeriodStart")
          FROM typed
         WHERE "ChargeClass" IS NULL
           AND ("ChargePeriodStart" < "BillingPeriodStart" OR "ChargePeriodEnd" > "BillingPeriodEnd")
        """,
    "row_is_in_the_period": """
        SELECT row, format('%%s is not in it', day)
          FROM (SELECT f.row,
                       (CASE WHEN f."ResourceId" IS NOT NULL
                             THEN greatest(f."ChargePeriodStart", f."BillingPeriodStart")
                             ELSE coalesce(n.issued_at, f."BillingPeriodEnd" - interval '1 day')
                         END AT TIME ZONE 'UTC')::date AS day
                  FROM typed f LEFT JOIN credit_notes n ON n.number = f."InvoiceId") AS f
         WHERE day < %(since)s::date OR day >= %(until)s::date
        """,
    "correction_is_of_a_month_before": """
        SELECT row, format('%%s is not before %%s', "ChargePeriodStart", "BillingPeriodStart") FROM usage
         WHERE "ChargeClass" = 'Correction' AND "ChargePeriodEnd" > "BillingPeriodStart"
        """,
    "billing_period_is_a_month": """
        SELECT row, format('%%s to %%s', "BillingPeriodStart", "BillingPeriodEnd") FROM typed
         WHERE date_trunc('month', "BillingPeriodStart", 'UTC') <> "BillingPeriodStart"
            OR (("BillingPeriodStart" AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' <> "BillingPeriodEnd"
        """,
    "charge_is_there_once": """
        SELECT row, format('%%s is there before', "x_ChargeId")
          FROM (SELECT row, "x_ChargeId", row_number() OVER (PARTITION BY "x_ChargeId" ORDER BY row) AS n
                  FROM file) AS f
         WHERE n > 1
        """,
    "resource_is_charged_once_at_a_time": """
        SELECT row, format('%%s: %%s begins before %%s', "ResourceId", "ChargePeriodStart", ended)
          FROM (SELECT row, "ResourceId", "ChargePeriodStart",
                       max("ChargePeriodEnd") OVER (PARTITION BY "ResourceId" ORDER BY "ChargePeriodStart", row
                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended
                  FROM usage
         WHERE "x_Revision" = 0) AS f
         WHERE "ChargePeriodStart" < ended
        """,
    "first_charge_is_positive": """
        SELECT row, format('%%s', "PricingQuantity") FROM usage
         WHERE "x_Revision" = 0 AND coalesce("PricingQuantity", 0) <= 0
        """,
    "period_holds_the_minutes": """
        SELECT row, format('%%s in %%s seconds', "ChargeDescription", seconds)
          FROM (SELECT row, "ChargeDescription", "PricingQuantity", "SkuId", "x_Revision",
                       extract(epoch FROM "ChargePeriodEnd" - "ChargePeriodStart") AS seconds,
                       regexp_match("ChargeDescription", '^(.*) x([0-9]{1,9}), (-?[0-9]{1,9}) min$') AS said
                  FROM usage) AS f
         WHERE said IS NULL OR said[1] <> "SkuId" OR said[2]::numeric * said[3]::numeric <> "PricingQuantity"
            OR ("x_Revision" = 0 AND said[3]::numeric > ceil(seconds / 60))
        """,
    "consumed_is_priced_times_ipus": """
        SELECT row, format('%%s of %%s', "ConsumedQuantity", "PricingQuantity") FROM usage
         WHERE "ConsumedQuantity" IS DISTINCT FROM
               "PricingQuantity" * substring("SkuPriceDetails" FROM '"x_IpuCount": ([0-9]{1,6})')::numeric
        """,
    "usage_says_what_was_used": """
        SELECT row, 'a resource, price, quantity or sub-account is missing' FROM usage
         WHERE num_nulls("ResourceId", "SkuId", "PricingQuantity", "ConsumedQuantity", "SubAccountId",
                                      "RegionId", "ContractedUnitPrice", "ListUnitPrice", "PricingCategory") > 0
        """,
    "service_is_that_of_the_resource": """
        SELECT row, service || ' of ' || "ResourceType"
          FROM (SELECT row, "ResourceType",
                       concat_ws('/', "ServiceCategory", "ServiceSubcategory", "ServiceName") AS service
                  FROM file) AS f
         WHERE service <> CASE WHEN coalesce("ResourceType", split_part(service, '/', 3)) = 'Volume'
                               THEN 'Storage/Block Storage/Volume'
                               ELSE 'AI and Machine Learning/Machine Learning/IPU Cluster' END
        """,
    "tax_has_no_price": """
        SELECT row, 'tax with a price, SKU or quantity' FROM file
         WHERE "ChargeCategory" = 'Tax' AND num_nonnulls("SkuId", "SkuPriceId", "PricingQuantity", "PricingUnit",
               "PricingCategory", "ContractedUnitPrice", "ListUnitPrice", "ConsumedQuantity") > 0
        """,
    "price_id_is_of_the_sku": """
        SELECT row, format('%%s of %%s in %%s, %%s', "SkuPriceId", "SkuId", "RegionId", "BillingCurrency") FROM file
         WHERE "SkuPriceId" IS DISTINCT FROM "SkuId" || '/' || "RegionId" || '/' || "BillingCurrency"
           AND "ChargeCategory" = 'Usage'
        """,
    "detail_is_of_its_invoice": """
        SELECT row, format('%%s of %%s', "InvoiceDetailId", "InvoiceId") FROM joined
         WHERE "InvoiceDetailId" IS NULL AND "InvoiceId" NOT LIKE 'draft:%%'
            OR split_part("InvoiceDetailId", '/', 1) <> "InvoiceId"
        """,
    "line_is_the_sum_of_its_details": """
        SELECT min(row), format('%%s, line %%s: %%s in the file, %%s on the document', f."InvoiceId", l.line,
                                sum(f."BilledCost"), max(l.amount))
          FROM joined f
          JOIN invoices i ON i.number = f."InvoiceId"
          JOIN invoice_lines l ON l.invoice_id = i.id AND l.line::text = split_part(f."InvoiceDetailId", '/', 2)
         WHERE %(since)s::date IS NULL OR (i.month >= %(since)s AND i.month + interval '1 month' <= %(until)s)
         GROUP BY f."InvoiceId", l.line HAVING sum(f."BilledCost") <> max(l.amount)
        """,
    "id_has_one_name": """
        SELECT min(row), format('%%s has %%s names', id, count(DISTINCT name))
          FROM (SELECT row, "BillingPeriodStart" AS month, named.*
                  FROM file CROSS JOIN LATERAL (VALUES
                       ("ResourceId", "ResourceName"), ("SubAccountId", "SubAccountName"),
                       ("BillingAccountId", "BillingAccountName"), ("RegionId", "RegionName")) AS named (id, name)) AS n
         WHERE id IS NOT NULL GROUP BY month, id HAVING count(DISTINCT name) > 1
        """,
    "invoice_has_one_currency_and_account": """
        SELECT min(row), format('%%s', "InvoiceId") FROM file GROUP BY "InvoiceId"
        HAVING count(DISTINCT ("BillingCurrency", "BillingAccountId", "BillingPeriodStart")) > 1
        """,
    "currency_is_a_code": """
        SELECT row, format('%%s', "BillingCurrency") FROM file WHERE "BillingCurrency" !~ '^[A-Z]{3}$'
        """,
    "details_are_json_objects": r"""
        SELECT row, format('%%s %%s', "Tags", "SkuPriceDetails") FROM file
         WHERE coalesce("Tags", '{}') !~ '^\{.*\}$' OR coalesce("SkuPriceDetails", '{}') !~ '^\{.*\}$'
        """,
    "billed_is_what_is_on_the_invoice": """
        SELECT min(row), format('%%s: %%s in the file, %%s on the document', f."InvoiceId", sum(f."BilledCost"),
                                max(d.total))
          FROM typed f
          JOIN (SELECT number, total, month FROM invoices UNION ALL SELECT number, -total, NULL FROM credit_notes) AS d
            ON d.number = f."InvoiceId"
         WHERE %(whole)s AND (month IS NULL OR %(since)s::date IS NULL
                              OR (month >= %(since)s AND month + interval '1 month' <= %(until)s))
         GROUP BY f."InvoiceId" HAVING sum(f."BilledCost") <> max(d.total)
        """,
}
"""By name: gives (row, detail) of every defect, from `file` (text) and `typed` (numbers and times)."""


def find_defects(
    connection: Connection,
    pieces: Iterable[bytes],
    version: FocusVersion,
    *,
    whole_invoices: bool,
    period: Period | None = None,
) -> Sequence[Defect]:
    """Every defect of a Cost and Usage file in CSV.

    `whole_invoices`: the file has all rows of its invoices, so that their sums are to be those of the documents; with a
    `period`, those of invoices whose month lies within it. `period`: the days that the file is to be of. Raises
    psycopg.Error for what is no such file.
    """
    columns = columns_of(Dataset.COST_AND_USAGE, version)
    _load(connection, pieces, columns)
    checks = (*_per_column(columns), *CHECKS.items())
    bounds = {"since": period and period.since, "until": period and period.until}
    values = {"whole": whole_invoices, **bounds}
    defects = []
    for name, query in checks:
        limited = sql.Composed([text(query), sql.SQL(" ORDER BY 1 LIMIT "), sql.Literal(MOST)])
        rows = connection.execute(limited, values)
        defects += [Defect(name, row, detail) for row, detail in rows]
    return defects


def _load(connection: Connection, pieces: Iterable[bytes], columns: Sequence[Column]) -> None:
    names = sql.SQL(", ").join(text("{} text").format(sql.Identifier(column.name)) for column in columns)
    connection.execute("DROP TABLE IF EXISTS file CASCADE")
    connection.execute(text("CREATE TEMPORARY TABLE file (row integer GENERATED ALWAYS AS IDENTITY, {})").format(names))
    listed = sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)
    statement = text("COPY file ({}) FROM STDIN (FORMAT csv, HEADER match)").format(listed)
    with connection.cursor() as cursor, cursor.copy(statement) as copied:
        for piece in pieces:
            copied.write(piece)
    connection.execute(
        text("CREATE TEMPORARY VIEW typed AS SELECT row, {} FROM file").format(
            sql.SQL(", ").join(_typed(column) for column in columns)
        )
    )
    connection.execute("CREATE TEMPORARY VIEW usage AS SELECT * FROM typed WHERE \"ChargeCategory\" = 'Usage'")
    details = "TABLE typed" if "InvoiceDetailId" in {column.name for column in columns} else _NO_DETAILS
    connection.execute(text(f"CREATE TEMPORARY VIEW joined AS {details}"))
    connection.execute("ANALYZE file")


def _typed(column: Column) -> sql.Composable:
    name = sql.Identifier(column.name)
    if column.kind not in _FORMS:
        return name
    target = "numeric" if column.kind is Kind.DECIMAL else "timestamptz"
    statement = text(f"CASE WHEN {{name}} ~ {{form}} THEN {{name}}::{target} END AS {{name}}")
    return statement.format(name=name, form=sql.Literal(_FORMS[column.kind]))


def _per_column(columns: Sequence[Column]) -> Iterable[tuple[str, str]]:
    for column in columns:
        if not column.null:
            yield _bad(column, "column_is_not_empty", "IS NULL")
        if column.kind in _FORMS:
            yield _bad(column, "value_has_its_form", f"!~ '{_FORMS[column.kind]}'")
        if column.kind in {Kind.TEXT, Kind.CHOSEN}:
            yield _bad(column, "text_is_no_formula", f"~ {FORMULA}")
        if column.name in _ENUMS:
            allowed = ", ".join(f"'{value}'" for value in _ENUMS[column.name])
            yield _bad(column, "value_is_allowed", f"NOT IN ({allowed})")
        if column.name in _URNS:
            yield _bad(column, "id_is_qualified", f"!~ '^urn:ipu:{_URNS[column.name]}:[0-9a-f-]{{36}}$'")
    for names in _TOGETHER:
        listed = ", ".join(f'"{name}"' for name in names)
        condition = f"num_nulls({listed}) NOT IN (0, {len(names)})"
        query = f"SELECT row, '{', '.join(names)}' FROM file WHERE {condition}"  # noqa: S608  # ours
        yield "columns_are_empty_together", query


def _bad(column: Column, check: str, condition: str) -> tuple[str, str]:
    name = f'"{column.name}"'
    query = f"SELECT row, format('{column.name}: %%s', {name}) FROM file WHERE {name} {condition}"  # noqa: S608  # ours
    return check, query
