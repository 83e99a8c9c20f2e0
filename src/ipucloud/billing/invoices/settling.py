"""The wallet pays open invoices: as soon as it has money, in order of their due dates.

So an account has either money in its wallet or open invoices, never both. Whatever puts money into a wallet, such as
a payment or a credit note, calls `pay_open_invoices` in the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.payer import Payer, balance
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.db.rows import Query


class Paid(NamedTuple):
    """What the wallet paid of an invoice."""

    number: str
    amount: Decimal


class _Open(NamedTuple):
    id: UUID
    number: str
    rest: Decimal


_OPEN = Query(
    """
    SELECT id, number, rest
      FROM (SELECT i.*, due - coalesce((SELECT sum(s.amount) FROM invoice_settlements s WHERE s.invoice_id = i.id), 0)
                   AS rest
              FROM invoices i WHERE account_id = :account_id AND currency = :currency AND due > 0
               AND id IS DISTINCT FROM CAST(:but AS uuid)) AS invoice
     WHERE rest > 0
     ORDER BY number <> ALL(CAST(:first AS text[])), due_on, issued_at, number
    """,
    _Open,
)
_SETTLE = Query(
    """
    INSERT INTO invoice_settlements (invoice_id, amount, from_wallet) VALUES (:invoice_id, :amount, true) RETURNING id
    """,
    int,
)


async def pay_open_invoices(
    connection: AsyncConnection, payer: Payer, currency: str, *, first: Sequence[str] = (), but: UUID | None = None
) -> list[Paid]:
    """Pay the account's open invoices from its wallet, as far as it reaches; the account is locked.

    In order of due date, then of issue, behind those with the numbers `first`, which a credit note corrects; never the
    invoice `but`, which the caller is about to settle.
    """
    held = await balance(connection, payer, "wallet", currency)
    paid: list[Paid] = []
    if held <= 0:
        return paid
    moves = []
    wallet, receivable = payer.side("wallet", currency), payer.side("receivable", currency)
    values = {"account_id": payer.id, "currency": currency, "first": list(first), "but": but}
    for invoice in await _OPEN.all(connection, values):
        amount = min(held, invoice.rest)
        if amount <= 0:
            break
        settlement = await _SETTLE.one(connection, {"invoice_id": invoice.id, "amount": amount})
        moves.append(Move(f"settlement/{settlement}/wallet", "settlement_wallet", wallet, receivable, amount))
        paid.append(Paid(invoice.number, amount))
        held -= amount
    await post(connection, moves)
    return paid
