"""Invoices, credit notes and drafts; the seller and tax rates."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body, CountryCode, Line, Lines, in_cents
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Amount, Money, rounded


class InvoiceRow(Answer):
    """An invoice or a credit note in a list."""

    kind: Literal["invoice", "credit_note"]
    number: str = Field(examples=["INV-2026-000001"])
    invoice: str | None = Field(description="the invoice that a credit note belongs to")
    month: str = Field(description="billing month", examples=["2026-04"])
    issued_at: datetime
    due_on: date | None
    total: Money
    outstanding: Money = Field(description="Amount not paid yet.")


class InvoicePage(Page[InvoiceRow]):
    pass


class PartyOut(Answer):
    """The seller or the customer, as of the time of issue."""

    legal_name: str
    address: str | None
    country: str | None = Field(examples=["LU"])
    tax_id: str | None


class IssuerOut(PartyOut):
    """The seller, with bank details."""

    bank: str | None


class RecipientOut(PartyOut):
    """The customer."""

    account_id: UUID


class InvoicePeriodOut(Answer):
    """Days in [since, until)."""

    since: date
    until: date


class InvoiceLineOut(Answer):
    """A project's usage of a SKU in a region under one price version."""

    line: int
    project_id: UUID
    project: str
    sku: str
    region: str
    price_id: UUID
    usage_month: str = Field(examples=["2026-04"])
    correction: bool = Field(description="of a month that was already billed")
    minutes: int
    machine_minutes: int
    unit_price: Money
    cost: Money = Field(description="exact")
    amount: Money = Field(description="rounded to cents")
    tax_rate: str = Field(examples=["0.17"])


class InvoiceTaxOut(Answer):
    """The tax of one rate."""

    name: str
    rate: str = Field(description="0.17 is 17 %", examples=["0.17"])
    taxable: Money
    tax: Money


class InvoiceOut(Answer):
    """An invoice, a credit note or a draft. Members that do not apply to its kind are absent."""

    kind: Literal["invoice", "credit_note", "draft"]
    number: str | None = Field(description="null: a draft")
    issued_on: date
    due_on: date | None = None
    payment_days: int | None = None
    period: InvoicePeriodOut
    currency: str
    seller: IssuerOut
    customer: RecipientOut
    invoice: str | None = Field(None, description="credit note: the invoice it belongs to")
    invoice_issued_on: date | None = None
    reason: str | None = Field(None, description="credit note")
    lines: list[InvoiceLineOut] | None = None
    cost: Money | None = Field(None, description="exact cost of the usage")
    adjustment: Money | None = Field(None, description="difference from rounding the lines")
    subtotal: Money | None = Field(None, description="sum of the lines")
    promo_applied: Money | None = None
    taxable: Money | None = None
    net: Money | None = Field(None, description="credit note: the credited amount without tax")
    taxes: list[InvoiceTaxOut]
    tax: Money
    total: Money
    wallet_applied: Money | None = Field(None, description="paid from the wallet; negative: added to it")
    to_wallet: Money | None = Field(None, description="credit note: amount added to the wallet")
    due: Money | None = Field(None, description="amount due at the time of issue")
    tax_treatment: Literal["standard", "reverse_charge", "exempt"]
    notes: list[str] = Field(description="remarks on tax")


class InvoiceFormat(BaseModel):
    format: Literal["json", "pdf"] | None = Field(None, description="overrides `Accept`")


class CreditNoteCreate(Body):
    """The part of an invoice to credit."""

    net: Annotated[Amount, in_cents(1_000_000_000)] | None = Field(
        None, description="without tax, in whole cents; default: everything not credited yet"
    )
    reason: Line = Field(description="printed on the credit note", examples=["a rack lost power on 12 April"])


RATE_PLACES = 6
Kind = Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,30}$", description="invoices use `standard`")]


class SellerOut(Answer):
    """The issuer of invoices."""

    legal_name: str
    address: str
    country: str = Field(examples=["LU"])
    tax_id: str | None
    bank: str | None = Field(description="bank details, as printed")
    version: int


class SellerPatch(Body):
    """Omitted fields stay unchanged. Issued invoices never change."""

    legal_name: Line | None = None
    address: Lines | None = None
    country: CountryCode | None = None
    tax_id: Line | None = None
    bank: Lines | None = None


class TaxRateOut(Answer):
    """A rate in [valid_from, valid_to)."""

    id: UUID
    country: str = Field(examples=["LU"])
    kind: str = Field(examples=["standard"])
    name: str = Field(description="as printed", examples=["VAT"])
    rate: str = Field(description="0.17 is 17 %", examples=["0.17"])
    valid_from: date
    valid_to: date | None = Field(description="null: no end")
    source: str


class TaxRatePage(Page[TaxRateOut]):
    pass


def _rate(value: Decimal) -> Decimal:
    if not 0 <= value <= 1 or value != rounded(value, RATE_PLACES):
        raise PydanticCustomError("not_a_rate", "A rate must be 0 to 1, with at most six decimal places")
    return value


Rate = Annotated[Amount, AfterValidator(_rate)]


class TaxRateCreate(Body):
    """A tax rate that replaces the one in force from `valid_from` on."""

    country: CountryCode
    kind: Kind = "standard"
    name: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[^\x00-\x1f\x7f]+$")] = "VAT"
    rate: Rate = Field(description="0.17 is 17 %; at most six decimal places", examples=["0.17"])
    valid_from: Annotated[date, Field(strict=False)] = Field(description="in the future, or in a period without a rate")
    source: Line = Field(examples=["tax office, letter of May"])
