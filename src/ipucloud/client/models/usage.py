"""Minutes and what they cost, exact to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client.models.base import Answer, Money


class UsageSlice(Answer):
    """Minutes of one size under one price, all started in [started_at, ended_at)."""

    started_at: datetime
    ended_at: datetime
    minutes: int
    machines: int
    sku: str
    unit_price: Money
    cost: Money


class Usage(Answer):
    """What one cluster used in [since, until). `since` is None while nothing is billed."""

    cluster_id: str
    name: str
    region: str
    flavor: str
    running: bool
    since: datetime | None = None
    until: datetime
    minutes: int
    cost: Money
    slices: Sequence[UsageSlice] = ()


class ProjectUsage(Answer):
    """What a project's clusters used in [since, until)."""

    since: datetime
    until: datetime
    minutes: int
    cost: Money
    clusters: Sequence[Usage] = ()
