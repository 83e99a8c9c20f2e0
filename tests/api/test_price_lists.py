"""The price book as a list: what it is filtered and ordered by, and its pages while it changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from ipucloud.billing.pricing.book import add
from ipucloud.contract.prices import PriceAddition
from ipucloud.identity.roles import Role
from ipucloud.kernel.money import Money
from tests.api.support import Api, codes_of, faults_of, ok, price_json, problem, walk

pytestmark = pytest.mark.anyio

BOOK = "/v1/billing/prices"
OLD = "ipu-old"


async def filled(api: Api) -> httpx.AsyncClient:
    """Somebody who may read the book, which has past, current and future versions, and two accounts' contracts."""
    admin = await api.caller(Role.ADMIN)
    other = ok(await admin.post("/v1/billing/accounts", json={"name": "Institute", "currency": "EUR"}), 201)
    items = [
        price_json(OLD, valid_from="2021-01-01T00:00:00Z", valid_to="2022-01-01T00:00:00Z"),
        price_json(OLD, valid_from="2022-01-01T00:00:00Z"),
        price_json(OLD, valid_from="2126-07-01T00:00:00Z", unit_price={"amount": "0.0900", "currency": "EUR"}),
        price_json(OLD, region="amsterdam-2", valid_from="2022-01-01T00:00:00Z"),
        price_json(OLD, unit_price={"amount": "9", "currency": "JPY"}, valid_from="2022-01-01T00:00:00Z"),
        price_json(OLD, account_id=str(api.world.project.id), valid_from="2126-01-01T00:00:00Z"),
        price_json("ipu-m2000", account_id=other["id"]),
    ]
    ok(await admin.post(BOOK, json={"items": items}))
    return admin


async def listed(caller: httpx.AsyncClient, **query: str) -> list[dict[str, Any]]:
    return await walk(caller, BOOK, limit=1000, **query)


async def test_versions_are_found_by_what_they_are(api: Api) -> None:
    admin = await filled(api)
    whole = await listed(admin)
    account = str(api.world.project.id)
    institute = next(each["account_id"] for each in whole if each["account_id"] not in {None, account})
    old = [each for each in whole if each["sku"] == OLD]
    assert len(old) == 6
    assert await listed(admin, sku=OLD) == old
    assert await listed(admin, sku="ipu-0") == []
    assert [each["region"] for each in await listed(admin, sku=OLD, region="amsterdam-2")] == ["amsterdam-2"]
    regions = await listed(admin, region="luxembourg-2")
    numbers = {item["slug"]: item["number"] for item in (await admin.get("/v1/regions")).json()["items"]}
    assert regions == await listed(admin, region=str(numbers["luxembourg-2"])) != []
    [yen] = await listed(admin, currency="JPY")
    assert yen["unit_price"] == {"amount": "9", "currency": "JPY"}
    assert await listed(admin, currency="USD") == []

    for named in (institute, "Institute"):
        assert [each["account_id"] for each in await listed(admin, account=named)] == [institute]
        assert await listed(admin, account=named, sku=OLD) == []
    assert [each for each in whole if each["account_id"]] == await listed(admin, contract="true")
    assert [each for each in whole if not each["account_id"]] == await listed(admin, contract="false")
    assert await listed(admin, contract="false", account="Institute") == []


async def test_versions_are_found_by_whether_they_are_in_force(api: Api) -> None:
    admin = await filled(api)
    [past] = await listed(admin, sku=OLD, state="past")
    assert (past["valid_from"], past["valid_to"]) == ("2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z")
    current = await listed(admin, sku=OLD, region="luxembourg-2", currency="EUR", state="current")
    assert [(each["valid_from"], each["valid_to"]) for each in current] == [
        ("2022-01-01T00:00:00Z", "2126-07-01T00:00:00Z")
    ]
    future = await listed(admin, sku=OLD, state="future")
    assert [(each["account_id"] is None, each["valid_from"]) for each in future] == [
        (True, "2126-07-01T00:00:00Z"),
        (False, "2126-01-01T00:00:00Z"),
    ]
    states = [await listed(admin, state=state) for state in ("past", "current", "future")]
    assert sorted(each["id"] for one in states for each in one) == sorted(each["id"] for each in await listed(admin))


@pytest.mark.parametrize("order", ["account", "sku", "valid_from"])
async def test_pages_in_each_order_are_the_whole_book(api: Api, order: str) -> None:
    admin = await filled(api)
    whole = await listed(admin)

    def place(each: dict[str, Any]) -> tuple[str, ...]:
        article = (each["sku"], each["region"], each["unit_price"]["currency"])
        account, begins = each["account_id"] or "", each["valid_from"]
        return {
            "account": (account, *article, begins),
            "sku": (*article, account, begins),
            "valid_from": (begins, *article, account),
        }[order]

    if order == "account":
        assert whole == sorted(whole, key=place)  # the usual order
    for direction in ("", "-"):
        paged = await walk(admin, BOOK, limit=3, order=direction + order)
        assert paged == sorted(whole, key=place, reverse=direction == "-")


