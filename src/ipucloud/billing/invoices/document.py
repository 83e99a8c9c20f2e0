"""Invoices and credit notes as JSON, stored as issued; the PDF is rendered from it.

It has copies of names, addresses, tax ids and rates as of the day of issue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

from ipucloud.billing.invoices.arithmetic import InvoiceTotals
from ipucloud.billing.invoices.lines import Bill, Line
from ipucloud.billing.invoices.payer import Payer
from ipucloud.billing.invoices.tax import SENTENCES, Tax
from ipucloud.contract.invoices import (
    InvoiceCreditOut,
    InvoiceLineOut,
    InvoiceOut,
    InvoicePeriodOut,
    InvoiceTaxOut,
    IssuerOut,
    RecipientOut,
    SellerOut,
)
from ipucloud.kernel.money import Money, plain


def written(document: InvoiceOut) -> str:
    """Its JSON. A member that its kind does not have is left out."""
    return document.model_dump_json(exclude_unset=True)


def end_of(month: date) -> date:
    """The first day of the next month."""
    return (month + timedelta(days=31)).replace(day=1)


def invoice_document(
    bill: Bill,
    lines: Sequence[Line],
    totals: InvoiceTotals,
    tax: Tax,
    *,
    number: str | None,
    issued_on: date,
    payer: Payer,
    seller: SellerOut,
    credited: Sequence[InvoiceCreditOut] = (),
) -> InvoiceOut:
    """An invoice, or without a number the draft of one."""
    money = partial(Money.of, currency=bill.currency)
    given = {"credits": list(credited)} if credited else {}
    return InvoiceOut(
        **given,
        kind="draft" if number is None else "invoice",
        number=number,
        issued_on=issued_on,
        due_on=None if number is None else issued_on + timedelta(days=payer.payment_days),
        payment_days=payer.payment_days,
        period=InvoicePeriodOut(since=bill.month, until=end_of(bill.month)),
        currency=bill.currency,
        seller=IssuerOut.model_validate(seller),
        customer=RecipientOut(
            account_id=payer.id,
            legal_name=payer.legal_name or payer.name,
            address=payer.address,
            country=payer.country,
            tax_id=payer.tax_id,
        ),
        lines=[_line(place, bill, line, tax.rate) for place, line in enumerate(lines, start=1)],
        cost=money(totals.cost),
        adjustment=money(totals.adjustment),
        subtotal=money(totals.subtotal),
        promo_applied=money(totals.promo_applied),
        taxable=money(totals.taxable),
        taxes=[
            InvoiceTaxOut(name=tax.name, rate=plain(tax.rate), taxable=money(totals.taxable), tax=money(totals.tax))
        ],
        tax=money(totals.tax),
        total=money(totals.total),
        wallet_applied=money(totals.wallet_applied),
        due=money(totals.due),
        tax_treatment=tax.treatment,
        notes=[SENTENCES[tax.treatment]] if tax.treatment in SENTENCES else [],
    )


@dataclass(frozen=True, slots=True)
class Credit:
    """The amounts of a credit note. `to_wallet`: the part of `net` and `tax` that was no longer due."""

    net: Decimal
    tax: Decimal
    to_wallet: Decimal

    @property
    def total(self) -> Decimal:
        return self.net + self.tax


def credit_note_document(
    invoice: InvoiceOut, credit: Credit, *, number: str, issued_on: date, reason: str
) -> InvoiceOut:
    """A credit note in the words of the invoice it is about."""
    money = partial(Money.of, currency=invoice.currency)
    [tax] = invoice.taxes
    return InvoiceOut(
        kind="credit_note",
        number=number,
        invoice=invoice.number,
        invoice_issued_on=invoice.issued_on,
        issued_on=issued_on,
        reason=reason,
        period=invoice.period,
        currency=invoice.currency,
        seller=invoice.seller,
        customer=invoice.customer,
        net=money(credit.net),
        taxes=[InvoiceTaxOut(name=tax.name, rate=tax.rate, taxable=money(credit.net), tax=money(credit.tax))],
        tax=money(credit.tax),
        total=money(credit.total),
        to_wallet=money(credit.to_wallet),
        tax_treatment=invoice.tax_treatment,
        notes=invoice.notes,
    )


def _line(place: int, bill: Bill, line: Line, tax_rate: Decimal) -> InvoiceLineOut:
    money = partial(Money.of, currency=bill.currency)
    return InvoiceLineOut(
        line=place,
        project_id=line.project_id,
        project=line.project,
        sku=line.sku,
        region=line.region,
        price_id=line.price_id,
        usage_month=f"{line.usage_month:%Y-%m}",
        correction=line.usage_month < bill.month,
        minutes=line.minutes,
        machine_minutes=line.machine_minutes,
        credited_machine_minutes=line.credited_machine_minutes,
        unit_price=money(line.unit_price),
        cost=money(line.cost),
        amount=money(line.amount),
        tax_rate=plain(tax_rate),
    )
