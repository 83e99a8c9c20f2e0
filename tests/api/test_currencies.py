"""Accounts in other currencies than the installation's, as operators and customers see them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.api.support import Api, cluster_json, faults_of, key, ok, problem
from tests.support.factories import make_price
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

TENTH = "1.2345"


async def yen_prices(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await make_price(connection, "ipu-m2000", "luxembourg-2", Decimal(TENTH), currency="JPY")


async def account(admin: httpx.AsyncClient, currency: str) -> dict[str, Any]:
    answer = ok(await admin.post("/v1/billing/accounts", json={"name": "Kyoto", "currency": currency}), 201)
    return dict(answer)


async def test_an_account_is_in_a_currency_in_which_something_is_sold(api: Api, admin: httpx.AsyncClient) -> None:
    unknown = await admin.post("/v1/billing/accounts", json={"name": "Kyoto", "currency": "ZZQ"})
    assert faults_of(unknown) == [("/currency", "unknown_currency")]
    unsold = await admin.post("/v1/billing/accounts", json={"name": "Kyoto", "currency": "JPY"})
    assert faults_of(unsold) == [("/currency", "not_sold")]
    await yen_prices(api)
    assert (await account(admin, "JPY"))["currency"] == "JPY"


async def test_a_project_is_served_in_the_currency_of_its_payer(
    api: Api, admin: httpx.AsyncClient, database: Scratch
) -> None:
    await yen_prices(api)
    kyoto = await account(admin, "JPY")
    assert (await admin.put(f"{api.base}/billing/account", json={"account_id": kyoto["id"]})).status_code == 200
    refused = await api.owner.post(f"{api.base}/clusters", json=cluster_json())
    assert "in JPY, and the present one in EUR" in problem(refused, 409, "state_conflict")["detail"]
    [begins] = await api.world.column("SELECT max(valid_from) FROM project_accounts")
    stop_clock(database.owner_url, begins)

    estimate = (await api.owner.post(f"{api.base}/clusters:estimate", json=cluster_json())).json()
    assert estimate["price_per_minute"] == {"amount": TENTH, "currency": "JPY"}
    operation = await api.make_cluster()
    cluster = (await api.owner.get(f"{api.base}/clusters/{operation['target']['id']}")).json()
    assert await api.world.column("SELECT currency FROM clusters") == ["JPY"], cluster
    for path in ("billing/usage", "billing/summary", "billing/balance", "billing/funds"):
        assert '"EUR"' not in (await api.owner.get(f"{api.base}/{path}")).text, path
    back = await admin.put(f"{api.base}/billing/account", json={"account_id": str(api.world.project.id)})
    assert "is priced in JPY, and this account pays in EUR" in problem(back, 409, "state_conflict")["detail"]


async def test_money_of_another_currency_is_refused(api: Api, admin: httpx.AsyncClient) -> None:
    dollars, euros = {"amount": "5", "currency": "USD"}, {"amount": "5", "currency": "EUR"}
    own = f"/v1/billing/accounts/{api.world.project.id}"
    credit = {"reason": "welcome", "expires_at": "2126-01-01T00:00:00Z"}
    price = {"sku": "ipu-m2000", "region": "luxembourg-2", "source": "x", "valid_from": "2126-01-01T00:00:00Z"}
    contract = price | {"account_id": str(api.world.project.id)}
    before = await api.snapshot()
    for caller, path, body in (
        (admin, f"{own}/payments", {"reference": "wire"}),
        (admin, f"{own}/credits", credit),
        (api.owner, f"{api.base}/billing/top-ups", {}),
        (api.owner, f"{api.base}/budgets", {"name": "all", "thresholds": [{"on": "actual", "percent": 100}]}),
        (admin, f"{own}/budgets", {"name": "all", "thresholds": [{"on": "actual", "percent": 100}]}),
    ):
        refused = await caller.post(path, json=body | {"amount": dollars}, headers=key())
        assert faults_of(refused) == [("/amount/currency", "other_currency")], path
    refused = await admin.post("/v1/billing/prices", json={"items": [contract | {"unit_price": dollars}]})
    assert faults_of(refused) == [("/items/0/unit_price/currency", "other_currency")]
    refused = await admin.post(
        "/v1/billing/prices", json={"items": [price | {"unit_price": dollars | {"currency": "ZZQ"}}]}
    )
    assert faults_of(refused) == [("/items/0/unit_price/currency", "unknown_currency")]
    assert await api.snapshot() == before
    ok(await admin.post(f"{own}/payments", json={"reference": "wire", "amount": euros}, headers=key()), 201)


@pytest.mark.parametrize(("amount", "currency"), [("5.5", "JPY"), ("5.005", "EUR"), ("5.0005", "KWD"), ("5", "ZZQ")])
async def test_an_amount_can_be_paid_in_its_currency(
    api: Api, admin: httpx.AsyncClient, amount: str, currency: str
) -> None:
    path = f"/v1/billing/accounts/{api.world.project.id}/payments"
    body = {"reference": "x", "amount": {"amount": amount, "currency": currency}}
    refused = await admin.post(path, json=body, headers=key())
    expected = "unknown_currency" if currency == "ZZQ" else "not_payable"
    assert faults_of(refused) == [("/amount", expected)]
