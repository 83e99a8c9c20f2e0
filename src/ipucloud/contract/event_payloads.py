"""Schemas of the `data` of events. Members may be added; none changes its meaning."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel

Late = Annotated[bool, Field(description="An audit appended the event afterwards.")]


class Payload(BaseModel):
    """The `data` of an event."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AmountOfMoney(Payload):
    """An exact amount of a currency."""

    amount: str = Field(description="Exact decimal.", examples=["400.00"])
    currency: str = Field(description="ISO 4217 code of the currency.", examples=["EUR"])


class ClusterRequested(Payload):
    """The requested cluster."""

    region: str = Field(description="The region's slug.")
    flavor: str = Field(description="The flavor's name.")
    late: Late = False


class ClusterChanged(Payload):
    """The changed fields."""

    fields: list[str] = Field(description="Names of the fields that changed.")


class ClusterEntered(Payload):
    """Why a cluster entered a state."""

    reason: str | None = Field(None, description="Reason, for people; absent or null if it was requested.")
    late: Late = False


class ClusterFault(Payload):
    """Something wrong with a cluster's hardware."""

    kind: Literal["machine", "poplar_server", "link"] = Field(description="What is affected.")
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lu2-r1-m01"])
    code: str = Field(description="Stable code of the fault.", examples=["bmc_critical"])
    message: str = Field(description="The fault, for people.")
    since: datetime = Field(description="When the fault was first seen.")
    credited: bool = Field(description="Whether minutes with this fault are credited.")


class ClusterDegraded(Payload):
    """Why a cluster does not work as sold."""

    reason: str | None = Field(None, description="Faults and what happens next, for people.")
    faults: list[ClusterFault] = Field(default_factory=list, description="The faults, oldest first.")
    credited_machines: int = Field(0, description="Machines whose minutes are not billed.")
    late: Late = False


class BudgetRef(Payload):
    """A budget."""

    id: UUID = Field(description="The budget's id.")
    name: str = Field(description="The budget's name.")


class OverBudget(Payload):
    """A budget suspends clusters once this threshold is reached."""

    reason: Literal["budget"] = Field(description="A budget's threshold was reached.")
    budget: BudgetRef = Field(description="The budget.")
    on: Literal["actual", "forecast"] = Field(description="The figure that reached the threshold.")
    percent: int = Field(description="The threshold, in percent of the budget's amount.")


class OutOfFunds(Payload):
    """A prepaid account has no funds left."""

    reason: Literal["funds"] = Field(description="The account ran out of funds.")
    account: UUID = Field(description="The prepaid account.")


class ForcedSuspend(RootModel[Annotated[OverBudget | OutOfFunds, Field(discriminator="reason")]]):
    """Why a cluster is suspended without a request."""

    model_config = ConfigDict(frozen=True)


class HardwareFailed(Payload):
    """The hardware that an operation could not work with."""

    machines: list[str] = Field(description="Names of IPU machines.", examples=[["pod1-m3"]])
    hosts: list[str] = Field(description="Names of Poplar servers' hosts.", examples=[[]])
    reason: str = Field(description="What is wrong with it, for people.", examples=["machine pod1-m3 did not answer"])


class OperationOf(Payload):
    """The operation's kind."""

    kind: str = Field(description="The operation's kind.", examples=["cluster.create"])
    late: Late = False


class PartitionOf(Payload):
    """The partition's cluster."""

    cluster: UUID = Field(description="The cluster that the partition belongs to.")


class TokenReplaced(Payload):
    """The replacement of a token."""

    replaced_by: UUID = Field(description="The new token.")


class AccountAssigned(Payload):
    """The account that pays for a project."""

    account_id: UUID = Field(description="The account that pays from the next full hour on.")


class WebhookStopped(Payload):
    """Why a webhook is disabled."""

    reason: Literal["by_owner", "gone", "failing"] = Field(
        description="Its owner disabled it, it answered 410, or it failed for three days."
    )


class InvoiceNumbered(Payload):
    """The issued invoice."""

    number: str = Field(description="The invoice's number.")


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


class AuditRepair(Payload):
    """The violated rule and the audit's repair."""

    rule: str = Field(description="The violated rule.")
    action: str = Field(description="The repair.")
