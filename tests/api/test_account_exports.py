"""Exports of a billing account as its payers see them: the whole bill as a file, and its delivery; nobody else's."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, key, problem, s3_connection_json
from tests.api.test_payers import ACCOUNTS, account, get_json, payer
from tests.feature.billing.exports.workers import ExportClient

pytestmark = pytest.mark.anyio


async def test_a_payer_exports_the_accounts_bill(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    of = str(api.world.project.id)
    caller = await payer(api, admin, of)
    [month] = await api.world.column("SELECT to_char(app_now() AT TIME ZONE 'UTC', 'YYYY-MM')")
    path, once = f"{ACCOUNTS}/{of}/exports", key()
    accepted = await caller.post(path, json={"month": month}, headers=once)
    assert (accepted.status_code, accepted.json()["scope"], accepted.json()["state"]) == (202, "account", "queued")
    export = accepted.headers["location"]
    assert export == f"{path}/{accepted.json()['id']}"
    assert (await caller.post(path, json={"month": month}, headers=once)).json()["id"] == accepted.json()["id"]
    problem(await caller.get(f"{export}/file"), 409, "state_conflict")
    for bad, pointer in (({}, ""), ({"month": month, "scope": "project"}, "/scope"), ({"month": "2026-13"}, "/month")):
        refused = problem(await caller.post(path, json=bad, headers=key()), 422, "validation_failed")
        assert [each["pointer"] for each in refused["errors"]] == [pointer], bad
    problem(await caller.post(path, json={"month": "2099-01"}, headers=key()), 409, "state_conflict")
    problem(await caller.post(path, json={"month": month, "connection": str(UUID(int=5))}), 404, "not_found")
    await ExportClient(api.world.database, api.world.project.id).work_until_done(UUID(accepted.json()["id"]))
    finished = await get_json(caller, export)
    assert (finished["state"], finished["progress"], finished["manifest"]["scope"]) == (
        *("succeeded", 100),
        {"type": "account", "id": of},
    )
    file = await caller.get(f"{export}/file")
    assert hashlib.sha256(file.content).hexdigest() == finished["manifest"]["files"][0]["sha256"]
    assert (await caller.get(f"{export}/file", headers={"If-None-Match": file.headers["etag"]})).status_code == 304
    assert (await get_json(caller, path))["items"] == [finished] == (await get_json(admin, path))["items"]
    assert (await get_json(api.owner, f"{api.base}/billing/exports"))["items"] == []
    problem(await api.owner.get(f"{api.base}/billing/exports/{finished['id']}"), 404, "not_found")
    types = [each["type"] for each in await all_events(caller, of)]
    assert {"operation.created", "operation.succeeded"} <= {*types}
    limit = f"{ACCOUNTS}/{of}/export-limit"
    assert (await get_json(caller, limit)) == {"per_day": 10, "used": 1, "next_at": None}
    problem(await caller.put(limit, json={"per_day": 1}), 403, "permission_denied")
    for _ in range(2):
        assert (await admin.put(limit, json={"per_day": 1})).json()["per_day"] == 1
    changed = [each for each in await all_events(caller, of) if each["type"] == "account.export_limit_updated"]
    assert [each["data"] for each in changed] == [{"per_day": 1}]
    refused = problem(await caller.post(path, json={"month": month}, headers=key()), 409, "quota_exceeded")
    assert (refused["limit"], refused["used"]) == (1, 1)


async def all_events(caller: httpx.AsyncClient, of: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = (await get_json(caller, f"{ACCOUNTS}/{of}/events"))["items"]
    return events


async def test_a_payer_keeps_the_accounts_connections_and_schedules(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    of, elsewhere = str(api.world.project.id), await account(admin, "elsewhere")
    caller, stranger = await payer(api, admin, of), await payer(api, admin, elsewhere)
    base = f"{ACCOUNTS}/{of}"
    refused = await caller.post(f"{base}/s3-connections", json=s3_connection_json(attachable=True))
    problem(refused, 422, "validation_failed")
    connection = await caller.post(f"{base}/s3-connections", json=s3_connection_json(), headers=key())
    assert (connection.status_code, connection.json()["attachable"]) == (201, False)
    assert "very-secret" not in connection.text
    problem(await caller.post(f"{base}/s3-connections", json=s3_connection_json(), headers=key()), 409, "name_taken")
    lake = connection.headers["location"]
    assert await get_json(caller, lake) == connection.json() == await get_json(caller, f"{base}/s3-connections/lake")
    changed = await caller.patch(lake, json={"prefix": "books"})
    assert changed.json()["prefix"] == "books"
    body = {"connection": connection.json()["id"], "every": "month"}
    schedule = await caller.post(f"{base}/export-schedules", json=body, headers=key())
    assert (schedule.status_code, schedule.json()["name"]) == (201, "lake.month.cost-and-usage")
    assert (await get_json(caller, f"{base}/export-schedules"))["items"] == [schedule.json()]
    problem(await caller.delete(lake), 409, "in_use")
    problem(await stranger.get(f"{base}/s3-connections/lake"), 404, "not_found")
    problem(await api.owner.get(f"{api.base}/s3-connections/lake"), 404, "not_found")
    other_schedules = f"{ACCOUNTS}/{elsewhere}/export-schedules"
    problem(await stranger.post(other_schedules, json=body, headers=key()), 404, "not_found")
    assert (await caller.delete(f"{base}/export-schedules/lake.month.cost-and-usage")).status_code == 204
    assert (await caller.delete(lake)).status_code == 204
    problem(await caller.get(lake), 404, "not_found")
