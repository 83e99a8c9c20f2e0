"""An account's balances, funds, promotional credits and payments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Line, to_pay
from ipucloud.contract.lists import Listed, Page
from ipucloud.kernel.money import Money

PaidMoney = Annotated[Money, to_pay(1_000_000_000)]
Reference = Annotated[str, Field(min_length=1, max_length=140, pattern=r"^[^\x00-\x1f\x7f]+$")]


class BalanceOut(Answer):
    """An account's balances in one currency, up to the last closed hour."""

    currency: str
    unbilled: Money = Field(description="Posted cost that is not on an invoice yet.")
    outstanding: Money = Field(description="Amount of issued invoices that is not paid yet; negative if overpaid.")
    wallet: Money = Field(description="Money paid in advance; negative if it was taken back after it was spent.")
    credit: Money = Field(description="Promotional credit that remains.")


class BalancesOut(Answer):
    """Balances of the account that pays for the project."""

    account_id: UUID
    items: list[BalanceOut] = Field(description="One entry per currency.")


class CreditOut(Answer):
    """A promotional credit. Credits are used in order of expiry."""

    id: UUID
    account_id: UUID
    amount: Money = Field(description="Amount granted.")
    remaining: Money = Field(description="Amount not used yet.")
    reason: str
    expires_at: datetime
    created_at: datetime


class CreditPage(Page[CreditOut]):
    pass


class PaymentOut(Answer):
    """A payment from a customer, or a refund of a wallet."""

    id: UUID
    account_id: UUID
    direction: Literal["in", "out"]
    amount: Money
    reference: str = Field(description="Reference on the bank statement.")
    state: Literal["pending", "done", "failed"]
    automatic: bool = Field(description="Whether it is a top-up that the account's policy requested.")
    failure: str | None = Field(description="Why it failed; null if it has not, or nothing was said.")
    invoice: str | None = Field(description="Number of the invoice that it pays; null if it is for the wallet.")
    reverses: UUID | None = Field(description="The payment that was taken back; null if it is no reversal.")
    to_wallet: Money | None = Field(
        description="Amount added to the wallet, negative if taken out; null until the payment is done."
    )
    created_at: datetime
    finished_at: datetime | None


class PaymentPage(Page[PaymentOut]):
    pass


class PaymentList(Listed):
    """Payments that match every filter."""

    direction: Literal["in", "out"] | None = Field(None, description="Only payments (`in`), or only refunds (`out`).")
    state: Literal["pending", "done", "failed"] | None = Field(None, description="Only those in this state.")


class CreditCreate(Body):
    """Promotional credit, which pays invoices before the wallet does."""

    amount: PaidMoney = Field(description="Amount, in the decimal places of its currency.")
    reason: Line
    expires_at: Instant


class TopUpCreate(Body):
    """An amount to collect from the account's payment method for its wallet."""

    amount: PaidMoney = Field(description="Amount, in the decimal places of its currency.")


class PaymentFailure(Body):
    """Why an expected payment will not come."""

    reason: Line


class RefundCreate(Body):
    """A repayment of money from the account's wallet."""

    amount: PaidMoney = Field(description="Amount, in the decimal places of its currency.")
    reference: Reference = Field(
        description="Reference on the bank statement; a repeated reference is the same payment."
    )


class ReversalCreate(Body):
    """A payment, or a part of it, that the customer or the bank has taken back."""

    reference: Reference = Field(
        description="The provider's id of the refund or dispute, or another reference of the movement; repeated, it is"
        " the same reversal."
    )
    amount: PaidMoney | None = Field(
        None, description="What was taken back. Default: what the provider has reported under the reference."
    )


class PaymentCreate(RefundCreate):
    """A payment received for an invoice or for the account's wallet."""

    invoice: str | None = Field(
        None, description="Number of the invoice that it pays. Default: add the amount to the wallet."
    )


WARN_HOURS = (72, 24, 4)


class PrepaidPolicy(Body):
    """`warn`: events only. `refuse_creates`: also, a create or resume needs funds for its first hour.

    `suspend`: also, active clusters are suspended when the funds are exhausted.
    """

    when_empty: Literal["warn", "refuse_creates", "suspend"]
    warn_hours: list[Annotated[int, Field(ge=1, le=720)]] = Field(
        list(WARN_HOURS),
        max_length=5,
        description="Report when the funds last no longer than so many hours, each once; empty: not before they end.",
    )


