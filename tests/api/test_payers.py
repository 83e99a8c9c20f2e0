"""What a billing account's payer sees: the account's money over all its projects, each for its time; nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.dunning.watch import watch_overdue
from ipucloud.identity.roles import Role
from tests.api.support import Api, items, key, ok, pointers_of, problem
from tests.support.invoices import make_invoice
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

NOON = datetime.fromisoformat("2026-06-10T12:00:00Z")
ACCOUNTS = "/v1/billing/accounts"


async def account(admin: httpx.AsyncClient, name: str) -> str:
    account_id: str = ok(await admin.post(ACCOUNTS, json={"name": name, "currency": "EUR"}), 201)["id"]
    return account_id


async def payer(api: Api, admin: httpx.AsyncClient, of: str) -> httpx.AsyncClient:
    answer = ok(await admin.post("/v1/tokens", json={"name": "finance", "role": "payer", "account_id": of}), 201)
    assert answer["account_id"] == of
    return api.client(answer["token"])


async def get_json(caller: httpx.AsyncClient, path: str, **query: str | list[str]) -> Any:
    return ok(await caller.get(path, params=query))


async def test_a_project_is_visible_for_its_time_with_a_payer(api: Api, database: Scratch) -> None:
    """A machine at 3.75 an hour from 12:00 to 15:30; its project goes to one payer at 13:00, to the next at 14:00."""
    admin = await api.caller(Role.ADMIN)
    stop_clock(database.owner_url, NOON)
    try:
        cluster = await api.world.make_active(tags={"team": "nlp"})
        accounts = [await account(admin, name) for name in ("first", "second")]
        for hours, each in zip((0, 1.5), accounts, strict=True):
            stop_clock(database.owner_url, NOON + timedelta(hours=hours))
            ok(await admin.put(f"{api.base}/billing/account", json={"account_id": each}))
        stop_clock(database.owner_url, NOON + timedelta(hours=3.5))
        await keep_books(api.world.database)
        callers = [await payer(api, admin, each) for each in (str(api.world.project.id), *accounts)]
        summaries = {}
        for caller in callers:
            [own] = (await get_json(caller, ACCOUNTS))["items"]
            spent = await get_json(caller, f"{ACCOUNTS}/{own['id']}/summary")
            report = await get_json(caller, f"{ACCOUNTS}/{own['id']}/report", group_by=["project", "tag:team"])
            [row] = report["rows"]
            tags = [(each["key"], each["value"]) for each in spent["tags"]]
            [only] = spent["clusters"]
            assert (only["name"], row["group"]["project"]) == ("bert", str(api.world.project.id))
            summaries[own["name"]] = (
                *(spent["accrued"]["amount"], spent["posted"]["amount"], row["cost"]["amount"]),
                *(spent["per_hour"]["amount"], only["state"], tags, row["group"]["tag:team"]),
            )
            for path in ("", "/clusters", f"/clusters/{cluster}", "/billing/summary", "/events", "/ssh-keys"):
                problem(await caller.get(f"{api.base}{path}"), 404, "not_found")
    finally:
        start_clock(database.owner_url)
    gone: tuple[object, ...] = (None, [], None)
    here = ("active", [("team", "nlp")], "nlp")
    assert summaries == {
        api.world.project.slug.title(): ("3.75", "3.75", "3.75", "0.00", *gone),
        "first": ("3.75", "3.75", "3.75", "0.00", *gone),
        "second": ("5.625", "3.75", "3.75", "3.75", *here),
    }


async def test_a_payers_token_has_an_account_and_is_kept_by_administrators(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    of = await account(admin, "research")
    for wrong in (
        {"role": "payer"},
        {"role": "support", "account_id": of},
        {"role": "payer", "account_id": str(UUID(int=5))},
    ):
        assert pointers_of(await admin.post("/v1/tokens", json={"name": "x"} | wrong)) == ["/account_id"]
    caller = await payer(api, admin, of)
    for _ in range(2):  # two accounts of a name, and none, are the same to others
        await account(admin, "twice")
    refusals = [problem(await caller.get(f"{ACCOUNTS}/{name}/summary"), 404, "not_found") for name in ("twice", "none")]
    assert refusals[0]["detail"].replace("twice", "none") == refusals[1]["detail"]
    assert (await get_json(caller, f"{ACCOUNTS}/research/summary"))["clusters"] == []
    me = await get_json(caller, "/v1/whoami")
    assert (me["project"], me["token"]["account_id"]) == (None, of)
    assert me["scopes"] == ["account:read", "account:write", "catalogue:read"]
    rotated = (await admin.post(f"/v1/tokens/{me['token']['id']}:rotate", json={})).json()
    assert rotated["account_id"] == of
    problem(await caller.get("/v1/whoami"), 401, "unauthenticated")
    caller = api.client(rotated["token"])
    assert (await get_json(caller, f"{ACCOUNTS}/{of}"))["name"] == "research"
    assert (await admin.delete(f"/v1/tokens/{rotated['id']}")).status_code == 204
    problem(await caller.get(f"{ACCOUNTS}/{of}"), 401, "unauthenticated")


async def test_a_payer_reads_what_happens_to_the_accounts_money_once(api: Api, database: Scratch) -> None:
    """An account pays for two projects; its invoice is paid late, after a payment that did not come."""
    admin, other = await api.caller(Role.ADMIN), await api.other_project()
    of = str(api.world.project.id)
    path, elsewhere = f"{ACCOUNTS}/{of}", await account(admin, "elsewhere")
    caller, stranger = await payer(api, admin, of), await payer(api, admin, elsewhere)
    try:
        stop_clock(database.owner_url, NOON)
        ok(await admin.put(f"/v1/projects/{other.id}/billing/account", json={"account_id": of}))
        async with api.world.database.begin() as connection:
            number = await make_invoice(connection, UUID(of))
        assert (await admin.put(f"{path}/dunning", json={"refuse_creates_after": 1})).status_code == 200
        stop_clock(database.owner_url, NOON + timedelta(days=62))
        await watch_overdue(api.world.database)
        ten = {"amount": "10.00", "currency": "EUR"}
        expected = await api.owner.post(f"{api.base}/billing/top-ups", json={"amount": ten}, headers=key())
        failing = f"{path}/payments/{expected.json()['id']}:fail"
        assert (await admin.post(failing, json={"reason": "card expired"})).status_code == 200
        paid = {"amount": {"amount": "17.55", "currency": "EUR"}, "reference": "late", "invoice": number}
        assert (await admin.post(f"{path}/payments", json=paid, headers=key())).status_code == 201
        await watch_overdue(api.world.database)
    finally:
        start_clock(database.owner_url)
    log = (await get_json(caller, f"{path}/events", order="created_at"))["items"]
    assert [each["type"] for each in log] == [
        *("project.account_changed", "invoice.issued", "invoice.overdue", "account.restricted"),
        *("payment.failed", "payment.received", "account.restriction_lifted"),
    ]
    assert (log[1]["data"], log[0]["data"]) == ({"number": number}, {"account_id": of})
    assert [each["data"] for each in log[4:6]] == [
        {"reference": expected.json()["reference"], "amount": ten, "reason": "card expired"},
        {"reference": "late", "amount": paid["amount"]},
    ]
    rest = await get_json(caller, f"{path}/events", order="created_at", after=log[4]["id"], limit="1")
    assert (rest["items"], rest["next_cursor"] is None) == ([log[5]], False)
    filters: dict[str, str | list[str]] = {
        "type": ["invoice.overdue", "invoice.issued"],
        "subject": log[1]["subject_id"],
    }
    assert (await get_json(caller, f"{path}/events", **filters))["items"] == [log[2], log[1]]
    assert (await get_json(admin, f"{path}/events"))["items"] == log[::-1]
    assert (await get_json(stranger, f"{ACCOUNTS}/{elsewhere}/events"))["items"] == []
    problem(await stranger.get(f"{path}/events"), 404, "not_found")
    problem(await api.owner.get(f"{path}/events"), 403, "permission_denied")
    problem(await caller.get(f"{path}/events", params={"type": "cluster.active"}), 422, "validation_failed")
    in_project = (await get_json(admin, f"/v1/projects/{other.id}/events", order="created_at"))["items"]
    shared = ["invoice.overdue", "account.restricted", "account.restriction_lifted"]
    assert [
        each["type"] for each in in_project if each["type"].partition(".")[0] in {"invoice", "account", "payment"}
    ] == shared


async def test_a_payer_keeps_the_accounts_webhooks(api: Api, admin: httpx.AsyncClient) -> None:
    """They are told events of the account alone; to other payers and to projects they do not exist."""
    of, elsewhere = str(api.world.project.id), await account(admin, "elsewhere")
    caller, stranger = await payer(api, admin, of), await payer(api, admin, elsewhere)
    hooks = f"{ACCOUNTS}/{of}/webhooks"
    body = {"url": "https://hooks.example.com/", "event_types": ["payment.*", "payment.received"]}
    for foreign in ("cluster.*", "cluster.active"):  # no event of an account
        problem(await caller.post(hooks, json=body | {"event_types": [foreign]}), 422, "validation_failed")
    created = await caller.post(hooks, json=body)
    assert (created.status_code, created.headers["location"]) == (201, f"{hooks}/{created.json()['id']}")
    hook = created.headers["location"]
    changed = await caller.patch(hook, json={"description": "books"}, headers={"if-match": '"1"'})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    refused = await caller.patch(hook, json={"description": "x"}, headers={"if-match": '"1"'})
    problem(refused, 412, "precondition_failed")
    [listed] = (await get_json(caller, hooks))["items"]
    assert listed == await get_json(caller, hook) == changed.json()
    delivery = ok(await caller.post(f"{hook}:ping"), 202)
    assert (await get_json(caller, f"{hook}/deliveries"))["items"] == [delivery]
    problem(await stranger.patch(hook, json={"description": "x"}), 404, "not_found")
    problem(await api.owner.get(f"{api.base}/webhooks/{created.json()['id']}"), 404, "not_found")
    assert (await get_json(api.owner, f"{api.base}/webhooks"))["items"] == []
    types = {each["type"] for each in await items(caller, f"{ACCOUNTS}/{of}/events")}
    assert {"webhook.created", "webhook.updated"} <= types
    assert (await caller.delete(hook)).status_code == 204
    problem(await caller.get(hook), 404, "not_found")
