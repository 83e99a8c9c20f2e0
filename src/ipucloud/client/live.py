"""Calls for a project's prices, forecasts and funds."""

from __future__ import annotations

from uuid import UUID

from ipucloud.client import call as request
from ipucloud.client.call import Call, nothing, segment
from ipucloud.client.models import Forecast, Funds, Page, PaidPrice


def prices() -> Call[Page[PaidPrice]]:
    """The project's current and future prices: its account's contract prices, else list prices."""
    return request.get("prices", Page[PaidPrice])


def forecast() -> Call[Forecast]:
    """Forecast of the project's current month."""
    return request.get("billing/forecast", Forecast)


def account_forecast(account: str | UUID) -> Call[Forecast]:
    """Forecast of the account's current month. Needs a platform token."""
    return request.get(f"billing/accounts/{segment(account)}/forecast", Forecast, scoped=False)


def withdraw_price(price: str | UUID) -> Call[None]:
    """Withdraw a price version that has not begun. Needs a platform token."""
    return request.delete(f"billing/prices/{segment(price)}", nothing, scoped=False)


def funds() -> Call[Funds]:
    """Funds of the account that pays for the project."""
    return request.get("billing/funds", Funds)


def account_funds(account: str | UUID) -> Call[Funds]:
    """Funds of an account. Needs a platform token."""
    return request.get(f"billing/accounts/{segment(account)}/prepaid", Funds, scoped=False)


def set_prepaid(account: str | UUID, when_empty: str) -> Call[Funds]:
    """Make an account prepaid; `when_empty`: `warn`, `refuse_creates` or `suspend`. Needs a platform token."""
    path = f"billing/accounts/{segment(account)}/prepaid"
    return Call("PUT", path, Funds, body={"when_empty": when_empty}, scoped=False)


def end_prepaid(account: str | UUID) -> Call[None]:
    """End an account's prepayment. Needs a platform token."""
    return request.delete(f"billing/accounts/{segment(account)}/prepaid", nothing, scoped=False)