class TopUpPolicy(Body):
    """When and by how much a prepaid account is topped up; give either `below` or `below_hours`."""

    amount: PaidMoney = Field(description="Amount of each top-up, in the decimal places of its currency.")
    below: PaidMoney | None = Field(None, description="Top up when so much or less is left.")
    below_hours: Annotated[int, Field(ge=1, le=720)] | None = Field(
        None, description="Top up when the funds last no longer than so many hours."
    )
    month_limit: PaidMoney = Field(description="Limit for the top-ups requested in a UTC month.")


class TopUpOut(Answer):
    """When and by how much a prepaid account is topped up."""

    amount: Money = Field(description="Amount of each top-up.")
    below: Money | None = Field(description="Topped up when so much or less is left; null: by `below_hours`.")
    below_hours: int | None = Field(
        description="Topped up when the funds last no longer than so many hours; null: by `below`."
    )
    month_limit: Money = Field(description="Limit for the top-ups requested in a UTC month.")
    this_month: Money = Field(description="Sum of the top-ups requested this month that have not failed.")
    paused_at: datetime | None = Field(description="When it was paused; null if it is not.")
    pause_reason: Literal["payment_failed", "month_limit"] | None = Field(
        description="Why it is paused; null if it is not."
    )
    reference: str | None = Field(description="Reference of the top-up that is under way; null: none is.")


class PaymentMethodSet(Body):
    """A payment method that the customer saved at Stripe for payments without them."""

    customer: str = Field(
        pattern=r"^cus_[A-Za-z0-9_]{1,250}$",
        description="Stripe's id of the customer.",
        examples=["cus_Qk3v7Jw1ZpLm2x"],
    )
    payment_method: str = Field(
        pattern=r"^pm_[A-Za-z0-9_]{1,250}$",
        description="Stripe's id of the payment method, attached to the customer.",
        examples=["pm_1PqR8sKZ2eXw4Yd0"],
    )


class PaymentMethodOut(Answer):
    """What automatic top-ups of an account are charged to."""

    customer: str = Field(description="Stripe's id of the customer.")
    payment_method: str = Field(description="Stripe's id of the payment method.")
    set_at: datetime = Field(description="Since when top-ups are charged to it.")


class FundsOut(Answer):
    """Funds of an account: `available` = wallet + credit - outstanding - unbilled - unposted - held - tax."""

    account_id: UUID
    when_empty: Literal["warn", "refuse_creates", "suspend"] | None = Field(
        description="What happens when the funds are exhausted; null if the account is not prepaid."
    )
    state: Literal["funded", "empty"] | None = Field(
        description="Whether there are funds, before what is held; null if the account is not prepaid."
    )
    state_entered_at: datetime | None = Field(
        description="Since when; null until a change of the state is reported, within a minute."
    )
    wallet: Money = Field(description="Money paid in advance.")
    credit: Money = Field(
        description="Promotional credit that can still pay: for usage so far, and for a new cluster's first hour."
    )
    expiring: Money = Field(
        description="Further credit, which expires before a new cluster's first hour ends; not available to it."
    )
    outstanding: Money = Field(description="Amount of issued invoices that is not paid yet; negative if overpaid.")
    unbilled: Money = Field(description="Posted cost that is not on an invoice yet.")
    unposted: Money = Field(description="Cost of minutes that have begun since the last closed hour.")
    held: Money = Field(description="Set aside for the first hour of new clusters.")
    tax: Money = Field(description="Tax of unbilled, unposted and held cost that credit does not pay.")
    tax_rate: str | None = Field(
        description="The account's tax rate today; null if none is set, and then no tax is counted.", examples=["0.17"]
    )
    available: Money = Field(description="What new clusters can use, tax included.")
    per_hour: Money = Field(description="What the present clusters cost per hour, before tax.")
    lasts_until: datetime | None = Field(
        description="When the present clusters will have used the funds; null: not within a year."
    )
    warn_hours: list[int] = Field(description="Levels at which low funds are reported, in hours that they last.")
    top_up: TopUpOut | None = Field(description="How the account is topped up automatically; null: it is not.")
