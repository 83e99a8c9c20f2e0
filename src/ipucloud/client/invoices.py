"""Calls for invoices, credits, payments and the wallet."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, segment
from ipucloud.client.models import Balances, Credit, Invoice, InvoiceRow, Money, Page, Payment

DRAFT = "draft"


def invoices() -> Call[Page[InvoiceRow]]:
    """Invoices and credit notes, newest first."""
    return request.get("billing/invoices", Page[InvoiceRow])


def invoice(number: str = DRAFT) -> Call[Invoice]:
    """An invoice or a credit note; without a number, the draft of the next invoice."""
    return request.get(f"billing/invoices/{segment(number)}", Invoice)


def invoice_pdf(number: str = DRAFT) -> Call[bytes]:
    """The document as a PDF file."""
    return request.get(f"billing/invoices/{segment(number)}", bytes, {"format": "pdf"})


def balance() -> Call[Balances]:
    """Balances of the account that pays for the project."""
    return request.get("billing/balance", Balances)


def credits() -> Call[Page[Credit]]:  # noqa: A001  # the API's name
    """Promotional credits in order of expiry."""
    return request.get("billing/credits", Page[Credit])


def top_up(amount: Money) -> Call[Payment]:
    """Announce a wallet payment."""
    return request.post("billing/top-ups", Payment, {"amount": amount.model_dump()})


def grant_credit(account: str | UUID, amount: Money, *, reason: str, expires_at: datetime) -> Call[Credit]:
    """Needs a platform token."""
    body = {"amount": amount.model_dump(), "reason": reason, "expires_at": expires_at}
    return request.post(f"billing/accounts/{segment(account)}/credits", Credit, body, scoped=False)


def record_payment(account: str | UUID, amount: Money, *, reference: str, invoice: str | None = None) -> Call[Payment]:
    """Record a payment; a repeated reference is the same payment. Needs a platform token."""
    body = given(amount=amount.model_dump(), reference=reference, invoice=invoice)
    return request.post(f"billing/accounts/{segment(account)}/payments", Payment, body, scoped=False)


def record_refund(account: str | UUID, amount: Money, *, reference: str) -> Call[Payment]:
    """Record a wallet refund. Needs a platform token."""
    body = {"amount": amount.model_dump(), "reference": reference}
    return request.post(f"billing/accounts/{segment(account)}/refunds", Payment, body, scoped=False)


def credit_note(number: str, *, reason: str, net: str | None = None) -> Call[Invoice]:
    """Credit an invoice, or `net` of it without tax. Needs a platform token."""
    path = f"billing/invoices/{segment(number)}:credit-note"
    return request.post(path, Invoice, given(net=net, reason=reason), scoped=False)
