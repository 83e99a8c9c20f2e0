"""Billing accounts, and what follows their overdue invoices: reminders and restrictions."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.e_invoices import EInvoiceBuyer
from ipucloud.contract.fields import Answer, Body, CountryCode, Line, Lines
from ipucloud.contract.lists import Page
from ipucloud.contract.wallet import BalanceOut
from ipucloud.kernel.money import KnownCurrency, Money

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


Days = Annotated[int, Field(ge=1, le=365)]
REMIND_AFTER = (1, 8, 15)


class DunningPolicy(Body):
    """What follows when an invoice of the account is overdue, by days after its due date."""

    remind_after: list[Days] = Field(
        list(REMIND_AFTER), max_length=5, description="Remind after so many days, once each; empty: never."
    )
    refuse_creates_after: Days | None = Field(
        None, description="Refuse to create and resume clusters from so many days on; null: never."
    )
    suspend_after: Days | None = Field(
        None, description="Suspend active clusters from so many days on, and refuse to create others; null: never."
    )


class DunningOut(Answer):
    """What follows when invoices of the account are overdue, and what is overdue now."""

    account_id: UUID
    remind_after: list[int] = Field(description="Days after the due date at which is reminded; empty: never.")
    refuse_creates_after: int | None = Field(
        description="Days after which creates and resumes are refused; null: never."
    )
    suspend_after: int | None = Field(description="Days after which active clusters are suspended; null: never.")
    restriction: Literal["refuse_creates", "suspend"] | None = Field(
        description="The account's restriction, as last reported; null: none."
    )
    overdue: Money = Field(description="What is unpaid of invoices after their due date.")
    overdue_since: date | None = Field(description="The earliest due date of these; null: nothing is overdue.")
