"""Invoices, credit notes and drafts; the seller and tax rates."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.charges import CitedReportOut
from ipucloud.contract.e_invoices import EInvoiceBuyer, EInvoiceSeller
from ipucloud.contract.fields import Answer, Body, CountryCode, Line, Lines, Month, Shape, to_pay
from ipucloud.contract.lists import Listed, Page
from ipucloud.kernel.money import Amount, Money, rounded


class InvoiceRow(Answer):
    """An invoice or a credit note in a list."""

    kind: Literal["invoice", "credit_note"]
    number: str = Field(examples=["INV-2026-000001"])
    invoice: str | None = Field(
        description="Invoice that a credit note corrects, the oldest of several; null for an invoice."
    )
    month: str = Field(description="Billing month.", examples=["2026-05"])
    issued_at: datetime
    due_on: date | None
    total: Money = Field(description="Payable amount; of a credit note: what it gives back.")
    outstanding: Money = Field(description="Amount not paid yet.")


class InvoicePage(Page[InvoiceRow]):
    pass


class InvoiceList(Listed):
    """Invoices and credit notes that match every filter."""

    kind: Literal["invoice", "credit_note"] | None = Field(None, description="Only invoices, or only credit notes.")
    month: Month | None = Field(None, description="Only those of this billing month.", examples=["2026-05"])


class PartyOut(Answer):
    """The seller or the customer, as of the time of issue."""

    legal_name: str
    address: str | None
    country: str | None = Field(examples=["LU"])
    tax_id: str | None


class IssuerOut(PartyOut):
    """The seller, with bank details."""

    bank: str | None
    e_invoice: EInvoiceSeller = EInvoiceSeller()


class RecipientOut(PartyOut):
    """The customer."""

    account_id: UUID
    e_invoice: EInvoiceBuyer = EInvoiceBuyer()


class InvoicePeriodOut(Answer):
    """Days in [since, until)."""

    since: date
    until: date


class InvoiceLineOut(Answer):
    """A project's usage of a SKU in a region under one price version and one tax rate.

    On a credit note, minutes and amounts are what is taken back; below zero is what is charged on it.
    """

    line: int
    project_id: UUID
    project: str
    sku: str
    region: str
    price_id: UUID
    contract: bool | None = Field(
        None, description="Whether it is a contract price of the account; null on documents that do not state it."
    )
    price_since: datetime | None = Field(None, description="Since when the price is valid.")
    price_until: datetime | None = Field(
        None, description="Until when the price was valid, exclusive, as far as it was known at issue; null: no end."
    )
    usage_month: str = Field(examples=["2026-05"])
    since: date | None = Field(None, description="First day of use; null on documents issued before it was stated.")
    until: date | None = Field(
        None, description="Day after the last day of use; a change of a tax rate divides a month."
    )
    correction: bool = Field(description="Whether it corrects a month that was already invoiced.")
    corrects: str | None = Field(
        None, description="On a correction: number of the document that billed the usage before; null: none did."
    )
    minutes: int
    machine_minutes: int = Field(description="Billed machine-minutes.")
    credited_machine_minutes: int = Field(
        0, description="Further machine-minutes, of machines that did not work; they are not billed."
    )
    unit_price: Money
    cost: Money = Field(description="Exact cost.")
    amount: Money = Field(description="Cost, rounded to the currency's decimal places.")
    tax_rate: str = Field(description="Rate in force when it was used, as a fraction.", examples=["0.17"])


class InvoiceCreditOut(Answer):
    """Machine-minutes of a cluster that no line bills, because machines did not work, and the reports that say so."""

    project_id: UUID
    cluster_id: UUID
    cluster: str = Field(description="Name of the cluster when the invoice was issued.")
    since: datetime = Field(description="Start of the first minute that is credited, or of its part in this month.")
    until: datetime
    machine_minutes: int = Field(description="Credited machine-minutes; negative when a correction takes them back.")
    amount: Money = Field(description="What they would have cost, exact; it is in no sum of the invoice.")
    credited_for: list[CitedReportOut] = Field(description="The health reports for which machines are credited.")


class InvoiceTaxOut(Answer):
    """The tax of one rate."""

    name: str
    rate: str = Field(description="Rate as a fraction: 0.17 is 17 %.", examples=["0.17"])
    taxable: Money
    tax: Money


class CorrectedInvoiceOut(Answer):
    """A document that a credit note corrects."""

    number: str = Field(description="Number of the document.", examples=["INV-2026-000001"])
    issued_on: date


class SettledInvoiceOut(Answer):
    """An open invoice that the wallet paid with the money of a credit note, when it was issued."""

    number: str = Field(description="Number of the invoice.", examples=["INV-2026-000002"])
    amount: Money = Field(description="Amount that the wallet paid of it.")


class InvoiceOut(Answer):
    """An invoice, a credit note or a draft. Members that do not apply to its kind are absent.

    Amounts of a credit note are what it gives back. It is about a part of one invoice, or has lines: those of a month
    whose corrections exceed its usage.
    """

    kind: Literal["invoice", "credit_note", "draft"]
    number: str | None = Field(description="Number of the document; null for a draft.")
    issued_on: date
    due_on: date | None = None
    payment_days: int | None = None
    period: InvoicePeriodOut
    currency: str
    seller: IssuerOut
    customer: RecipientOut
    invoice: str | None = Field(
        None, description="On a credit note: number of the invoice that it corrects, the oldest of several."
    )
    invoice_issued_on: date | None = None
    corrects: list[CorrectedInvoiceOut] | None = Field(
        None, description="On a credit note: every document that it corrects, the oldest first."
    )
    reason: str | None = Field(None, description="On a credit note: why it was issued.")
    lines: list[InvoiceLineOut] | None = None
    credits: list[InvoiceCreditOut] | None = Field(
        None, description="What the lines leave out because machines did not work; absent if there is none."
    )
    cost: Money | None = Field(None, description="Exact cost of the usage.")
    adjustment: Money | None = Field(None, description="Difference from rounding the lines.")
    subtotal: Money | None = Field(None, description="Sum of the lines.")
    promo_applied: Money | None = None
    taxable: Money | None = None
    net: Money | None = Field(None, description="On a credit note: the credited amount without tax.")
    taxes: list[InvoiceTaxOut]
    tax: Money
    total: Money
    wallet_applied: Money | None = Field(None, description="Amount paid from the wallet; negative if added to it.")
    to_wallet: Money | None = Field(
        None, description="On a credit note: amount that was not taken off its invoice, and was added to the wallet."
    )
    settled: list[SettledInvoiceOut] | None = Field(
        None, description="On a credit note: open invoices that the wallet paid with it at once; absent if none."
    )
    due: Money | None = Field(None, description="Amount due at the time of issue.")
    tax_treatment: Literal["standard", "reverse_charge", "exempt"]
    notes: list[str] = Field(description="Remarks on tax.")


class ProofKeyOut(Answer):
    """A public key under which sealed months are or were signed."""

    public_key: str = Field(
        description="Ed25519 public key in base64.", examples=["3q2+7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
    )
    current: bool = Field(description="Whether the next month will be signed under it.")
    first_month: Month | None = Field(description="First month signed under it; null: none yet.")
    last_month: Month | None = Field(description="Last month signed under it; null: none yet.")


class ProofKeyPage(Page[ProofKeyOut]):
    pass


class InvoiceFormat(Shape):
    format: Literal["json", "pdf", "factur-x", "cii", "ubl", "xrechnung", "peppol"] | None = Field(
        None,
        description="Format of the response; overrides `Accept`. Electronic invoices (EN 16931) are `factur-x`"
        " (ZUGFeRD), a PDF/A-3 that contains the invoice's XML, `cii`, that XML alone, and `ubl`; `xrechnung` and"
        " `peppol` (BIS Billing 3.0) are profiles of UBL.",
    )


class InvoiceDraftRead(InvoiceFormat):
    month: Month | None = Field(
        None, description="Billing month whose invoices are not issued yet. Default: the current month."
    )


class CreditNoteCreate(Body):
    """The part of an invoice to credit."""

    net: Annotated[Amount, to_pay(1_000_000_000)] | None = Field(
        None,
        description="Amount without tax, in the decimal places of its currency. Default: all that is not credited yet.",
    )
    reason: Line = Field(description="Reason, as printed on the credit note.", examples=["a rack lost power on 12 May"])


RATE_PLACES = 6
Kind = Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,30}$", description="Kind of rate; invoices use `standard`.")]


class SellerOut(Answer):
    """The issuer of invoices."""

    legal_name: str
    address: str
    country: str = Field(examples=["LU"])
    tax_id: str | None
    bank: str | None = Field(description="Bank details, as printed.")
    e_invoice: EInvoiceSeller
    version: int


class SellerPatch(Body):
    """Omitted fields stay unchanged. Issued invoices never change."""

    legal_name: Line | None = None
    address: Lines | None = None
    country: CountryCode | None = None
    tax_id: Line | None = None
    bank: Lines | None = None
    e_invoice: EInvoiceSeller | None = None


class TaxRateOut(Answer):
    """A rate in [valid_from, valid_to)."""

    id: UUID
    country: str = Field(examples=["LU"])
    kind: str = Field(examples=["standard"])
    name: str = Field(description="Name, as printed on invoices.", examples=["VAT"])
    rate: str = Field(description="Rate as a fraction: 0.17 is 17 %.", examples=["0.17"])
    valid_from: date
    valid_to: date | None = Field(description="End of validity, exclusive; null: no end.")
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
    rate: Rate = Field(
        description="Rate as a fraction with at most six decimal places: 0.17 is 17 %.", examples=["0.17"]
    )
    valid_from: Annotated[date, Field(strict=False)] = Field(
        description="First day of validity: in the future, or in a period without a rate."
    )
    source: Line = Field(examples=["tax office, letter of May"])
