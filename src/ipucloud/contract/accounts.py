"""Billing accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.e_invoices import EInvoiceBuyer
from ipucloud.contract.fields import Answer, Body, CountryCode, Line, Lines
from ipucloud.contract.lists import Page
from ipucloud.contract.wallet import BalanceOut
from ipucloud.kernel.money import KnownCurrency

PaymentDays = Annotated[int, Field(ge=0, le=365, description="Days between an invoice and its due date.")]


class BillingAccountOut(Answer):
    """A billing account: it pays for projects."""

    id: UUID
    name: str
    currency: str = Field(examples=["EUR"])
    legal_name: str | None
    address: str | None
    tax_id: str | None
    country: str | None = Field(
        description="ISO 3166-1 code of the country; null means the seller's country.", examples=["LU"]
    )
    tax_exempt: bool
    payment_days: int
    e_invoice: EInvoiceBuyer
    created_at: datetime
    version: int


class BillingAccountPage(Page[BillingAccountOut]):
    pass


class ProjectAccountOut(BillingAccountOut):
    """The account that pays for a project, with its balances up to the last closed hour."""

    balances: list[BalanceOut] = Field(description="One entry per currency.")


class BillingAccountCreate(Body):
    """A payer of projects. Its currency never changes; fields left out can be set later."""

    name: Line
    currency: KnownCurrency = Field(description="ISO 4217 code. Clusters of its projects are priced in it.")
    legal_name: Line | None = None
    address: Lines | None = None
    tax_id: Line | None = None
    country: CountryCode | None = None
    tax_exempt: bool = False
    payment_days: PaymentDays = 30
    e_invoice: EInvoiceBuyer = EInvoiceBuyer()


class BillingAccountPatch(Body):
    """Omitted fields stay unchanged."""

    name: Line | None = None
    legal_name: Line | None = None
    address: Lines | None = None
    tax_id: Line | None = None
    country: CountryCode | None = None
    tax_exempt: bool | None = None
    payment_days: PaymentDays | None = None
    e_invoice: EInvoiceBuyer | None = None


class AccountChoice(Body):
    """The billing account that is to pay for a project, from the next full hour on."""

    account_id: Annotated[UUID, Field(strict=False)]
