"""Budgets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client.models.base import Answer, Money


class BudgetTag(Answer):
    key: str
    value: str


class BudgetThreshold(Answer):
    """Percent of the amount, of what was used (`actual`) or will be (`forecast`); `reached_at` this month."""

    on: str
    percent: int
    action: str | None = None
    reached_at: datetime | None = None


class Budget(Answer):
    """What a month may come to, and what it has come to."""

    id: str
    name: str
    scope: str
    tag: BudgetTag | None = None
    amount: Money
    thresholds: Sequence[BudgetThreshold] = ()
    month: str | None = None
    actual: Money | None = None
    forecast: Money | None = None
    evaluated_at: datetime | None = None
    refuses_creates: bool
    version: int
