"""What the lists of keys, people, buckets and money are filtered and ordered by."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, items, key, ok, problem, public_key, s3_connection_json, walk
from tests.feature.billing.exports.workers import ExportClient
from tests.support.invoices import begin_books
from tests.support.people import make_person

pytestmark = pytest.mark.anyio

MONTH = f"{datetime.now(UTC):%Y-%m}"
EURO = {"amount": "500.00", "currency": "EUR"}


async def values(caller: httpx.AsyncClient, path: str, query: Mapping[str, Any], field: str) -> list[Any]:
    """A field of every item of the list."""
    return [item[field] for item in await items(caller, path, **query)]


async def name_some(api: Api, noun: str) -> None:
    """Objects of these names, in this order."""
    for number, name in enumerate(("Home desk", "tower", "home nas"), 1):
        body = {
            "ssh-keys": {"name": name, "public_key": public_key(number)},
            "s3-connections": s3_connection_json(name.lower().replace(" ", "-")),
            "budgets": {"name": name, "amount": EURO, "thresholds": [{"percent": 80}]},
        }[noun]
        ok(await api.owner.post(f"{api.base}/{noun}", json=body), 201)


@pytest.mark.parametrize("noun", ["ssh-keys", "s3-connections", "budgets"])
async def test_named_objects_are_found_by_their_names(api: Api, noun: str) -> None:
    await name_some(api, noun)
    path = f"{api.base}/{noun}"
    desk, nas = ("home-desk", "home-nas") if noun == "s3-connections" else ("Home desk", "home nas")
    for query, names in (
        ({"name": "tower"}, ["tower"]),
        ({"name": "tow"}, []),
        ({"q": "HOME", "order": "created_at"}, [desk, nas]),
        ({"q": "home", "order": "-created_at"}, [nas, desk]),
        ({"q": "home", "name": desk}, [desk]),
        ({"q": "%"}, []),
    ):
        assert await values(api.owner, path, query, "name") == names, query
    upwards = await values(api.owner, path, {"order": "name"}, "name")
    assert upwards == list(reversed(await values(api.owner, path, {"order": "-name"}, "name")))
    assert {desk, "tower", nas} <= {*upwards}
    for bad in ({"order": "size"}, {"names": "tower"}, {"q": "a\x00b"}):
        problem(await api.owner.get(path, params=bad), 422, "validation_failed")


async def test_projects_are_found_by_name_or_slug(api: Api, admin: httpx.AsyncClient) -> None:
    for slug, name in (("nlp-one", "Language"), ("vision-one", "Images")):
        assert (await admin.post("/v1/projects", json={"slug": slug, "name": name})).status_code == 201
    for query, slugs in (
        ({"name": "Language"}, ["nlp-one"]),
        ({"name": "vision-one"}, ["vision-one"]),
        ({"q": "LANG"}, ["nlp-one"]),
        ({"q": "-One", "order": "name"}, ["vision-one", "nlp-one"]),
        ({"q": "nothing"}, []),
    ):
        assert await values(admin, "/v1/projects", query, "slug") == slugs, query
    assert await values(api.owner, "/v1/projects", {"q": "-one"}, "slug") == []


async def test_members_are_found_by_role_and_e_mail(api: Api) -> None:
    async with api.world.database.begin() as connection:
        for role, name in ((Role.VIEWER, "ann"), (Role.OPERATOR, "bob"), (Role.VIEWER, "carl")):
            await make_person(connection, api.world.project.id, role, email=f"{name}@example.com")
        await make_person(connection, api.world.project.id, Role.PAYER, email="pay@example.com")
    path, account = f"{api.base}/members", f"/v1/billing/accounts/{api.world.project.id}/members"
    oldest = {"order": "created_at"}
    viewers = await values(api.owner, path, oldest | {"role": "viewer"}, "email")
    assert viewers == ["ann@example.com", "carl@example.com"]
    assert await values(api.owner, path, {"role": "operator", "email": "bo"}, "email") == ["bob@example.com"]
    assert await values(api.owner, path, {"email": "ANN@"}, "email") == ["ann@example.com"]
    assert await values(api.owner, path, {"email": "pay@"}, "email") == []
    payer = await api.caller(Role.PAYER)
    assert await values(payer, account, {"email": "pay"}, "email") == ["pay@example.com"]
    assert await values(payer, account, {"email": "ann"}, "email") == []
    problem(await api.owner.get(path, params={"role": "king"}), 422, "validation_failed")
    problem(await payer.get(account, params={"role": "payer"}), 422, "validation_failed")


async def test_webhooks_are_found_by_whether_they_are_enabled(api: Api) -> None:
    path = f"{api.base}/webhooks"
    hooks = [
        (await api.owner.post(path, json={"url": f"https://hooks.example/{number}"})).json() for number in range(2)
    ]
    ok(await api.owner.patch(f"{path}/{hooks[0]['id']}", json={"enabled": False}))
    assert await values(api.owner, path, {"enabled": "true"}, "id") == [hooks[1]["id"]]
    assert await values(api.owner, path, {"enabled": "false"}, "id") == [hooks[0]["id"]]
    problem(await api.owner.get(path, params={"enabled": "perhaps"}), 422, "validation_failed")


async def test_exports_are_filtered_ordered_and_paged(api: Api) -> None:
    path = f"{api.base}/billing/exports"
    exports = [await ask(api.owner, path, dataset) for dataset in ("cost-and-usage", "invoice-detail")]
    for export in exports:
        await ExportClient(api.world.database, api.world.project.id).work_until_done(UUID(export))
    exports.append(await ask(api.owner, path, "cost-and-usage"))
    assert [item["id"] for item in await walk(api.owner, path, order="created_at", limit=2)] == exports
    for filters, ids in (
        ({}, exports[::-1]),
        ({"state": "succeeded", "dataset": "cost-and-usage"}, [exports[0]]),
        ({"state": ["succeeded", "queued"]}, exports[::-1]),
        ({"state": "queued"}, [exports[2]]),
        ({"dataset": "invoice-detail"}, [exports[1]]),
        ({"state": "failed"}, []),
    ):
        assert await values(api.owner, path, filters, "id") == ids, filters
    for bad in ({"state": "done"}, {"dataset": "everything"}):
        problem(await api.owner.get(path, params=bad), 422, "validation_failed")
    problem(await api.owner.get(path, params={"cursor": "x"}), 400, "invalid_cursor")
    payer = await api.caller(Role.PAYER)
    account = f"/v1/billing/accounts/{api.world.project.id}/exports"
    of_account = (await payer.post(account, json={"month": MONTH}, headers=key())).json()["id"]
    assert await values(payer, account, {"state": "queued"}, "id") == [of_account]
    assert await values(payer, account, {"state": "failed"}, "id") == []


async def ask(caller: httpx.AsyncClient, path: str, dataset: str) -> str:
    """The id of a new export."""
    body = {"month": MONTH, "dataset": dataset}
    answer = ok(await caller.post(path, json=body, headers=key()), 202)
    export: str = answer["target"]["id"]
    return export


async def test_schedules_are_found_by_how_often_they_deliver(api: Api) -> None:
    await api.owner.post(f"{api.base}/s3-connections", json=s3_connection_json())
    [bucket] = await values(api.owner, f"{api.base}/s3-connections", {}, "id")
    path = f"{api.base}/billing/export-schedules"
    for every in ("month", "day"):
        ok(await api.owner.post(path, json={"connection": bucket, "every": every}, headers=key()), 201)
    assert await values(api.owner, path, {}, "every") == ["month", "day"]
    assert await values(api.owner, path, {"order": "-created_at"}, "every") == ["day", "month"]
    assert await values(api.owner, path, {"every": "day"}, "every") == ["day"]
    assert await values(api.owner, path, {"every": "hour"}, "every") == []
    problem(await api.owner.get(path, params={"every": "year"}), 422, "validation_failed")


async def test_documents_and_payments_are_found_by_what_they_are(api: Api, admin: httpx.AsyncClient) -> None:
    async with api.world.database.begin() as connection:
        await begin_books(connection, api.world.project.id)
    account = f"/v1/billing/accounts/{api.world.project.id}"
    await admin.post(f"{account}/payments", json={"reference": "wire", "amount": EURO}, headers=key())
    back = await admin.post(
        f"{account}/refunds", json={"reference": "back", "amount": EURO | {"amount": "1.00"}}, headers=key()
    )
    assert back.status_code == 201, back.text
    [month] = {*await values(admin, f"{account}/invoices", {}, "month")}
    for path in (f"{account}/invoices", f"{api.base}/billing/invoices"):
        caller = admin if path.startswith(account) else api.owner
        assert await values(caller, path, {"kind": "invoice", "month": month}, "kind") == ["invoice"]
        assert await values(caller, path, {"kind": "credit_note"}, "kind") == ["credit_note"]
        assert await values(caller, path, {"month": "2001-01"}, "kind") == []
        for bad in ({"kind": "draft"}, {"month": "May"}):
            problem(await caller.get(path, params=bad), 422, "validation_failed")
    payments = f"{account}/payments"
    assert await values(admin, payments, {"direction": "out"}, "reference") == ["back"]
    assert await values(admin, payments, {"direction": "in", "order": "created_at"}, "reference") == ["first", "wire"]
    assert await values(admin, payments, {"state": "failed"}, "reference") == []
    for bad in ({"direction": "sideways"}, {"state": "open"}):
        problem(await admin.get(payments, params=bad), 422, "validation_failed")


async def test_prices_and_quotas_are_found_by_region_and_kind(api: Api, admin: httpx.AsyncClient) -> None:
    for caller, path in ((api.owner, "/v1/prices"), (api.owner, f"{api.base}/prices"), (admin, "/v1/billing/prices")):
        query = {"sku": "ipu-m2000", "region": "luxembourg-2", "currency": "EUR"}
        assert {*await values(caller, path, query, "sku")} == {"ipu-m2000"}, path
        assert {*await values(caller, path, query, "region")} == {"luxembourg-2"}, path
        assert await values(caller, path, query | {"currency": "JPY"}, "sku") == []
        assert await values(caller, path, query | {"sku": "ipu-0"}, "sku") == []
        problem(await caller.get(path, params={"flavor": "m2000"}), 422, "validation_failed")
        if caller is api.owner:
            assert await values(caller, path, query | {"region": "nowhere-1"}, "sku") == []
    quotas = f"{api.base}/quotas"
    whole = await api.owner.get(quotas)
    some = await api.owner.get(quotas, params={"region": "luxembourg-2", "machine_type": "m2000"})
    assert [(item["region"], item["machine_type"]) for item in some.json()["items"]] == [("luxembourg-2", "m2000")]
    assert len(whole.json()["items"]) > 1
    same = [{name: item[name] for name in ("region", "machine_type", "limit")} for item in whole.json()["items"]]
    ok(await admin.put(quotas, json={"items": same}, headers={"If-Match": some.headers["ETag"]}))
    assert await values(api.owner, quotas, {"region": "nowhere-1"}, "limit") == []
    problem(await api.owner.get(quotas, params={"limit": "5"}), 422, "validation_failed")


async def test_quotas_are_ordered_and_the_version_of_any_order_is_accepted(api: Api) -> None:
    admin, quotas = await api.caller(Role.ADMIN), f"{api.base}/quotas"
    present = await api.owner.get(quotas)
    limits = [("luxembourg-2", "m2000", 9), ("amsterdam-2", "bow-2000", 3), ("luxembourg-2", "address", 40)]
    items = [{"region": region, "machine_type": kind, "limit": limit} for region, kind, limit in limits]
    ok(await admin.put(quotas, json={"items": items}, headers={"If-Match": present.headers["ETag"]}))
    whole = (await api.owner.get(quotas)).json()["items"]
    assert whole == (await api.owner.get(quotas, params={"order": "region"})).json()["items"]
    for order in ("region", "machine_type", "used", "limit"):
        upwards = await api.owner.get(quotas, params={"order": order})
        assert upwards.json()["items"] == sorted(
            whole, key=lambda item: (item[order], item["region"], item["machine_type"])
        )
        downwards = await api.owner.get(quotas, params={"order": f"-{order}"})
        assert downwards.json() == {"items": upwards.json()["items"][::-1], "next_cursor": None}
        ok(await admin.put(quotas, json={"items": items}, headers={"If-Match": downwards.headers["ETag"]}))
    some = {"region": "luxembourg-2", "order": "-limit"}
    assert (await values(api.owner, quotas, some, "limit"))[-1] <= 9
    for bad in ({"order": "size"}, {"order": "-"}, {"cursor": "x"}):
        problem(await api.owner.get(quotas, params=bad), 422, "validation_failed")
