"""What an invoice or a credit note says, as JSON: the stored truth, of which the PDF is a picture.

It holds copies of everything: names, addresses, tax ids and rates as they were that day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

import orjson

from ipucloud.billing.invoices.arithmetic import InvoiceTotals
from ipucloud.billing.invoices.lines import Bill, Line
from ipucloud.billing.invoices.payer import Payer
from ipucloud.billing.invoices.tax import SENTENCES, Tax, Treatment
from ipucloud.kernel.money import plain

Members = dict[str, object]
SELLER_FIELDS = ("legal_name", "address", "country", "tax_id", "bank")


def end_of(month: date) -> date:
    """The first day of the next month."""
    return (month + timedelta(days=31)).replace(day=1)


def seller_of(document: bytes) -> Members:
    """What a document says of the seller."""
    known = orjson.loads(document)
    return {name: known[name] for name in SELLER_FIELDS}


def customer_of(payer: Payer) -> Members:
    return {
        "account_id": str(payer.id),
        "legal_name": payer.legal_name or payer.name,
        "address": payer.address,
        "country": payer.country,
        "tax_id": payer.tax_id,
    }


def invoice_document(
    bill: Bill,
    lines: Sequence[Line],
    totals: InvoiceTotals,
    tax: Tax,
    *,
    number: str | None,
    issued_on: date,
    payer: Payer,
    seller: Members,
) -> Members:
    """An invoice, or without a number the draft of one."""
    currency = bill.currency
    due_on = issued_on + timedelta(days=payer.payment_days)
    return {
        "kind": "draft" if number is None else "invoice",
        "number": number,
        "issued_on": str(issued_on),
        "due_on": None if number is None else str(due_on),
        "payment_days": payer.payment_days,
        "period": {"since": str(bill.month), "until": str(end_of(bill.month))},
        "currency": currency,
        "seller": seller,
        "customer": customer_of(payer),
        "lines": [_line(place, bill, line, tax.rate) for place, line in enumerate(lines, start=1)],
        "cost": _money(totals.cost, currency),
        "adjustment": _money(totals.adjustment, currency),
        "subtotal": _money(totals.subtotal, currency),
        "promo_applied": _money(totals.promo_applied, currency),
        "taxable": _money(totals.taxable, currency),
        "taxes": [_tax(tax.name, tax.rate, totals.taxable, totals.tax, currency)],
        "tax": _money(totals.tax, currency),
        "total": _money(totals.total, currency),
        "wallet_applied": _money(totals.wallet_applied, currency),
        "due": _money(totals.due, currency),
        "tax_treatment": tax.treatment.value,
        "notes": _notes(tax.treatment),
    }


@dataclass(frozen=True, slots=True)
class Credit:
    """What a credit note gives back. `to_wallet` of `net` and `tax` was no longer due, and went into the wallet."""

    net: Decimal
    tax: Decimal
    to_wallet: Decimal

    @property
    def total(self) -> Decimal:
        return self.net + self.tax


def credit_note_document(invoice: Members, credit: Credit, *, number: str, issued_on: date, reason: str) -> Members:
    """A credit note in the words of the invoice it is about."""
    currency = str(invoice["currency"])
    [rate] = orjson.loads(orjson.dumps(invoice["taxes"]))
    return {
        "kind": "credit_note",
        "number": number,
        "invoice": invoice["number"],
        "invoice_issued_on": invoice["issued_on"],
        "issued_on": str(issued_on),
        "reason": reason,
        "period": invoice["period"],
        "currency": currency,
        "seller": invoice["seller"],
        "customer": invoice["customer"],
        "net": _money(credit.net, currency),
        "taxes": [_tax(rate["name"], Decimal(rate["rate"]), credit.net, credit.tax, currency)],
        "tax": _money(credit.tax, currency),
        "total": _money(credit.total, currency),
        "to_wallet": _money(credit.to_wallet, currency),
        "tax_treatment": invoice["tax_treatment"],
        "notes": invoice["notes"],
    }


def _line(place: int, bill: Bill, line: Line, tax_rate: Decimal) -> Members:
    return {
        "line": place,
        "project_id": str(line.project_id),
        "project": line.project,
        "sku": line.sku,
        "region": line.region,
        "price_id": str(line.price_id),
        "usage_month": f"{line.usage_month:%Y-%m}",
        "correction": line.usage_month < bill.month,
        "minutes": line.minutes,
        "machine_minutes": line.machine_minutes,
        "unit_price": _money(line.unit_price, bill.currency),
        "cost": _money(line.cost, bill.currency),
        "amount": _money(line.amount, bill.currency),
        "tax_rate": _rate(tax_rate),
    }


def _tax(name: str, rate: Decimal, taxable: Decimal, tax: Decimal, currency: str) -> Members:
    return {"name": name, "rate": _rate(rate), "taxable": _money(taxable, currency), "tax": _money(tax, currency)}


def _notes(treatment: Treatment) -> list[str]:
    return [SENTENCES[treatment]] if treatment in SENTENCES else []


def _money(amount: Decimal, currency: str) -> Members:
    return {"amount": plain(amount), "currency": currency}


def _rate(rate: Decimal) -> str:
    return plain(rate)
