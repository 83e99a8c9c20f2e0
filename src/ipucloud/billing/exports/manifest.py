"""Manifests: rows, sums, digest and time of the snapshot. The same days give the same manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from ipucloud.billing.exports.invoiced import small_rows
from ipucloud.billing.exports.selection import Connection, Period, Selection, text
from ipucloud.billing.exports.series import invoice_id
from ipucloud.contract.exports import Dataset
from ipucloud.kernel.money import total, written

Manifest = Mapping[str, object]

_MOMENT = """
SELECT now(), CASE WHEN num_nulls(d.issued_at, e.frozen_at) = 0 THEN greatest(d.issued_at, e.frozen_at) END
  FROM (SELECT %(month)s::date AS month) AS params
  LEFT JOIN invoiced_months d USING (month) LEFT JOIN export_months e USING (month)
"""
_SUMS = """
SELECT category, parts.currency, parts.number, sum(rows)::bigint AS rows, sum(cost) AS cost
  FROM (SELECT 'Usage' AS category, used.currency, {invoice_id} AS number, used.rows, used.cost
          FROM (SELECT c.account_id, c.currency, count(*) AS rows,
                       sum(c.cost) + coalesce(sum(c.minutes * c.credited * c.unit_price)
                                                FILTER (WHERE c.credited > 0), 0) AS cost
                  FROM usage_charges c
                 WHERE c.billing_month = %(month)s AND {scope} GROUP BY c.account_id, c.currency) AS used
          LEFT JOIN invoices i ON (i.account_id, i.currency, i.month) = (used.account_id, used.currency, %(month)s)
        UNION ALL
        SELECT "ChargeCategory", "BillingCurrency", "InvoiceId", count(*), sum("BilledCost")
          FROM ({small}) AS small GROUP BY 1, 2, 3) AS parts
 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
_TOTALS = """
SELECT number, total FROM invoices WHERE number = ANY(%(numbers)s)
UNION ALL SELECT number, -total FROM credit_notes WHERE number = ANY(%(numbers)s)
"""


class WrongRowsError(Exception):
    """A file has another number of rows than the ledger: a bug, and the file must not be used."""


def manifest_of(
    connection: Connection, selection: Selection, *, rows: int, size: int, sha256: str, name: str
) -> Manifest:
    """The manifest of a file that was written from this connection's snapshot. Raises WrongRowsError."""
    sums = _sums(connection, selection)
    if selection.dataset is Dataset.COST_AND_USAGE and sum(each.rows for each in sums) != rows:
        raise WrongRowsError(f"{rows} rows were written")
    snapshot_at, final_since = _moment(connection, selection)
    scope = ("project", selection.project_id) if selection.account_id is None else ("account", selection.account_id)
    return {
        "specification": "FOCUS",
        "focus_version": selection.version.value,
        "dataset": selection.dataset.value,
        **_named(selection.period),
        "scope": {"type": scope[0], "id": str(scope[1])},
        "provider": selection.provider,
        "provisional": selection.provisional,
        "final": final_since is not None,
        "snapshot_at": _instant(final_since or snapshot_at),
        "rows": rows,
        "sums": [
            {
                "charge_category": each.category,
                "currency": each.currency,
                "rows": each.rows,
                "billed_cost": written(each.cost, each.currency),
            }
            for each in _by(sums, lambda each: (each.category, each.currency))
        ],
        "invoices": _invoices(connection, sums),
        "columns": [column.name for column in selection.columns],
        "files": [{"name": name, "format": selection.format.value, "bytes": size, "sha256": sha256}],
    }


@dataclass(frozen=True, slots=True)
class _Sum:
    category: str
    currency: str
    invoice: str | None
    rows: int
    cost: Decimal

    def plus(self, other: _Sum) -> _Sum:
        return replace(self, rows=self.rows + other.rows, cost=total((self.cost, other.cost)))


def _named(period: Period) -> Mapping[str, str]:
    return {"month": str(period)} if period.month else {"since": str(period.since), "until": str(period.until)}


def _moment(connection: Connection, selection: Selection) -> tuple[datetime, datetime | None]:
    """The time of the snapshot, and when its months became final, if they are."""
    moments = [connection.execute(_MOMENT, part.values).fetchone() or (None, None) for part in selection.parts]
    finals = [final for _, final in moments if final is not None]
    return moments[0][0], max(finals) if len(finals) == len(moments) else None


def _sums(connection: Connection, selection: Selection) -> list[_Sum]:
    """By category, currency and invoice, month by month."""
    if selection.dataset is not Dataset.COST_AND_USAGE:
        return []
    number = text(invoice_id("i.number", "used.account_id"))
    return [
        _Sum(*row)
        for part in selection.parts
        for row in connection.execute(
            text(_SUMS).format(scope=part.of_charges, small=small_rows(part), invoice_id=number), part.values
        )
    ]


def _by(sums: Sequence[_Sum], key: Callable[[_Sum], tuple[str, str]]) -> list[_Sum]:
    """One sum for each key, in order of the keys."""
    joined: dict[tuple[str, str], _Sum] = {}
    for item in sums:
        before = joined.get(key(item))
        joined[key(item)] = item if before is None else before.plus(item)
    return [joined[group] for group in sorted(joined)]


def _invoices(connection: Connection, sums: Sequence[_Sum]) -> list[Mapping[str, object]]:
    """What the file has of each invoice's total, and whether that is all of it: a project's file has a part of a
    shared one. What is on no invoice costs nothing.
    """
    invoices = _by([each for each in sums if each.invoice], lambda each: (each.invoice or "", each.currency))
    totals: dict[str, Decimal] = dict(
        connection.execute(_TOTALS, {"numbers": [each.invoice for each in invoices]}).fetchall()
    )
    return [
        {
            "invoice_id": each.invoice,
            "currency": each.currency,
            "rows": each.rows,
            "billed_cost": written(each.cost, each.currency),
            "whole": totals.get(each.invoice or "") == each.cost,
        }
        for each in invoices
    ]


def _instant(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%S.%fZ}"


def file_name(selection: Selection, sha256: str) -> str:
    """Named after its digest: another name is another file, and the same file may be written twice."""
    parts = ("focus", selection.version, selection.dataset, str(selection.period), sha256)
    return f"{'-'.join(parts)}.{selection.format}"
