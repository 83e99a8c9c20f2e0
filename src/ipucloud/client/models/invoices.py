"""Invoices and credit notes, and what an account has and owes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from ipucloud.client.models.base import Answer, Money


class InvoiceRow(Answer):
    """An invoice or a credit note in a list; `open` is still to be paid."""

    kind: str
    number: str
    invoice: str | None = None
    month: str
    issued_at: datetime
    due_on: date | None = None
    total: Money
    open: Money


class Party(Answer):
    """Who issued it, or whom it is for."""

    legal_name: str
    address: str | None = None
    country: str | None = None
    tax_id: str | None = None


class InvoiceLine(Answer):
    """What a project used of a SKU under one price version; `cost` is exact, `amount` rounded to cents."""

    line: int
    project: str
    sku: str
    region: str
    usage_month: str
    correction: bool
    minutes: int
    machine_minutes: int
    unit_price: Money
    cost: Money
    amount: Money


class InvoiceTax(Answer):
    """The tax of one rate; "0.17" is 17 %."""

    name: str
    rate: str
    taxable: Money
    tax: Money


class Invoice(Answer):
    """An invoice, a credit note, or, without a number, the draft of an invoice."""

    kind: str
    number: str | None = None
    issued_on: date
    due_on: date | None = None
    currency: str
    seller: Party
    customer: Party
    invoice: str | None = None
    reason: str | None = None
    lines: Sequence[InvoiceLine] = ()
    subtotal: Money | None = None
    adjustment: Money | None = None
    promo_applied: Money | None = None
    taxes: Sequence[InvoiceTax] = ()
    tax: Money
    total: Money
    wallet_applied: Money | None = None
    due: Money | None = None
    tax_treatment: str
    notes: Sequence[str] = ()


class Standing(Answer):
    """What an account has and owes in one currency, up to the last closed hour."""

    currency: str
    unbilled: Money
    owed: Money
    wallet: Money
    credit: Money


class Balances(Answer):
    """The account that pays for the project."""

    account_id: str
    items: Sequence[Standing] = ()


class Credit(Answer):
    """Promotional credit; `rest` is not burned yet."""

    id: str
    amount: Money
    rest: Money
    reason: str
    expires_at: datetime


class Payment(Answer):
    """Money from a customer, or of a wallet back to one. Name the `reference` when paying."""

    id: str
    direction: str
    amount: Money
    reference: str
    state: str
    invoice: str | None = None
    to_wallet: Money | None = None
    created_at: datetime
