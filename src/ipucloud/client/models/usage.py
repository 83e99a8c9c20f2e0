"""Minutes and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client.models.base import Answer, Money


class UsageSlice(Answer):
    """A stretch of time with one size and one price."""

    minutes: int
    cost: Money


class Usage(Answer):
    """Minutes and cost so far, exact to the last digit, of a cluster or of a project in a period."""

    minutes: int
    cost: Money
    slices: Sequence[UsageSlice] = ()
    since: datetime | None = None
    until: datetime | None = None
