"""Credit notes: reductions of issued invoices, in documents of their own series.

They have the invoice's tax rates. Together they never exceed their invoice, neither in net nor in the tax of a rate.
They reduce the amount due first; the rest is added to the wallet, which pays other open invoices.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.arithmetic import RateTotals, divided
from ipucloud.billing.invoices.document import Credit, credit_note_document, written
from ipucloud.billing.invoices.numbers import next_number, record_issued_credit_note, today
from ipucloud.billing.invoices.payer import Payer, lock_payer, platform
from ipucloud.billing.invoices.payments import settle_invoice, still_due
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.invoices.settling import pay_open_invoices
from ipucloud.billing.invoices.tables import CREDIT_NOTE_SERIES
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money, places_of, product, rounded, total


class _Invoice(NamedTuple):
    id: UUID
    series: str
    currency: str
    document: str
    projects: list[UUID]


class _Rest(NamedTuple):
    """What is not credited yet of a rate of an invoice."""

    name: str
    rate: Decimal
    net: Decimal
    tax: Decimal


_INVOICE = Query(
    """
    SELECT id, series, currency, document::text AS document,
           ARRAY(SELECT DISTINCT project_id FROM invoice_lines l WHERE l.invoice_id = i.id) AS projects
      FROM invoices i WHERE number = :number
    """,
    _Invoice,
)
_RESTS = Query(
    """
    SELECT name, rate, taxable - coalesce(credited.net, 0) AS net, t.tax - coalesce(credited.tax, 0) AS tax
      FROM invoice_taxes t
     CROSS JOIN LATERAL (
       SELECT sum(c.net) AS net, sum(c.tax) AS tax
         FROM credit_notes n JOIN credit_note_taxes c ON c.credit_note_id = n.id
        WHERE n.invoice_id = t.invoice_id AND c.rate = t.rate) AS credited
     WHERE invoice_id = :invoice_id
     ORDER BY rate DESC
    """,
    _Rest,
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
_TAX = sa.text(
    "INSERT INTO credit_note_taxes (credit_note_id, rate, net, tax) VALUES (:credit_note_id, :rate, :net, :tax)"
)


async def issue_credit_note(connection: AsyncConnection, invoice: str, *, net: Decimal | None, reason: str) -> str:
    """Credit `net` and its tax, or the whole rest; returns the credit note's number.

    Of an invoice with several tax rates, a part is divided over them in proportion to what is not credited yet.

    Raises `Problem` not_found, state_conflict if nothing is left or it is a credit note itself, validation_failed for
    more than the rest or more decimal places than the invoice's currency has.
    """
    account = await _ACCOUNT.one_or_none(connection, {"number": invoice})
    if account is None:
        raise not_found()
    payer = await lock_payer(connection, account)
    row = await _INVOICE.one(connection, {"number": invoice})
    if row.series == CREDIT_NOTE_SERIES:
        raise Problem(STATE_CONFLICT, f"{invoice} is a credit note: only invoices are credited.")
    rates = await _RESTS.all(connection, {"invoice_id": row.id})
    rest = total(each.net for each in rates)
    if rest <= 0:
        raise Problem(STATE_CONFLICT, "This invoice is fully credited already.")
    places = places_of(row.currency)
    if net is not None and net > rest:
        raise _invalid("too_much", f"At most {Money.of(rest, row.currency)} of the invoice is not credited yet.")
    if net is not None and net != rounded(net, places):
        raise _invalid("not_payable", f"An amount in {row.currency} has at most {places} decimal places.")
    taxes = [RateTotals(each.rate, each.net, each.tax) for each in rates]
    if net is not None and net != rest:
        taxes = _part(rates, net, places)
    taxes = [each for each in taxes if each.taxable or each.tax]
    due = await still_due(connection, row.id)
    in_full = Credit(taxes, Decimal(0)).total
    return await _write(connection, payer, row, Credit(taxes, max(Decimal(0), in_full - due)), reason)


def _part(rates: Sequence[_Rest], net: Decimal, places: int) -> list[RateTotals]:
    """`net` of what is left, by rate. Its tax is what then is no longer owed on the rest.

    So however an amount is divided over credit notes, their taxes differ from the tax of the whole by less than the
    smallest amount that can be paid.
    """
    nets = divided(net, {each.rate: each.net for each in rates}, places)
    return [
        RateTotals(
            each.rate,
            nets[each.rate],
            max(Decimal(0), each.tax - rounded(product(each.net - nets[each.rate], each.rate), places)),
        )
        if nets[each.rate]
        else RateTotals(each.rate, Decimal(0), Decimal(0))
        for each in rates
    ]


def _invalid(code: str, sentence: str) -> Problem:
    fault = FieldError("/net", code, sentence)
    return Problem(VALIDATION_FAILED, "Some values are not valid; nothing was credited.", [fault])


async def _write(connection: AsyncConnection, payer: Payer, invoice: _Invoice, credit: Credit, reason: str) -> str:
    note_id, day = new_id(), await today(connection)
    await post(connection, _moves(note_id, payer, credit, invoice.currency))
    # Only what is no longer due goes into the wallet, so nothing is left of this invoice for the wallet to pay.
    settled = await pay_open_invoices(connection, payer, invoice.currency, but=invoice.id) if credit.to_wallet else []
    number = await next_number(connection, CREDIT_NOTE_SERIES, day)
    document = credit_note_document(
        InvoiceOut.model_validate_json(invoice.document),
        credit,
        number=str(number),
        issued_on=day,
        reason=reason,
        settled=settled,
    )
    values = {
        "id": note_id,
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
    taxes = [
        {"credit_note_id": note_id, "rate": each.rate, "net": each.taxable, "tax": each.tax} for each in credit.taxes
    ]
    await connection.execute(_TAX, taxes)
    await settle_invoice(connection, invoice.id, credit.total - credit.to_wallet, credit_note_id=note_id)
    await record_issued_credit_note(connection, note_id, payer.id, invoice.projects, document)
    return str(number)


def _moves(note_id: UUID, payer: Payer, credit: Credit, currency: str) -> list[Move]:
    receivable = payer.side("receivable", currency)
    name = f"credit_note/{note_id}"
    return [
        Move(f"{name}/net", "credit_note_net", platform("revenue", currency), receivable, credit.net),
        Move(f"{name}/tax", "credit_note_tax", platform("tax", currency), receivable, credit.tax),
        Move(f"{name}/wallet", "credit_note_wallet", receivable, payer.side("wallet", currency), credit.to_wallet),
    ]
