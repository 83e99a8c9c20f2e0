"""What a project pays, and what its month comes to."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client.models.base import Answer, Money


class PaidPrice(Answer):
    """A price per unit in [valid_from, valid_to), of the account that pays then."""

    sku: str
    region: str
    unit: str = "machine-minute"
    unit_price: Money
    list_unit_price: Money
    contract: bool
    account_id: str
    valid_from: datetime
    valid_to: datetime | None = None
    source: str


class Forecast(Answer):
    """What the month [since, until) comes to: posted + accruing = so_far, so_far + to_come = forecast."""

    since: datetime
    until: datetime
    now: datetime
    posted: Money
    accruing: Money
    so_far: Money
    to_come: Money
    forecast: Money
    unpriced_minutes: int


class Funds(Answer):
    """What an account has left: available = wallet + promo - owed - accruing - held."""

    account_id: str
    when_empty: str | None = None
    state: str | None = None
    state_entered_at: datetime | None = None
    wallet: Money
    promo: Money
    owed: Money
    accruing: Money
    held: Money
    available: Money
