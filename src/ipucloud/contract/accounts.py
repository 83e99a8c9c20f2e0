"""Billing accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, CountryCode, Line, Lines
from ipucloud.kernel.money import Currency, Money

PaymentDays = Annotated[int, Field(ge=0, le=365, description="from an invoice to its due date")]


class BillingAccountOut(Answer):
    """Somebody who pays."""

    id: UUID
    name: str
    currency: str = Field(examples=["EUR"])
    legal_name: str | None
    address: str | None
    tax_id: str | None
    country: str | None = Field(description="null: the seller's", examples=["LU"])
    tax_exempt: bool
    payment_days: int
    created_at: datetime
    version: int


class BalanceOut(Answer):
    """What an account has, or below 0 owes: `unbilled` usage, `receivable` invoices, `wallet`, `promo` credit."""

    code: str = Field(examples=["unbilled"])
    balance: Money


class ProjectAccountOut(BillingAccountOut):
    """The account that pays for a project, with what its closed hours come to."""

    balances: list[BalanceOut]


class BillingAccountCreate(Body):
    name: Line
    currency: Currency
    legal_name: Line | None = None
    address: Lines | None = None
    tax_id: Line | None = None
    country: CountryCode | None = None
    tax_exempt: bool = False
    payment_days: PaymentDays = 30


class BillingAccountPatch(Body):
    """What is left out stays."""

    name: Line | None = None
    legal_name: Line | None = None
    address: Lines | None = None
    tax_id: Line | None = None
    country: CountryCode | None = None
    tax_exempt: bool | None = None
    payment_days: PaymentDays | None = None


class AccountChoice(Body):
    account_id: Annotated[UUID, Field(strict=False)]
