"""Invoices and credit notes as JSON, stored as issued; the PDF is rendered from it.

It has copies of names, addresses, tax ids and rates as of the day of issue. A credit note states what it gives back as
positive quantities and amounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

from ipucloud.billing.invoices.arithmetic import RateTotals
from ipucloud.billing.invoices.calculation import Computed
from ipucloud.billing.invoices.settling import Paid
from ipucloud.billing.invoices.tax import SENTENCES
from ipucloud.contract.e_invoices import EInvoiceBuyer
from ipucloud.contract.invoices import (
    CorrectedInvoiceOut,
    InvoiceLineOut,
    InvoiceOut,
    InvoicePeriodOut,
    InvoiceTaxOut,
    IssuerOut,
    RecipientOut,
    SettledInvoiceOut,
)
from ipucloud.kernel.money import Money, plain, total

CORRECTION = "Corrections of usage that was billed before exceed the usage of the month."


def written(document: InvoiceOut) -> str:
    """Its JSON. A member that its kind does not have is left out."""
    return document.model_dump_json(exclude_unset=True)


def end_of(month: date) -> date:
    """The first day of the next month."""
    return (month + timedelta(days=31)).replace(day=1)


def issued_document(computed: Computed, number: str | None, settled: Sequence[Paid] = ()) -> InvoiceOut:
    """An invoice, a credit note if its total is below zero, or without a number the draft of one.

    `settled`: what the wallet paid at once with the money of a credit note.
    """
    gives_back = number is not None and computed.gives_back
    sign = -1 if gives_back else 1
    money = partial(_money, sign=sign, currency=computed.bill.currency)
    totals, payer = computed.totals, computed.payer
    document = InvoiceOut(
        kind="draft" if number is None else "credit_note" if gives_back else "invoice",
        number=number,
        issued_on=computed.day,
        period=InvoicePeriodOut(since=computed.bill.month, until=end_of(computed.bill.month)),
        currency=computed.bill.currency,
        seller=IssuerOut.model_validate(computed.seller),
        customer=RecipientOut(
            account_id=payer.id,
            legal_name=payer.legal_name or payer.name,
            address=payer.address,
            country=payer.country,
            tax_id=payer.tax_id,
            e_invoice=EInvoiceBuyer.model_validate(payer.e_invoice),
        ),
        lines=[_line(place, computed, sign) for place in range(1, len(computed.lines) + 1)],
        cost=money(totals.cost),
        adjustment=money(totals.adjustment),
        subtotal=money(totals.subtotal),
        promo_applied=money(totals.promo_applied),
        taxable=money(totals.taxable),
        taxes=[
            InvoiceTaxOut(
                name=computed.tax_name(each.rate),
                rate=plain(each.rate),
                taxable=money(each.taxable),
                tax=money(each.tax),
            )
            for each in totals.taxes
        ],
        tax=money(totals.tax),
        total=money(totals.total),
        tax_treatment=computed.treatment,
        notes=[SENTENCES[computed.treatment]] if computed.treatment in SENTENCES else [],
    )
    if gives_back:
        to_wallet = money(totals.wallet_applied)
        more = _of_credit_note(_corrected(computed), CORRECTION, money(totals.taxable), to_wallet, settled)
    else:
        due_on = None if number is None else computed.day + timedelta(days=payer.payment_days)
        wallet, due = money(totals.wallet_applied), money(totals.due)
        more = {"payment_days": payer.payment_days, "due_on": due_on, "wallet_applied": wallet, "due": due}
    if computed.credits:
        more["credits"] = list(computed.credits)
    return document.model_copy(update=more)


@dataclass(frozen=True, slots=True)
class Credit:
    """The amounts of a credit note by rate. `to_wallet`: the part of net and tax that was no longer due."""

    taxes: Sequence[RateTotals]
    to_wallet: Decimal

    @property
    def net(self) -> Decimal:
        return total(each.taxable for each in self.taxes)

    @property
    def tax(self) -> Decimal:
        return total(each.tax for each in self.taxes)

    @property
    def total(self) -> Decimal:
        return self.net + self.tax


def credit_note_document(
    invoice: InvoiceOut,
    credit: Credit,
    *,
    number: str,
    issued_on: date,
    reason: str,
    settled: Sequence[Paid] = (),
) -> InvoiceOut:
    """A credit note in the words of the invoice it is about. `settled`: what the wallet paid at once with its money."""
    money = partial(_money, currency=invoice.currency)
    names = {Decimal(tax.rate): tax.name for tax in invoice.taxes}
    document = InvoiceOut(
        kind="credit_note",
        number=number,
        issued_on=issued_on,
        period=invoice.period,
        currency=invoice.currency,
        seller=invoice.seller,
        customer=invoice.customer,
        taxes=[
            InvoiceTaxOut(
                name=names[each.rate], rate=plain(each.rate), taxable=money(each.taxable), tax=money(each.tax)
            )
            for each in credit.taxes
        ],
        tax=money(credit.tax),
        total=money(credit.total),
        tax_treatment=invoice.tax_treatment,
        notes=invoice.notes,
    )
    about = CorrectedInvoiceOut(number=invoice.number or "", issued_on=invoice.issued_on)
    more = _of_credit_note([about], reason, money(credit.net), money(credit.to_wallet), settled)
    return document.model_copy(update=more)


def _of_credit_note(
    about: Sequence[CorrectedInvoiceOut], reason: str, net: Money, to_wallet: Money, settled: Sequence[Paid]
) -> dict[str, object]:
    """Members of credit notes alone. `invoice` is the only one that it corrects, or the first of several."""
    first = about[0] if about else None
    more: dict[str, object] = {
        "invoice": first and first.number,
        "invoice_issued_on": first and first.issued_on,
        "corrects": list(about),
        "reason": reason,
        "net": net,
        "to_wallet": to_wallet,
    }
    if settled:
        amount = partial(_money, currency=net.currency)
        more["settled"] = [SettledInvoiceOut(number=each.number, amount=amount(each.amount)) for each in settled]
    return more


def _corrected(computed: Computed) -> list[CorrectedInvoiceOut]:
    """What a credit note corrects: the documents that its lines below zero name, the oldest first."""
    negative_lines = {place for place, line in enumerate(computed.lines, start=1) if line.cost < 0}
    named = {each.number: each for place, each in computed.corrected.items() if place in negative_lines}
    oldest_first = sorted(named.values(), key=lambda each: (each.issued_on, each.number))
    return [CorrectedInvoiceOut(number=each.number, issued_on=each.issued_on) for each in oldest_first]


def _line(place: int, computed: Computed, sign: int) -> InvoiceLineOut:
    line, before = computed.lines[place - 1], computed.corrected.get(place)
    term = computed.price_terms.get(line.price_id)
    money = partial(_money, sign=sign, currency=computed.bill.currency)
    return InvoiceLineOut(
        line=place,
        project_id=line.project_id,
        project=line.project,
        sku=line.sku,
        region=line.region,
        price_id=line.price_id,
        contract=None if term is None else term.contract,
        price_since=None if term is None else term.since,
        price_until=None if term is None else term.until,
        usage_month=f"{line.usage_month:%Y-%m}",
        since=line.since,
        until=line.until,
        correction=line.usage_month < computed.bill.month,
        corrects=None if before is None else before.number,
        minutes=sign * line.minutes,
        machine_minutes=sign * line.machine_minutes,
        credited_machine_minutes=sign * line.credited_machine_minutes,
        unit_price=Money.of(line.unit_price, computed.bill.currency),
        cost=money(line.cost),
        amount=money(line.amount),
        tax_rate=plain(computed.tax_of(line).rate),
    )


def _money(amount: Decimal, *, currency: str, sign: int = 1) -> Money:
    return Money.of(amount if sign > 0 else -amount, currency)
