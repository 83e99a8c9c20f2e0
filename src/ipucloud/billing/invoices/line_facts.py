"""What a document says of its lines beside their amounts: what they correct, what is credited, how long prices hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from pydantic import TypeAdapter

from ipucloud.billing.invoices.lines import Bill, Line
from ipucloud.billing.metering.credits import cited
from ipucloud.contract.invoices import InvoiceCreditOut
from ipucloud.db.documents import money, rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements


class Corrected(NamedTuple):
    """An earlier document of the account; `place` is that of the line that corrects it."""

    place: int
    id: UUID
    number: str
    issued_on: date


# The same SKU and price come first, because a change of the price takes back at the old one and charges at the new.
_CORRECTED = Query(
    """
    SELECT line.place::integer AS place, billed.id, billed.number,
           (billed.issued_at AT TIME ZONE 'UTC')::date AS issued_on
      FROM unnest(CAST(:projects AS uuid[]), CAST(:skus AS text[]), CAST(:regions AS text[]),
                  CAST(:prices AS uuid[]), CAST(:months AS date[])) WITH ORDINALITY
           AS line (project_id, sku, region, price_id, usage_month, place)
     CROSS JOIN LATERAL (
       SELECT i.id, i.number, i.issued_at FROM invoices i JOIN invoice_lines l ON l.invoice_id = i.id
        WHERE i.account_id = :account_id AND i.currency = :currency AND i.month < :month
          AND l.project_id = line.project_id AND l.usage_month = line.usage_month
        ORDER BY (l.sku, l.region) = (line.sku, line.region) DESC, l.price_id = line.price_id DESC, i.month, l.line
        LIMIT 1) AS billed
     WHERE line.usage_month < :month
    """,
    Corrected,
)


async def corrected(connection: Statements, bill: Bill, lines: Sequence[Line]) -> Mapping[int, Corrected]:
    """By the place of a line, from 1: the first document that billed the usage that it corrects.

    That is the one with a line of the same project and month of usage; of several the one with the same SKU and price,
    then the earliest. Late usage of a month for which the project was never billed corrects none.
    """
    if all(line.usage_month == bill.month for line in lines):
        return {}
    values = {
        "projects": [line.project_id for line in lines],
        "skus": [line.sku for line in lines],
        "regions": [line.region for line in lines],
        "prices": [line.price_id for line in lines],
        "months": [line.usage_month for line in lines],
    }
    return {each.place: each for each in await _CORRECTED.all(connection, bill.values() | values)}


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
              FROM usage_charges u JOIN resources c ON c.id = u.resource_id
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


class PriceTerm(NamedTuple):
    """A version of a price, valid in [since, until); `contract`: it was agreed with the account."""

    id: UUID
    contract: bool
    since: datetime
    until: datetime | None


_TERMS = Query(
    """
    SELECT id, false AS contract, valid_from AS since, valid_to AS until FROM prices
     WHERE id = ANY(CAST(:ids AS uuid[]))
    UNION ALL
    SELECT id, true, valid_from, valid_to FROM contract_prices WHERE id = ANY(CAST(:ids AS uuid[]))
    """,
    PriceTerm,
)


async def price_terms(connection: Statements, lines: Sequence[Line]) -> Mapping[UUID, PriceTerm]:
    """By the price's id."""
    ids = sorted({line.price_id for line in lines})
    return {each.id: each for each in await _TERMS.all(connection, {"ids": ids})}
