"""The `data` of events about prices, bills, budgets and payments."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_payloads.base import AmountOfMoney, Payload


class UnpricedUse(Payload):
    """Whose minutes of use have no price, or had none."""

    account_id: UUID = Field(description="Account that pays.")
    sku: str = Field(description="SKU that has no price.", examples=["ipu-m2000"])
    currency: str = Field(description="Currency in which it has none.", examples=["EUR"])
    hour: datetime = Field(description="Start of the hour in which this was found.")


class PriceCorrectionOf(Payload):
    """A correction of a past price."""

    correction: UUID = Field(description="Id of the correction.")
    sku: str = Field(description="SKU whose price is corrected.", examples=["ipu-m2000"])
    reason: str = Field(description="Why, in the operator's words.")


class ChargesCorrected(Payload):
    """A past price that was corrected, and what that changes for the project."""

    sku: str = Field(description="SKU whose price was corrected.", examples=["ipu-m2000"])
    region: str = Field(description="Slug of the region.")
    since: datetime = Field(description="Start of the corrected period.")
    until: datetime | None = Field(description="End of the period, exclusive; null: no end.")
    unit_price: AmountOfMoney = Field(description="The corrected price, per minute of the SKU's unit.")
    difference: AmountOfMoney = Field(description="What more the project's use costs; negative: less.")


class BillingMonthOf(Payload):
    """A billing month."""

    month: str = Field(description="The month.", examples=["2026-05"])


class AccountAssigned(Payload):
    """The account that pays for a project."""

    account_id: UUID = Field(description="The account that pays from the next full hour on.")


class InvoiceNumbered(Payload):
    """The issued invoice."""

    number: str = Field(description="The invoice's number.")


class CreditNoteNumbered(Payload):
    """The issued credit note."""

    number: str = Field(description="The credit note's number.")
    corrects: list[str] = Field(description="Numbers of the documents that it corrects, the oldest first.")


class BudgetReached(Payload):
    """A threshold of a budget, and the figure that reached it."""

    name: str = Field(description="The budget's name.")
    month: str = Field(description="Year and month.", examples=["2026-05"])
    percent: int = Field(description="The threshold, in percent of the budget's amount.")
    amount: AmountOfMoney = Field(description="The budget's amount.")
    figure: AmountOfMoney = Field(description="The actual or forecast cost.")
    action: str | None = Field(description="The threshold's action; null: none.")


class FundsLeft(Payload):
    """The funds of a prepaid account."""

    when_empty: str = Field(description="The account's policy for when its funds are exhausted.")
    left: AmountOfMoney = Field(description="Remaining funds, before holds; negative: overdrawn.")
    lasts_until: datetime | None = Field(
        description="When the funds end if the present clusters go on; null: not within a year."
    )


class FundsLow(FundsLeft):
    """The funds of a prepaid account that will soon be empty."""

    hours: int = Field(description="The level that was reached: the funds last no longer than so many hours.")


class InvoiceOverdue(Payload):
    """A reminder of an overdue invoice."""

    number: str = Field(description="The invoice's number.")
    due_on: date = Field(description="When it was to be paid.")
    level: int = Field(description="The level of the account's policy that was reached, in days after the due date.")
    outstanding: AmountOfMoney = Field(description="What is still to be paid of it.")


class AccountRestricted(Payload):
    """How an account with overdue invoices is restricted."""

    restriction: Literal["refuse_creates", "suspend"] = Field(
        description="Clusters are no longer created or resumed; or active ones are suspended too."
    )


class ExportLimitOf(Payload):
    """How many exports a billing account may request."""

    per_day: int = Field(description="Within 24 hours; 0 leaves those of its schedules.")


class PaymentOf(Payload):
    """A payment of a billing account, or a refund."""

    reference: str = Field(description="Its reference at the payment provider, or of a bank transfer.")
    amount: AmountOfMoney = Field(description="What was paid, or refunded.")


class PaymentFailed(PaymentOf):
    """A payment that was expected."""

    reason: str = Field(description="Why it will not come.")


class ReversalFound(Payload):
    """A payment that the payment provider took back, in full or in part."""

    reference: str = Field(description="Reference of the payment.")
    amount: AmountOfMoney = Field(description="What was taken back of it.")
    reversal: str = Field(description="The provider's id of the refund or dispute.", examples=["du_1PqR8sKZ2eXw4Yd0"])
    status: str = Field(description="Its status at the provider.", examples=["needs_response"])


class PaymentReversed(PaymentOf):
    """A payment, or a part of it, that was taken out of the wallet again."""

    payment: UUID = Field(description="The payment that was taken back.")


class TopUpOf(Payload):
    """An automatic top-up of a prepaid account."""

    payment: UUID = Field(description="The payment.")
    reference: str = Field(description="Its reference at the payment provider, or for a bank transfer.")
    amount: AmountOfMoney = Field(description="What was requested.")


class TopUpPaused(Payload):
    """Why a prepaid account is not topped up any more."""

    reason: Literal["payment_failed", "month_limit"] = Field(
        description="A top-up failed, or the next one would exceed the month's limit."
    )
    detail: str = Field(description="The same as a sentence.")
