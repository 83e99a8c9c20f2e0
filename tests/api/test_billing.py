"""Who pays, what was charged and why, and the price book, as callers see them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.identity.roles import Role
from tests.api.support import Api, pointers_of, price_json, problem, walk
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

LATER = {"valid_from": "2126-08-01T00:00:00Z", "unit_price": {"amount": "0.08", "currency": "EUR"}}


async def test_accounts_are_listed_in_pages(api: Api) -> None:
    support, admin = await api.caller(Role.SUPPORT), await api.caller(Role.ADMIN)
    for name in ("Research", "Teaching"):
        await admin.post("/v1/billing/accounts", json={"name": name, "currency": "EUR"})
    whole = (await support.get("/v1/billing/accounts")).json()["items"]
    assert [each["name"] for each in whole[:2]] == ["Teaching", "Research"]
    assert str(api.world.project.id) in [each["id"] for each in whole]
    assert await walk(support, "/v1/billing/accounts", limit=1) == whole
    assert (await support.get(f"/v1/billing/accounts/{whole[0]['id']}")).json() == whole[0]


async def test_a_price_is_of_a_region_that_exists_and_a_contract_s_of_the_future(
    api: Api, admin: httpx.AsyncClient
) -> None:
    price = {"sku": "ipu-m2000", "region": "luxemburg-2", "source": "test", **LATER}
    refused = await admin.post("/v1/billing/prices", json={"items": [price]})
    [fault] = problem(refused, 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/items/0/region", "unknown_region")
    assert "There is no region luxemburg-2. Regions, nearest first: luxembourg-2" in fault["detail"]
    past = price_json("ipu-m2000", account_id=str(api.world.project.id), valid_from="2026-01-01T00:00:00Z")
    problem(await admin.post("/v1/billing/prices", json={"items": [past]}), 422, "validation_failed")


async def test_a_project_pays_for_itself_until_somebody_else_does(api: Api, admin: httpx.AsyncClient) -> None:
    own = (await api.owner.get(f"{api.base}/billing/account")).json()
    assert (own["id"], own["currency"], own["balances"]) == (str(api.world.project.id), "EUR", [balances("0.00")])
    created = await admin.post(
        "/v1/billing/accounts",
        json={"name": "Research", "currency": "EUR", "legal_name": "Research Ltd", "address": "1, Road\nTown"},
    )
    assert created.status_code == 201, created.text
    account = created.json()
    assert (account["payment_days"], account["address"]) == (30, "1, Road\nTown")
    assigned = await admin.put(f"{api.base}/billing/account", json={"account_id": account["id"]})
    assert assigned.json()["id"] == account["id"]
    assert (await api.owner.get(f"{api.base}/billing/account")).json()["id"] == own["id"]
    [last] = await api.world.column(
        "SELECT valid_from > app_now() FROM project_accounts WHERE account_id <> project_id"
    )
    assert last
    for method, path, sent in (
        ("POST", "/v1/billing/accounts", {"name": "บริษัท", "currency": "EUR"}),
        ("POST", "/v1/projects", {"slug": "thai", "name": "โครงการ"}),  # its own account has its name
        ("PATCH", f"/v1/billing/accounts/{api.world.project.id}", {"address": "1, Road\nमुंबई", "tax_id": "LU1"}),
        ("PATCH", "/v1/billing/seller", {"bank": "a\u202eb"}),
    ):
        refused = problem(await admin.request(method, path, json=sent), 422, "validation_failed")
        [fault] = refused["errors"]
        assert (fault["pointer"].lstrip("/") in sent, fault["code"]) == (True, "not_printable")
    changed = await admin.patch(
        created.headers["location"], json={"tax_id": "LU1"}, headers={"If-Match": created.headers["etag"]}
    )
    assert (changed.json()["tax_id"], changed.json()["legal_name"]) == ("LU1", "Research Ltd")
    stale = await admin.patch(
        created.headers["location"], json={"tax_id": "X"}, headers={"If-Match": created.headers["etag"]}
    )
    problem(stale, 412, "precondition_failed")
    problem(await admin.put(f"{api.base}/billing/account", json={"account_id": str(UUID(int=5))}), 404, "not_found")


def balances(unbilled: str) -> dict[str, object]:
    amounts = {"unbilled": unbilled, "outstanding": "0.00", "wallet": "0.00", "credit": "0.00"}
    return {"currency": "EUR"} | {name: {"amount": amount, "currency": "EUR"} for name, amount in amounts.items()}


async def in_the_books(api: Api, database: Scratch, **changes: Any) -> tuple[UUID, datetime]:
    """A POD16 of which 30 minutes are posted, and when it began; the clock stands since."""
    began: datetime = await api.world.value("SELECT date_trunc('hour', app_now(), 'UTC') - interval '90 minutes'")
    stop_clock(database.owner_url, began)
    cluster = await api.world.make_active(flavor="m2000-pod16", **changes)
    stop_clock(database.owner_url, began + timedelta(minutes=35))
    await keep_books(api.world.database)
    return cluster, began


async def test_a_charge_is_explained(api: Api, database: Scratch) -> None:
    cluster, _ = await in_the_books(api, database)
    start_clock(database.owner_url)
    [charge] = (await api.owner.get(f"{api.base}/clusters/{cluster}/charges")).json()["items"]
    assert charge["formula"] == "30 min × 4 × 0.0625 EUR = 7.50"
    assert charge["cost"] == {"amount": "7.50", "currency": "EUR"}
    assert (charge["minutes"], charge["first_minute"], charge["correction"]) == (30, 0, False)
    assert charge["usage"]["machines"] == 4
    assert charge["usage"]["started_at"] == charge["started_at"]
    assert (charge["price"]["sku"], charge["price"]["contract"]) == ("ipu-m2000", False)
    assert (await api.owner.get(f"{api.base}/billing/account")).json()["balances"] == [balances("7.50")]
    wrong = {"since": "2026-05-05T00:00:00Z", "until": "2026-07-05T00:00:00Z"}
    problem(await api.owner.get(f"{api.base}/clusters/{cluster}/charges", params=wrong), 422, "validation_failed")


async def test_a_book_is_read_out_and_added_again(api: Api, admin: httpx.AsyncClient) -> None:
    contract = price_json(
        "ipu-m2000", account_id=str(api.world.project.id), unit_price={"amount": "0.05", "currency": "EUR"}
    )
    added = await admin.post("/v1/billing/prices", json={"items": [price_json("ipu-m2000", **LATER), contract]})
    assert added.json() == {"added": 2, "restored": 0}, added.text
    book = (await admin.get("/v1/billing/prices")).json()["items"]
    ours = [each for each in book if each["sku"] == "ipu-m2000"]
    assert [(each["unit_price"]["amount"], each["valid_to"], each["account_id"]) for each in ours] == [
        ("0.0625", "2126-08-01T00:00:00Z", None),
        ("0.08", None, None),
        ("0.05", None, str(api.world.project.id)),
    ]
    again = [{name: value for name, value in each.items() if name != "id"} for each in book]
    assert (await admin.post("/v1/billing/prices", json={"items": again})).json() == {"added": 0, "restored": 0}
    assert (await admin.get("/v1/billing/prices")).json()["items"] == book


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"sku": "ipu-m2000", "valid_from": "2025-01-01T00:00:00Z"}, 422, "validation_failed"),
        ({"sku": "ipu-m2000", "valid_from": "2019-01-01T00:00:00Z"}, 409, "state_conflict"),
        ({"valid_from": "2126-07-01T00:00:00.5Z"}, 422, "validation_failed"),
        ({"valid_to": "2126-06-01T00:00:00Z"}, 422, "validation_failed"),
        ({"unit_price": {"amount": "-1", "currency": "EUR"}}, 422, "validation_failed"),
        ({"unit_price": {"amount": "0.00000000001", "currency": "EUR"}}, 422, "validation_failed"),
        ({"unit_price": {"amount": "99999999999", "currency": "EUR"}}, 422, "validation_failed"),
        ({"account_id": str(UUID(int=7))}, 422, "validation_failed"),
    ],
)
async def test_what_would_change_the_past_or_makes_no_sense_is_refused(
    api: Api, changes: dict[str, object], status: int, code: str
) -> None:
    admin = await api.caller(Role.ADMIN)
    before = await api.snapshot()
    items = [price_json("ipu-fresh"), price_json("ipu-other") | changes]
    problem(await admin.post("/v1/billing/prices", json={"items": items}), status, code)
    assert await api.snapshot() == before


async def test_a_report_sums_what_was_charged(api: Api, admin: httpx.AsyncClient, database: Scratch) -> None:
    cluster, began = await in_the_books(api, database, tags={"team": "=vision"})
    path = f"{api.base}/billing/report"
    since = f"{began:%Y-%m-%dT%H}:00:00Z"
    report = (await api.owner.get(path, params={"since": since, "group_by": ["cluster", "tag:team"]})).json()
    [row] = report["rows"]
    assert row["group"] == {"cluster": str(cluster), "cluster_name": "bert", "tag:team": "=vision"}
    assert (row["minutes"], row["machine_minutes"]) == (30, 120)
    assert row["cost"] == report["totals"][0]["cost"] == {"amount": "7.50", "currency": "EUR"}
    assert report["posted_until"] > report["since"]
    query = {"since": since, "group_by": "tag:team"}
    for answer in (
        await api.owner.get(path, params=query | {"format": "csv"}),
        await api.owner.get(path, params=query, headers={"Accept": "text/csv"}),
    ):
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.text.splitlines() == [
            "tag:team,currency,minutes,machine_minutes,credited_machine_minutes,list_cost,cost",
            "'=vision,EUR,30,120,0,7.50,7.50",
        ]
    marked = await api.owner.get(path, params=query | {"format": "csv", "bom": "true"})
    assert marked.content == b"\xef\xbb\xbf" + answer.content
    unmarked = await api.owner.get(path, params=query | {"bom": "true"})
    assert pointers_of(unmarked) == ["?bom"]
    of_account = f"/v1/billing/accounts/{api.world.project.id}/report"
    whole = (await admin.get(of_account, params={"since": since})).json()
    assert whole["totals"] == report["totals"]
    refused = problem(await api.owner.get(of_account), 403, "permission_denied")
    assert "ipucloud tokens create NAME --account ACCOUNT" in refused["detail"]
    problem(await admin.get(f"/v1/billing/accounts/{UUID(int=5)}/report"), 404, "not_found")
    start_clock(database.owner_url)
    for wrong in ({"since": "2026-05-05T00:30:00Z"}, {"since": "2020-01-01T00:00:00Z"}, {"group_by": "price"}):
        problem(await api.owner.get(path, params=wrong), 422, "validation_failed")
