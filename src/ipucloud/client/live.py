"""Calls about money that is not posted yet: what a project pays, and what its month comes to."""

from __future__ import annotations

from uuid import UUID

from ipucloud.client import call as request
from ipucloud.client.call import Call, nothing, segment
from ipucloud.client.models.base import Page
from ipucloud.client.models.live import Forecast, PaidPrice


def prices() -> Call[Page[PaidPrice]]:
    """What the project pays now and later: its account's contract prices, else the list's."""
    return request.get("prices", Page[PaidPrice].model_validate_json, scoped=True)


def forecast() -> Call[Forecast]:
    """What the project's running month comes to."""
    return request.get("billing/forecast", Forecast.model_validate_json, scoped=True)


def account_forecast(account: str | UUID) -> Call[Forecast]:
    """What the account's running month comes to. Needs a token of the platform."""
    return request.get(f"billing/accounts/{segment(account)}/forecast", Forecast.model_validate_json)


def withdraw_price(price: str | UUID) -> Call[None]:
    """Take back a version of a price that has not begun. Needs a token of the platform."""
    return request.delete(f"billing/prices/{segment(price)}", nothing)
