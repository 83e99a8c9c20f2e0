"""What kind of price a line has, and how long it is valid: as the price book has it when the document is issued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.invoices.lines import Line
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements


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