async def test_a_version_added_between_two_pages_makes_none_appear_twice_or_go_missing(api: Api) -> None:
    admin = await filled(api)
    for order in ("account", "-sku", "valid_from", "-valid_from"):
        before = {each["id"] for each in await listed(admin)}
        first = (await admin.get(BOOK, params={"limit": "4", "order": order})).json()
        early, late = f"a{order}x".replace("_", "."), f"z{order}x".replace("_", ".")
        added = await admin.post(BOOK, json={"items": [price_json(early), price_json(late)]})
        assert added.json() == {"added": 2, "restored": 0}, added.text
        pages = first["items"] + await walk(admin, BOOK, limit=4, order=order, cursor=first["next_cursor"])
        ids = [each["id"] for each in pages]
        assert len(ids) == len({*ids}), order
        assert before <= {*ids}, order
        assert {each["sku"] for each in pages if each["id"] not in before} <= {early, late}


async def test_a_page_goes_on_behind_a_version_that_was_withdrawn(api: Api) -> None:
    admin = await filled(api)
    whole = await listed(admin, sku=OLD, order="sku")
    place = next(index for index, each in enumerate(whole) if each["valid_from"] == "2126-07-01T00:00:00Z")
    first = (await admin.get(BOOK, params={"sku": OLD, "order": "sku", "limit": str(place + 1)})).json()
    assert (await admin.delete(f"{BOOK}/{whole[place]['id']}")).status_code == 204
    rest = await listed(admin, sku=OLD, order="sku", cursor=first["next_cursor"])
    assert rest == whole[place + 1 :]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"region": "nowhere-1"}, "unknown_region"),
        ({"currency": "ZZQ"}, "unknown_currency"),
        ({"currency": "eur"}, "unknown_currency"),
        ({"account": "Nobody"}, "unknown_account"),
        ({"account": "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90"}, "unknown_account"),
        ({"account": ""}, "unknown_account"),
        ({"state": "later"}, "enum"),
        ({"order": "price"}, "enum"),
        ({"order": "created_at"}, "enum"),
        ({"contract": "perhaps"}, "bool_parsing"),
        ({"limit": "many"}, "int_parsing"),
        ({"source": "list"}, "extra_forbidden"),
    ],
)
async def test_what_is_no_filter_is_refused(api: Api, query: dict[str, str], code: str) -> None:
    admin = await api.caller(Role.ADMIN)
    assert faults_of(await admin.get(BOOK, params=query)) == [(f"?{next(iter(query))}", code)]


async def test_all_that_is_unknown_is_told_at_once(api: Api, admin: httpx.AsyncClient) -> None:
    query = {"region": "luxemburg-2", "currency": "ZZQ", "account": "Nobody"}
    faults = problem(await admin.get(BOOK, params=query), 422, "validation_failed")["errors"]
    assert [each["pointer"] for each in faults] == ["?region", "?currency", "?account"]
    assert "nearest first: luxembourg-2" in faults[0]["detail"]
    assert "luxemburg" not in str(faults)


async def test_a_name_that_several_accounts_have_is_refused(api: Api) -> None:
    admin = await filled(api)
    await admin.post("/v1/billing/accounts", json={"name": "Institute", "currency": "EUR"})
    refused = await admin.get(BOOK, params={"account": "Institute"})
    assert codes_of(refused) == ["unknown_account"]
    assert "Several billing accounts have this name; use an id." in refused.text


async def test_a_cursor_belongs_to_its_filters_and_its_order(api: Api) -> None:
    admin = await filled(api)
    cursor = (await admin.get(BOOK, params={"limit": "2", "sku": OLD})).json()["next_cursor"]
    for query in ({}, {"sku": OLD, "order": "sku"}, {"sku": OLD, "state": "current"}, {"sku": "ipu-m2000"}):
        problem(await admin.get(BOOK, params=query | {"cursor": cursor}), 400, "invalid_cursor")
    problem(await admin.get(BOOK, params={"cursor": "x"}), 400, "invalid_cursor")


async def test_what_has_a_price_is_found_though_the_catalogue_does_not_have_it(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    former = PriceAddition(
        sku=OLD,
        region="geneva-1",
        unit_price=Money.of("0.5", "HRK"),
        valid_from=datetime(2021, 1, 1, tzinfo=UTC),
        source="test",
    )
    async with api.world.database.begin() as connection:
        await add(connection, [former], default="EUR")
    [one] = await listed(admin, region="geneva-1", currency="HRK")
    assert (one["sku"], one["unit_price"]) == (OLD, {"amount": "0.50", "currency": "HRK"})
