"""What a project pays and what its month comes to, as callers see it; prices that are withdrawn."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.identity.roles import Role
from tests.api.support import Api, price_json, problem
from tests.support.cloud import start_clock, stop_clock
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-06-29T22:30:00Z")


async def test_a_month_is_forecast_with_prices_to_come_and_expiries(api: Api, database: Scratch) -> None:
    """At 0.0625: one cluster for an hour, another to the end of the month, whose last day costs 0.1."""
    stop_clock(database.owner_url, NOW)
    try:
        expiring = await api.make_cluster(expires_at="2026-06-29T23:30:00Z")
        lasting = await api.make_cluster("ernie")
        for made in (expiring, lasting):
            await api.cloud.finish_create(UUID(made["target"]["id"]))
        admin = await api.caller(Role.ADMIN)
        price = {"valid_from": "2026-06-30T00:00:00Z", "unit_price": {"amount": "0.1", "currency": "EUR"}}
        added = await admin.post("/v1/billing/prices", json={"items": [price_json("ipu-m2000", **price)]})
        assert added.json() == {"added": 1}
        forecast = (await api.owner.get(f"{api.base}/billing/forecast")).json()
        assert amounts(forecast) == ("0.00", "0.00", "0.00", "153.375", "153.375")
        stop_clock(database.owner_url, NOW + timedelta(minutes=32))
        await keep_books(api.cloud.database)
        forecast = (await api.owner.get(f"{api.base}/billing/forecast")).json()
        assert amounts(forecast) == ("3.75", "0.25", "4.00", "149.375", "153.375")
        assert (forecast["until"], forecast["unpriced_minutes"]) == ("2026-07-01T00:00:00Z", 0)
        of_account = await admin.get(f"/v1/billing/accounts/{api.cloud.project.id}/forecast")
        assert of_account.json() == forecast
    finally:
        start_clock(database.owner_url)
    problem(await admin.get(f"/v1/billing/accounts/{UUID(int=5)}/forecast"), 404, "not_found")


def amounts(forecast: dict[str, dict[str, str]]) -> tuple[str, ...]:
    return tuple(forecast[name]["amount"] for name in ("posted", "accruing", "so_far", "to_come", "forecast"))


async def test_a_project_is_told_its_own_prices_and_a_withdrawn_one_is_gone(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    contract = price_json("ipu-m2000", account_id=str(api.cloud.project.id))
    assert (await admin.post("/v1/billing/prices", json={"items": [contract]})).json() == {"added": 1}
    [now, later] = await own(api)
    assert (now["contract"], later["contract"]) == (False, True)
    assert now["valid_to"] == later["valid_from"] == contract["valid_from"]
    assert later["list_unit_price"] == now["unit_price"]
    book = (await admin.get("/v1/billing/prices")).json()["items"]
    [booked] = [each["id"] for each in book if each["account_id"]]
    [running] = [each["id"] for each in book if each["sku"] == "ipu-m2000" and not each["account_id"]]
    problem(await admin.delete(f"/v1/billing/prices/{running}"), 409, "state_conflict")
    assert (await admin.delete(f"/v1/billing/prices/{booked}")).status_code == 204
    problem(await admin.delete(f"/v1/billing/prices/{booked}"), 404, "not_found")
    problem(await api.owner.delete(f"/v1/billing/prices/{running}"), 403, "permission_denied")
    [listed] = await own(api)
    assert listed["valid_to"] is None


async def own(api: Api) -> list[dict[str, object]]:
    found = (await api.owner.get(f"{api.base}/prices")).json()["items"]
    return [each for each in found if each["sku"] == "ipu-m2000"]
