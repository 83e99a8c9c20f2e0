"""Which document billed before what a line corrects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.invoices.lines import Bill, Line
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
