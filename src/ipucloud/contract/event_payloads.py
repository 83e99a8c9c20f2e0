"""What the `data` of an event holds, a model for each shape. Members may be added; none changes its meaning."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel

Late = Annotated[bool, Field(description="an audit appended the event afterwards")]


class Payload(BaseModel):
    """The `data` of an event."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AmountOfMoney(Payload):
    """An exact amount of a currency."""

    amount: str = Field(description="exact decimal", examples=["400.00"])
    currency: str = Field(description="ISO 4217 code", examples=["EUR"])


class ClusterRequested(Payload):
    """What was requested."""

    region: str = Field(description="the region's slug")
    flavor: str = Field(description="the flavor's name")
    late: Late = False


class ClusterChanged(Payload):
    """What was changed."""

    fields: list[str] = Field(description="names of the fields that changed")


class ClusterEntered(Payload):
    """Why a cluster entered a state."""

    reason: str | None = Field(None, description="why, for people; absent or null: as it was asked for")
    late: Late = False


class BudgetRef(Payload):
    """A budget."""

    id: UUID = Field(description="the budget's id")
    name: str = Field(description="the budget's name")


class OverBudget(Payload):
    """A budget suspends clusters once this threshold is reached."""

    reason: Literal["budget"] = Field(description="a budget's threshold was reached")
    budget: BudgetRef = Field(description="the budget")
    on: Literal["actual", "forecast"] = Field(description="the figure that reached the threshold")
    percent: int = Field(description="the threshold, in percent of the budget's amount")


class OutOfFunds(Payload):
    """An account that pays ahead has nothing left."""

    reason: Literal["funds"] = Field(description="the account ran out of funds")
    account: UUID = Field(description="the account that pays ahead")


class ForcedSuspend(RootModel[Annotated[OverBudget | OutOfFunds, Field(discriminator="reason")]]):
    """Why a cluster is suspended that nobody asked to suspend."""

    model_config = ConfigDict(frozen=True)


class OperationOf(Payload):
    """What the operation does."""

    kind: str = Field(description="the operation's kind", examples=["cluster.create"])
    late: Late = False


class PartitionOf(Payload):
    """Whose partition it is."""

    cluster: UUID = Field(description="the cluster that the partition divides")


class TokenReplaced(Payload):
    """What took the place of a token."""

    replaced_by: UUID = Field(description="the new token")


class AccountAssigned(Payload):
    """Who pays."""

    account_id: UUID = Field(description="the account that pays from the next full hour on")


class WebhookStopped(Payload):
    """Why a webhook is disabled."""

    reason: Literal["by_owner", "gone", "failing"] = Field(
        description="its owner disabled it, it answered 410, or it failed for three days"
    )


class InvoiceNumbered(Payload):
    """Which invoice was issued."""

    number: str = Field(description="the invoice's number")


class BudgetReached(Payload):
    """A threshold of a budget, and the figure that reached it."""

    name: str = Field(description="the budget's name")
    month: str = Field(description="year and month", examples=["2026-05"])
    percent: int = Field(description="the threshold, in percent of the budget's amount")
    amount: AmountOfMoney = Field(description="the budget's amount")
    figure: AmountOfMoney = Field(description="what was used, or is forecast")
    action: str | None = Field(description="what follows besides this event; null: nothing")


class FundsLeft(Payload):
    """How an account that pays ahead stands."""

    when_empty: str = Field(description="what the account's operator chose to happen when nothing is left")
    left: AmountOfMoney = Field(description="what is left, before reservations; below zero: overdrawn")


class AuditRepair(Payload):
    """What was wrong and what was done about it."""

    rule: str = Field(description="the rule that was broken")
    action: str = Field(description="what the audit did")
