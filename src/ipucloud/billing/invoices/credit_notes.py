"""Credit notes: reductions of issued invoices, in documents of their own series.

They have the invoice's tax rate. Together they never exceed their invoice, neither in net nor in tax. They reduce the
amount due first; the rest is added to the wallet.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.document import Credit, credit_note_document, written
from ipucloud.billing.invoices.numbers import next_number, today
from ipucloud.billing.invoices.payer import Payer, lock_payer, platform
from ipucloud.billing.invoices.payments import settle_invoice, still_due
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.invoices.tables import CREDIT_NOTE_SERIES
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import plain, product, rounded


class _Invoice(NamedTuple):
    """An invoice with its tax rate, and what is not credited yet."""

    id: UUID
    currency: str
    document: str
    rate: Decimal
    left: Decimal
    left_tax: Decimal


_INVOICE = Query(
    """
    SELECT i.id, i.currency, i.document::text AS document, t.rate,
           i.taxable - coalesce(given.net, 0) AS left, i.tax - coalesce(given.tax, 0) AS left_tax
      FROM invoices i
      JOIN invoice_taxes t ON t.invoice_id = i.id
     CROSS JOIN LATERAL (
       SELECT sum(net) AS net, sum(tax) AS tax FROM credit_notes n WHERE n.invoice_id = i.id) AS given
     WHERE i.number = :number
    """,
    _Invoice,
)
_ACCOUNT = Query("SELECT account_id FROM invoices WHERE number = :number", UUID)
_NOTE = sa.text(
    """
    INSERT INTO credit_notes (id, invoice_id, series, year, sequence, number, reason, net, tax, total, to_wallet,
                              document)
    VALUES (:id, :invoice_id, :series, :year, :sequence, :number, :reason, :net, :tax, :total, :to_wallet,
            CAST(:document AS json))
    """
)


async def issue_credit_note(connection: AsyncConnection, invoice: str, *, net: Decimal | None, reason: str) -> str:
    """Credit `net`, in whole cents, and its tax, or the whole rest; returns the credit note's number.

    Raises `Problem` not_found, state_conflict if nothing is left, validation_failed for more than the rest.
    """
    account = await _ACCOUNT.one_or_none(connection, {"number": invoice})
    if account is None:
        raise not_found()
    payer = await lock_payer(connection, account)
    row = await _INVOICE.one(connection, {"number": invoice})
    if row.left <= 0:
        raise Problem(STATE_CONFLICT, "This invoice is fully credited already.")
    if net is not None and net > row.left:
        fault = FieldError(
            "/net", "too_much", f"At most {plain(row.left)} {row.currency} of the invoice is not credited yet."
        )
        raise Problem(VALIDATION_FAILED, "Correct the fields named in `errors`; nothing was credited.", [fault])
    net = row.left if net is None else net
    tax = row.left_tax if net == row.left else min(row.left_tax, rounded(product(net, row.rate)))
    due = await still_due(connection, row.id)
    credit = Credit(net, tax, to_wallet=max(Decimal(0), net + tax - due))
    return await _write(connection, payer, row, credit, reason)


async def _write(connection: AsyncConnection, payer: Payer, invoice: _Invoice, credit: Credit, reason: str) -> str:
    made, day = new_id(), await today(connection)
    await post(connection, _moves(made, payer, credit, invoice.currency))
    number = await next_number(connection, CREDIT_NOTE_SERIES, day)
    document = credit_note_document(
        InvoiceOut.model_validate_json(invoice.document), credit, number=str(number), issued_on=day, reason=reason
    )
    values = {
        "id": made,
        "invoice_id": invoice.id,
        "series": number.series,
        "year": number.year,
        "sequence": number.sequence,
        "number": str(number),
        "reason": reason,
        "net": credit.net,
        "tax": credit.tax,
        "total": credit.total,
        "to_wallet": credit.to_wallet,
        "document": written(document),
    }
    await connection.execute(_NOTE, values)
    settled = credit.total - credit.to_wallet
    await settle_invoice(connection, invoice.id, settled, credit_note_id=made)
    return str(number)


def _moves(note_id: UUID, payer: Payer, credit: Credit, currency: str) -> list[Move]:
    receivable = payer.side("receivable", currency)
    name = f"credit_note/{note_id}"
    return [
        Move(f"{name}/net", "credit_note_net", platform("revenue", currency), receivable, credit.net),
        Move(f"{name}/tax", "credit_note_tax", platform("tax", currency), receivable, credit.tax),
        Move(f"{name}/wallet", "credit_note_wallet", receivable, payer.side("wallet", currency), credit.to_wallet),
    ]
