"""Budgets of projects and accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, TagKey, TagValue, in_cents
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Money

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["NLP team"])]
BudgetMoney = Annotated[Money, in_cents(10**12)]


class BudgetTag(Body):
    """Clusters of the project that have this tag."""

    key: TagKey
    value: TagValue


class BudgetThreshold(Body):
    """So many percent of the amount; once a month it is told, and its action holds while it is reached."""

    on: Literal["actual", "forecast"] = Field("actual", description="what was used, or what the month will come to")
    percent: int = Field(ge=1, le=1000)
    action: Literal["refuse_creates", "suspend"] | None = Field(
        None,
        description="`refuse_creates`: none is created or resumed; `suspend`: also, those in use are suspended",
    )


Thresholds = Annotated[list[BudgetThreshold], Field(min_length=1, max_length=20)]


class AccountBudgetCreate(Body):
    name: Name
    amount: BudgetMoney = Field(description="of a UTC month, in the installation's currency")
    thresholds: Thresholds


class BudgetCreate(AccountBudgetCreate):
    tag: BudgetTag | None = Field(None, description="null: all of the project's clusters")


class BudgetPatch(Body):
    """What is left out stays; `thresholds` replaces all of them."""

    name: Name | None = None
    amount: BudgetMoney | None = None
    thresholds: Thresholds | None = None


class BudgetTagOut(Answer):
    key: str
    value: str


class BudgetThresholdOut(Answer):
    on: Literal["actual", "forecast"]
    percent: int
    action: Literal["refuse_creates", "suspend"] | None
    reached_at: datetime | None = Field(description="this month")


class BudgetOut(Answer):
    """What a month may come to, and what it has come to when the books were kept last."""

    id: UUID
    name: str
    scope: Literal["project", "tag", "account"]
    tag: BudgetTagOut | None
    amount: Money
    thresholds: list[BudgetThresholdOut]
    month: str | None = Field(description="of which the figures are; null before the first look", examples=["2026-05"])
    actual: Money | None = Field(description="used so far")
    forecast: Money | None = Field(description="what the month will come to")
    evaluated_at: datetime | None
    refuses_creates: bool = Field(description="and refuses that suspended clusters are resumed")
    created_at: datetime
    version: int


class BudgetPage(Page[BudgetOut]):
    pass
