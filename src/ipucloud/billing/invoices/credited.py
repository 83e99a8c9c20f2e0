"""What an invoice leaves out, because machines did not work: by usage interval, with the reports that say so."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.metering.evidence import cited
from ipucloud.contract.invoices import InvoiceCreditOut
from ipucloud.db.documents import money, rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

_CREDITED = Query(
    f"""
    SELECT coalesce(json_agg(json_build_object(
             'project_id', project_id, 'cluster_id', resource_id, 'cluster', name, 'since', {rfc3339("since")},
             'until', {rfc3339("until")}, 'machine_minutes', machine_minutes, 'amount', {money("amount", ":currency")},
             'credited_for', {cited("credited.interval_id", "credited.until")}
           ) ORDER BY since, resource_id, interval_id), '[]')::text
      FROM (SELECT u.interval_id, u.project_id, u.resource_id, c.name, min(u.started_at) AS since,
                   max(u.ended_at) AS until, sum(u.minutes * u.credited) AS machine_minutes,
                   sum(u.minutes * u.credited * u.unit_price) AS amount
              FROM usage_charges u JOIN billed_clusters c ON c.id = u.resource_id
             WHERE u.billing_month = :month AND u.account_id = :account_id AND u.currency = :currency AND u.credited > 0
             GROUP BY u.interval_id, u.project_id, u.resource_id, c.name
            HAVING sum(u.minutes * u.credited) <> 0) AS credited
    """,  # noqa: S608  # our own text
    str,
)
_CREDITS = TypeAdapter(list[InvoiceCreditOut])


async def credited(connection: Statements, bill: Bill) -> Sequence[InvoiceCreditOut]:
    """The credits of a bill in order of time."""
    return _CREDITS.validate_json(await _CREDITED.one(connection, bill.values()))
