"""Budgets of projects and accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from ipucloud.contract.fields import Answer, Body, TagKey, TagValue, no_id, to_pay
from ipucloud.contract.lists import Page, WholeNamedList
from ipucloud.kernel.money import Money

Name = Annotated[
    str,
    Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["NLP team"]),
    AfterValidator(no_id),
]
BudgetMoney = Annotated[Money, to_pay(10**12)]


class BudgetTag(Body):
    """Clusters of the project that have this tag."""

    key: TagKey
    value: TagValue


class BudgetThreshold(Body):
    """A percentage of the budget's amount. It is reported once a month; its action applies while it is reached."""

    on: Literal["actual", "forecast"] = Field(
        "actual", description="Figure to compare: cost so far (`actual`), or the forecast for the month."
    )
    percent: int = Field(ge=1, le=1000)
    action: Literal["refuse_creates", "suspend"] | None = Field(
        None,
        description="`refuse_creates`: no cluster is created or resumed; `suspend`: also suspends active clusters.",
    )


Thresholds = Annotated[list[BudgetThreshold], Field(min_length=1, max_length=20)]


class AccountBudgetCreate(Body):
    """A budget for everything that a billing account pays."""

    name: Name
    amount: BudgetMoney = Field(description="Amount of a UTC month, in the installation's currency.")
    thresholds: Thresholds


class BudgetCreate(AccountBudgetCreate):
    """A budget for a project, or for the clusters of the project that have a tag."""

    tag: BudgetTag | None = Field(
        None, description="Only clusters with this tag; null for all clusters of the project."
    )


class BudgetPatch(Body):
    """Omitted fields stay unchanged; `thresholds` replaces all thresholds."""

    name: Name | None = None
    amount: BudgetMoney | None = None
    thresholds: Thresholds | None = None


class BudgetTagOut(Answer):
    """The budget covers the clusters that have this tag."""

    key: str
    value: str


class BudgetThresholdOut(Answer):
    """A threshold, and whether it was reached this month."""

    on: Literal["actual", "forecast"]
    percent: int
    action: Literal["refuse_creates", "suspend"] | None
    reached_at: datetime | None = Field(description="When the threshold was reached this month; null if it was not.")


class BudgetOut(Answer):
    """A monthly budget, with the figures of its last evaluation."""

    id: UUID
    name: str
    scope: Literal["project", "tag", "account"]
    tag: BudgetTagOut | None
    amount: Money
    thresholds: list[BudgetThresholdOut]
    month: str | None = Field(
        description="Month of the figures; null before the first evaluation.", examples=["2026-05"]
    )
    actual: Money | None = Field(description="Cost so far.")
    forecast: Money | None = Field(description="Forecast for the month.")
    evaluated_at: datetime | None
    refuses_creates: bool = Field(description="Whether creating and resuming clusters is refused now.")
    created_at: datetime
    version: int


class BudgetPage(Page[BudgetOut]):
    pass


class BudgetList(WholeNamedList):
    """Budgets that match every filter."""
