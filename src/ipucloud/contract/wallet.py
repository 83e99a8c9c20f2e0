"""What an account has: balances, funds, promotional credits, payments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Line, in_cents
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Money

PaidMoney = Annotated[Money, in_cents(1_000_000_000)]
Reference = Annotated[str, Field(min_length=1, max_length=140, pattern=r"^[^\x00-\x1f\x7f]+$")]


class StandingOut(Answer):
    """What an account has and owes in one currency."""

    currency: str
    unbilled: Money = Field(description="used up to the last closed hour, on no invoice yet")
    owed: Money = Field(description="on invoices; below 0: paid too much")
    wallet: Money = Field(description="paid before it is owed")
    credit: Money = Field(description="promotional, not burned yet")


class BalancesOut(Answer):
    """The account that pays for the project."""

    account_id: UUID
    items: list[StandingOut]


class CreditOut(Answer):
    """A promotional credit; the one that expires first is burned first."""

    id: UUID
    account_id: UUID
    amount: Money
    rest: Money
    reason: str
    expires_at: datetime
    created_at: datetime


class CreditPage(Page[CreditOut]):
    pass


class PaymentOut(Answer):
    """Money from a customer, or of a wallet back to one."""

    id: UUID
    account_id: UUID
    direction: Literal["in", "out"]
    amount: Money
    reference: str = Field(description="names the payment on a bank statement")
    state: Literal["pending", "done", "failed"]
    invoice: str | None = Field(description="that it pays")
    to_wallet: Money | None = Field(description="put into the wallet, or below 0 taken out; null: nothing yet")
    created_at: datetime
    finished_at: datetime | None


class PaymentPage(Page[PaymentOut]):
    pass


class CreditCreate(Body):
    amount: PaidMoney = Field(description="in whole cents")
    reason: Line
    expires_at: Instant


class TopUpCreate(Body):
    amount: PaidMoney = Field(description="in whole cents")


class RefundCreate(Body):
    amount: PaidMoney = Field(description="in whole cents")
    reference: Reference = Field(description="the same one twice is one payment")


class PaymentCreate(RefundCreate):
    invoice: str | None = Field(None, description="number of the invoice that it pays; else it goes into the wallet")


class PrepaidPolicy(Body):
    """`warn`: only told. `refuse_creates`: also, a create or resume must find its first hour's cost available.

    `suspend`: also, what is in use is suspended when nothing is left.
    """

    when_empty: Literal["warn", "refuse_creates", "suspend"]


class FundsOut(Answer):
    """What an account has left: `available` = wallet + promo - owed - accruing - held."""

    account_id: UUID
    when_empty: Literal["warn", "refuse_creates", "suspend"] | None = Field(
        description="null: the account does not pay ahead"
    )
    state: Literal["funded", "empty"] | None = Field(description="as it was told last; null: it does not pay ahead")
    state_entered_at: datetime | None
    wallet: Money
    promo: Money
    owed: Money = Field(description="unbilled usage and unpaid invoices")
    accruing: Money = Field(description="used since the last hour that was closed")
    held: Money = Field(description="what new clusters may still come to in their first hour")
    available: Money
