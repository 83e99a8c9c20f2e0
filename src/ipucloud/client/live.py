"""Calls about money that is not posted yet: what a project pays, and what its month comes to."""

from __future__ import annotations

from uuid import UUID

from ipucloud.client import call as request
from ipucloud.client.call import Call, nothing, segment
from ipucloud.client.models import Forecast, Funds, Page, PaidPrice


def prices() -> Call[Page[PaidPrice]]:
    """What the project pays now and later: its account's contract prices, else the list's."""
    return request.get("prices", Page[PaidPrice])


def forecast() -> Call[Forecast]:
    """What the project's running month comes to."""
    return request.get("billing/forecast", Forecast)


def account_forecast(account: str | UUID) -> Call[Forecast]:
    """What the account's running month comes to. Needs a token of the platform."""
    return request.get(f"billing/accounts/{segment(account)}/forecast", Forecast, scoped=False)


def withdraw_price(price: str | UUID) -> Call[None]:
    """Take back a version of a price that has not begun. Needs a token of the platform."""
    return request.delete(f"billing/prices/{segment(price)}", nothing, scoped=False)


def funds() -> Call[Funds]:
    """What the account that pays for the project has left."""
    return request.get("billing/funds", Funds)


def account_funds(account: str | UUID) -> Call[Funds]:
    """What an account has left. Needs a token of the platform."""
    return request.get(f"billing/accounts/{segment(account)}/prepaid", Funds, scoped=False)


def set_prepaid(account: str | UUID, when_empty: str) -> Call[Funds]:
    """Let an account pay ahead; `when_empty`: `warn`, `refuse_creates` or `suspend`. Needs a token of the platform."""
    path = f"billing/accounts/{segment(account)}/prepaid"
    return Call("PUT", path, Funds, body={"when_empty": when_empty}, scoped=False)


def end_prepaid(account: str | UUID) -> Call[None]:
    """Let an account pay by invoice alone. Needs a token of the platform."""
    return request.delete(f"billing/accounts/{segment(account)}/prepaid", nothing, scoped=False)
