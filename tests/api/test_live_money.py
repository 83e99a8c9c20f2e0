"""What a project pays, and what its month cost so far and will cost, as callers see it; prices that are withdrawn."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.identity.roles import Role
from tests.api.support import Api, key, ok, price_json, problem
from tests.support.invoices import add_tax_rate
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

NEVER = "2126-01-01T00:00:00Z"
JUNE = {"since": "2026-06-01T00:00:00Z", "until": "2026-07-01T00:00:00Z"}
NOW = datetime.fromisoformat("2026-06-29T22:30:00Z")


async def test_a_month_is_summarised_with_prices_to_come_and_expiries(api: Api, database: Scratch) -> None:
    """At 0.0625: one cluster for an hour, another to the end of the month, whose last day costs 0.1."""
    stop_clock(database.owner_url, NOW)
    try:
        assert amounts(await summary(api)) == ("0.00",) * 6
        await api.world.make_active(expires_at=NOW + timedelta(hours=1))
        await api.world.make_active("ernie", tags={"team": "nlp", "stage": "test"})
        admin = await api.caller(Role.ADMIN)
        price = {"valid_from": "2026-06-30T00:00:00Z", "unit_price": {"amount": "0.1", "currency": "EUR"}}
        added = await admin.post("/v1/billing/prices", json={"items": [price_json("ipu-m2000", **price)]})
        assert added.json()["added"] == 1
        assert amounts(await summary(api)) == ("0.00", "0.00", "0.00", "7.50", "153.375", "153.375")
        stop_clock(database.owner_url, NOW + timedelta(minutes=32))
        await keep_books(api.world.database)
        june = await summary(api)
        assert amounts(june) == ("4.00", "3.75", "0.25", "7.50", "149.375", "153.375")
        assert (june["until"], june["unpriced_minutes"]) == ("2026-07-01T00:00:00Z", 0)
        assert (june["observed_at"], june["posted_until"]) == ("2026-06-29T23:02:00Z", "2026-06-29T23:00:00Z")
        assert sorted((each["name"], each["minutes"], each["forecast"]["amount"]) for each in june["clusters"]) == [
            ("bert", 32, "3.75"),
            ("ernie", 32, "149.625"),
        ]
        assert by_part(june["skus"], "sku") == {"ipu-m2000": ("4.00", "153.375", "0.00")}
        assert by_part(june["flavors"], "flavor") == {"m2000-pod4": ("4.00", "153.375", "0.00")}
        tagged = ("2.00", "149.625", "0.00")
        assert by_part(june["tags"], "key", "value") == {"team nlp": tagged, "stage test": tagged}
        of_account = await admin.get(f"/v1/billing/accounts/{api.world.project.id}/summary")
        assert of_account.json() == june
        assert amounts(await summary(api, month="2026-05")) == ("0.00",) * 6
        stop_clock(database.owner_url, NOW + timedelta(hours=26, minutes=32))
        await keep_books(api.world.database)
        past = await summary(api, month="2026-06")
        assert past["accrued"] == past["posted"] == past["forecast"]
        assert amounts(past)[2:5] == ("0.00",) * 3
        july = await summary(api)
        assert (july["previous"]["month"], july["previous"]["total"]) == ("2026-06", past["accrued"])
        assert july["previous"]["until"] == "2026-06-01T01:02:00Z"
        report = (await api.owner.get(f"{api.base}/billing/report", params=JUNE)).json()
        assert report["totals"][0]["cost"] == past["accrued"]
    finally:
        start_clock(database.owner_url)
    problem(await admin.get(f"/v1/billing/accounts/{UUID(int=5)}/summary"), 404, "not_found")


async def test_a_summary_says_what_an_invoice_adds_and_subtracts(api: Api, admin: httpx.AsyncClient) -> None:
    month = await summary(api)
    assert (month["tax"], month["credit"]["amount"]) == (None, "0.00")
    async with api.world.database.begin() as connection:
        await add_tax_rate(connection)
    granted = {"amount": month["credit"] | {"amount": "5.00"}, "reason": "welcome", "expires_at": NEVER}
    await admin.post(f"/v1/billing/accounts/{api.world.project.id}/credits", json=granted, headers=key())
    month = await summary(api)
    nothing = {"amount": "0.00", "currency": "EUR"}
    tax = {"treatment": "standard", "name": "VAT", "rate": "0.17", "on_accrued": nothing, "on_forecast": nothing}
    assert month["tax"] == tax
    assert month["credit"]["amount"] == month["balances"][0]["credit"]["amount"] == "5.00"


async def test_a_summary_refuses_what_is_no_month(api: Api) -> None:
    for wrong in ("2026-13", "2026-5", "May", "2099-01"):
        problem(await api.owner.get(f"{api.base}/billing/summary", params={"month": wrong}), 422, "validation_failed")


async def summary(api: Api, **query: str) -> Any:
    return ok(await api.owner.get(f"{api.base}/billing/summary", params=query))


def by_part(parts: list[dict[str, Any]], *names: str) -> dict[str, tuple[str, ...]]:
    figures = ("accrued", "forecast", "previous")
    return {" ".join(each[name] for name in names): tuple(each[f]["amount"] for f in figures) for each in parts}


def amounts(summary: dict[str, dict[str, str]]) -> tuple[str, ...]:
    names = ("accrued", "posted", "unposted", "per_hour", "projected", "forecast")
    return tuple(summary[name]["amount"] for name in names)


async def test_a_project_is_told_its_own_prices_and_a_withdrawn_one_is_gone(api: Api, admin: httpx.AsyncClient) -> None:
    contract = price_json("ipu-m2000", account_id=str(api.world.project.id))
    assert (await admin.post("/v1/billing/prices", json={"items": [contract]})).json()["added"] == 1
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
    items = (await api.owner.get(f"{api.base}/prices")).json()["items"]
    return [each for each in items if each["sku"] == "ipu-m2000"]
