"""Manifests: rows, sums, digest and time of the snapshot. The same days give the same manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from ipucloud.billing.exports.invoiced import small_rows
from ipucloud.billing.exports.periods import Period
from ipucloud.billing.exports.selection import Connection, Selection, text
from ipucloud.contract.exports import Dataset
from ipucloud.kernel.money import plain, total

Manifest = Mapping[str, object]

_MOMENT = """
SELECT now(), CASE WHEN num_nulls(d.issued_at, e.frozen_at) = 0 THEN greatest(d.issued_at, e.frozen_at) END
  FROM (SELECT %(month)s::date AS month) AS asked
  LEFT JOIN invoiced_months d USING (month) LEFT JOIN export_months e USING (month)
"""
_SUMS = """
SELECT category, currency, sum(rows)::bigint AS rows, sum(cost) AS cost
  FROM (SELECT 'Usage' AS category, c.currency, count(*) AS rows,
               sum(c.cost) + coalesce(sum(c.minutes * c.credited * c.unit_price) FILTER (WHERE c.credited > 0), 0)
                 AS cost
          FROM usage_charges c
         WHERE c.billing_month = %(month)s AND {scope} GROUP BY c.currency
        UNION ALL
        SELECT "ChargeCategory", "BillingCurrency", count(*), sum("BilledCost")
          FROM ({small}) AS small GROUP BY 1, 2) AS parts
 GROUP BY category, currency ORDER BY category, currency
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
    taken, final_since = _moment(connection, selection)
    scope = ("project", selection.project_id) if selection.account_id is None else ("account", selection.account_id)
    return {
        "specification": "FOCUS",
        "focus_version": selection.version.value,
        "dataset": selection.dataset.value,
        **_named(selection.period),
        "scope": {"type": scope[0], "id": str(scope[1])},
        "provider": selection.provider,
        "final": final_since is not None,
        "snapshot_at": _instant(final_since or taken),
        "rows": rows,
        "sums": [
            {
                "charge_category": each.category,
                "currency": each.currency,
                "rows": each.rows,
                "billed_cost": plain(each.cost),
            }
            for each in sums
        ],
        "columns": [column.name for column in selection.columns],
        "files": [{"name": name, "format": selection.format.value, "bytes": size, "sha256": sha256}],
    }


@dataclass(frozen=True, slots=True)
class _Sum:
    category: str
    currency: str
    rows: int
    cost: Decimal


def _named(period: Period) -> Mapping[str, str]:
    return {"month": str(period)} if period.month else {"since": str(period.since), "until": str(period.until)}


def _moment(connection: Connection, selection: Selection) -> tuple[datetime, datetime | None]:
    """The time of the snapshot, and when its months became final, if they are."""
    found = [connection.execute(_MOMENT, part.values).fetchone() or (None, None) for part in selection.parts]
    finals = [final for _, final in found if final is not None]
    return found[0][0], max(finals) if len(finals) == len(found) else None


def _sums(connection: Connection, selection: Selection) -> list[_Sum]:
    """By category and currency."""
    if selection.dataset is not Dataset.COST_AND_USAGE:
        return []
    sums: dict[tuple[str, str], _Sum] = {}
    for part in selection.parts:
        statement = text(_SUMS).format(scope=part.of_charges, small=small_rows(part))
        for category, currency, rows, cost in connection.execute(statement, part.values):
            so_far = sums.get((category, currency), _Sum(category, currency, 0, Decimal(0)))
            sums[category, currency] = _Sum(category, currency, so_far.rows + rows, total((so_far.cost, cost)))
    return [sums[key] for key in sorted(sums)]


def _instant(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%S.%fZ}"


def file_name(selection: Selection, sha256: str) -> str:
    """Named after its digest: another name is another file, and the same file may be written twice."""
    parts = ("focus", selection.version, selection.dataset, str(selection.period), sha256)
    return f"{'-'.join(parts)}.{selection.format}"
