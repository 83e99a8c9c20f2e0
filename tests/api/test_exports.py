"""Exports of projects and of accounts, connections and schedules, as callers see them."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_json, codes_of, items, key, ok, pointers_of, problem, s3_connection_json
from tests.api.test_payers import ACCOUNTS, account, get_json, payer
from tests.feature.billing.exports.workers import ExportClient

pytestmark = pytest.mark.anyio


async def test_an_export_is_asked_for_followed_and_downloaded(api: Api) -> None:
    [month] = await api.world.column("SELECT to_char(app_now() AT TIME ZONE 'UTC', 'YYYY-MM')")
    path = f"{api.base}/billing/exports"
    once = key()
    accepted = await api.owner.post(path, json={"month": month, "version": "1.2"}, headers=once)
    assert accepted.status_code == 202, accepted.text
    operation = accepted.json()
    assert operation["kind"] == "export.create"
    assert (operation["target"]["type"], operation["target"]["cluster"]) == ("export", None)
    assert [(step["name"], step["state"]) for step in operation["steps"]] == [
        ("build_file", "pending"),
        ("deliver_file", "skipped"),
    ]
    again = await api.owner.post(path, json={"month": month, "version": "1.2"}, headers=once)
    assert again.json()["id"] == operation["id"]
    export = f"{path}/{operation['target']['id']}"
    problem(await api.owner.get(f"{export}/file"), 409, "state_conflict")
    desk = ExportClient(api.world.database, api.world.project.id)
    await desk.work_until_done((await api.world.column("SELECT id FROM exports"))[0])
    assert (await api.owner.get(accepted.headers["location"])).json()["state"] == "succeeded"
    finished = (await api.owner.get(export)).json()
    [file] = finished["manifest"]["files"]
    answer = await api.owner.get(f"{export}/file")
    assert hashlib.sha256(answer.content).hexdigest() == file["sha256"]
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{file["name"]}"'
    assert int(answer.headers["content-length"]) == file["bytes"]
    unchanged = await api.owner.get(f"{export}/file", headers={"If-None-Match": answer.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    had = {"If-None-Match": answer.headers["etag"]}
    marked = await api.owner.get(f"{export}/file", params={"bom": "true"}, headers=had)
    assert (marked.status_code, marked.content) == (200, b"\xef\xbb\xbf" + answer.content)
    assert int(marked.headers["content-length"]) == len(marked.content)
    had = {"If-None-Match": marked.headers["etag"]}
    assert (await api.owner.get(f"{export}/file", params={"bom": "true"}, headers=had)).status_code == 304
    assert [each["id"] for each in await items(api.owner, path)] == [finished["id"]]
    problem(await api.owner.post(path, json={"month": "2099-01"}, headers=key()), 409, "state_conflict")


async def test_days_are_exported_and_bad_ones_change_nothing(api: Api) -> None:
    [first, last] = await api.world.column(
        "SELECT (app_now() AT TIME ZONE 'UTC')::date - ago FROM unnest(ARRAY[40, -1]) AS ago ORDER BY ago DESC"
    )
    path, days = f"{api.base}/billing/exports", {"since": str(first), "until": str(last)}
    for bad, pointer in (
        ({}, ""),
        ({"month": "2026-05", **days}, ""),
        ({"since": str(first)}, ""),
        ({"month": "2026-05", "until": str(last)}, ""),
        ({"since": str(last), "until": str(first)}, "/until"),
        ({"since": str(first), "until": str(first)}, "/until"),
        ({"since": "2025-01-01", "until": "2026-01-03"}, "/until"),
        ({"since": "2026-02-30", "until": "2026-03-02"}, "/since"),
        ({"since": "2026-02-01T00:00:00Z", "until": "2026-03-02"}, "/since"),
        ({"since": 1, "until": "2026-03-02"}, "/since"),
        ({**days, "dataset": "invoice-detail", "provisional": True}, "/provisional"),
    ):
        refused = problem(await api.owner.post(path, json=bad, headers=key()), 422, "validation_failed")
        assert [each["pointer"] for each in refused["errors"]] == [pointer], bad
    beyond = {"since": str(first), "until": str(last + timedelta(days=40))}
    problem(await api.owner.post(path, json=beyond, headers=key()), 409, "state_conflict")
    assert await api.world.column("SELECT id FROM exports") == []
    accepted = ok(await api.owner.post(path, json=days, headers=key()), 202)
    await ExportClient(api.world.database, api.world.project.id).work_until_done(UUID(accepted["target"]["id"]))
    [export] = await items(api.owner, path)
    assert (export["month"], export["since"], export["until"]) == (None, str(first), str(last))
    assert {name: export["manifest"][name] for name in days} == days
    assert f"-{first}--{last}-" in export["manifest"]["files"][0]["name"]


async def test_operators_set_how_many_exports_a_project_may_request(api: Api, admin: httpx.AsyncClient) -> None:
    path, limit = f"{api.base}/billing/exports", f"{api.base}/billing/export-limit"
    assert (await api.owner.get(limit)).json() == {"per_day": 10, "used": 0, "next_at": None}
    for bad in ({"per_day": -1}, {"per_day": 10_001}, {"per_day": "1"}, {}):
        problem(await admin.put(limit, json=bad), 422, "validation_failed")
    assert (await admin.put(limit, json={"per_day": 1})).json()["per_day"] == 1
    ok(await api.owner.post(path, json={"month": "2026-04", "provisional": True}, headers=key()), 202)
    [export] = await items(api.owner, path)
    assert export["provisional"] is True
    refused = problem(await api.owner.post(path, json={"month": "2026-04"}, headers=key()), 409, "quota_exceeded")
    full = (await api.owner.get(limit)).json()
    assert (full["per_day"], full["used"]) == (1, 1)
    assert f"possible at {full['next_at'][:16].replace('T', ' ')} UTC" in refused["detail"]
    assert (await admin.put(limit, json={"per_day": 2})).json()["next_at"] is None
    assert (await api.owner.post(path, json={"month": "2026-04"}, headers=key())).status_code == 202


async def test_an_account_that_pays_for_others_is_exported_by_operators(api: Api) -> None:
    path, body = f"{api.base}/billing/exports", {"month": "2026-04", "scope": "account"}
    assert (await api.owner.post(path, json=body, headers=key())).status_code == 202
    admin, other = await api.caller(Role.ADMIN), await api.other_project()
    payer = {"account_id": str(api.world.project.id)}
    assert (await admin.put(f"/v1/projects/{other.slug}/billing/account", json=payer)).status_code == 200
    problem(await api.owner.post(path, json=body, headers=key()), 403, "permission_denied")
    assert (await admin.post(path, json=body, headers=key())).status_code == 202


async def test_connections_and_schedules_come_and_go(api: Api) -> None:
    path, schedules = f"{api.base}/s3-connections", f"{api.base}/billing/export-schedules"
    created = await api.owner.post(path, json=s3_connection_json(), headers=key())
    assert created.status_code == 201, created.text
    connection = created.json()["id"]
    for answer in (created, await api.owner.get(path), await api.owner.get(created.headers["location"])):
        assert "very-secret" not in answer.text
    problem(await api.owner.post(path, json=s3_connection_json(), headers=key()), 409, "name_taken")
    wrong = s3_connection_json("sea", endpoint="http://s3.example")
    problem(await api.owner.post(path, json=wrong, headers=key()), 422, "validation_failed")
    planned = ok(await api.owner.post(schedules, json={"connection": connection, "every": "month"}, headers=key()), 201)
    problem(await api.owner.delete(f"{path}/{connection}"), 409, "in_use")
    [listed] = await items(api.owner, schedules)
    assert (listed["id"], listed["last_export"]) == (planned["id"], None)
    assert listed["name"] == f"{created.json()['name']}.month.cost-and-usage"
    problem(await api.owner.delete(f"{schedules}/another.month.cost-and-usage"), 404, "not_found")
    assert (await api.owner.delete(f"{schedules}/{listed['name']}")).status_code == 204
    assert (await api.owner.delete(f"{path}/{connection}")).status_code == 204
    assert await api.world.column("SELECT secret FROM s3_connections") == [None]
    problem(await api.owner.get(f"{path}/{connection}"), 404, "not_found")
    assert await items(api.owner, path) == []


async def test_a_payer_exports_the_accounts_bill(api: Api, admin: httpx.AsyncClient) -> None:
    of = str(api.world.project.id)
    caller = await payer(api, admin, of)
    [month] = await api.world.column("SELECT to_char(app_now() AT TIME ZONE 'UTC', 'YYYY-MM')")
    path = f"{ACCOUNTS}/{of}/exports"
    accepted = await caller.post(path, json={"month": month})
    assert (accepted.status_code, accepted.json()["scope"], accepted.json()["state"]) == (202, "account", "queued")
    export = accepted.headers["location"]
    assert export == f"{path}/{accepted.json()['id']}"
    for bad, pointer in (({}, ""), ({"month": month, "scope": "project"}, "/scope"), ({"month": "2026-13"}, "/month")):
        assert pointers_of(await caller.post(path, json=bad)) == [pointer], bad
    problem(await caller.post(path, json={"month": month, "connection": str(UUID(int=5))}), 404, "not_found")
    await ExportClient(api.world.database, api.world.project.id).work_until_done(UUID(accepted.json()["id"]))
    finished = await get_json(caller, export)
    assert (finished["state"], finished["progress"]) == ("succeeded", 100)
    assert finished["manifest"]["scope"] == {"type": "account", "id": of}
    file = await caller.get(f"{export}/file")
    assert hashlib.sha256(file.content).hexdigest() == finished["manifest"]["files"][0]["sha256"]
    assert await items(caller, path) == [finished] == await items(admin, path)
    assert await items(api.owner, f"{api.base}/billing/exports") == []
    problem(await api.owner.get(f"{api.base}/billing/exports/{finished['id']}"), 404, "not_found")
    limit = f"{ACCOUNTS}/{of}/export-limit"
    assert (await get_json(caller, limit)) == {"per_day": 10, "used": 1, "next_at": None}
    for _ in range(2):
        assert (await admin.put(limit, json={"per_day": 1})).json()["per_day"] == 1
    events = await items(caller, f"{ACCOUNTS}/{of}/events")
    assert {"operation.created", "operation.succeeded"} <= {each["type"] for each in events}
    changed = [each["data"] for each in events if each["type"] == "account.export_limit_updated"]
    assert changed == [{"per_day": 1}]
    refused = problem(await caller.post(path, json={"month": month}, headers=key()), 409, "quota_exceeded")
    assert (refused["limit"], refused["used"]) == (1, 1)


async def test_a_payer_keeps_the_accounts_connections_and_schedules(api: Api, admin: httpx.AsyncClient) -> None:
    of, elsewhere = str(api.world.project.id), await account(admin, "elsewhere")
    caller, stranger = await payer(api, admin, of), await payer(api, admin, elsewhere)
    base = f"{ACCOUNTS}/{of}"
    refused = await caller.post(f"{base}/s3-connections", json=s3_connection_json(attachable=True))
    problem(refused, 422, "validation_failed")
    connection = await caller.post(f"{base}/s3-connections", json=s3_connection_json(), headers=key())
    assert (connection.status_code, connection.json()["attachable"]) == (201, False)
    lake = connection.headers["location"]
    assert await get_json(caller, lake) == connection.json() == await get_json(caller, f"{base}/s3-connections/lake")
    body = {"connection": connection.json()["id"], "every": "month"}
    schedule = await caller.post(f"{base}/export-schedules", json=body, headers=key())
    assert (schedule.status_code, schedule.json()["name"]) == (201, "lake.month.cost-and-usage")
    assert await items(caller, f"{base}/export-schedules") == [schedule.json()]
    problem(await caller.delete(lake), 409, "in_use")
    problem(await stranger.get(f"{base}/s3-connections/lake"), 404, "not_found")
    problem(await api.owner.get(f"{api.base}/s3-connections/lake"), 404, "not_found")
    other_schedules = f"{ACCOUNTS}/{elsewhere}/export-schedules"
    problem(await stranger.post(other_schedules, json=body, headers=key()), 404, "not_found")
    assert (await caller.delete(f"{base}/export-schedules/lake.month.cost-and-usage")).status_code == 204
    assert (await caller.delete(lake)).status_code == 204
    problem(await caller.get(lake), 404, "not_found")


async def test_a_connection_is_changed_and_its_test_says_what_fails(api: Api) -> None:
    path = f"{api.base}/s3-connections"
    created = await api.owner.post(
        path, json=s3_connection_json(endpoint="https://no-such-host.invalid"), headers=key()
    )
    one = created.headers["location"]
    assert (created.json()["test"], created.json()["attachable"]) == (None, False)
    tested = ok(await api.owner.post(f"{one}:test", headers=key()))
    assert tested["test"]["failed"] == "name"
    assert tested["test"] == (await api.owner.get(one)).json()["test"]
    before = await api.world.column("SELECT secret FROM s3_connections")
    body = {"secret": "another-secret", "access_key_id": "OTHER", "attachable": True}
    changed = await api.owner.patch(one, json=body)
    assert changed.status_code == 200, changed.text
    assert (changed.json()["access_key_id"], changed.json()["attachable"]) == ("OTHER", True)
    assert changed.json()["test"] is None, "what was tested is not what is there now"
    assert "another-secret" not in changed.text
    assert await api.world.column("SELECT secret FROM s3_connections") != before
    problem(await api.owner.patch(one, json={"endpoint": "http://s3.example"}), 422, "validation_failed")
    for refused in (
        await api.owner.post(
            path, json=s3_connection_json("other", access_key_id="ASIAQWERTYUIOPASDFGH"), headers=key()
        ),
        await api.owner.patch(one, json={"access_key_id": "ASIAQWERTYUIOPASDFGH"}),
    ):
        [fault] = problem(refused, 422, "validation_failed")["errors"]
        assert (fault["pointer"], fault["code"]) == ("/access_key_id", "temporary_key")
        assert "session token" in fault["detail"]
    problem(await api.owner.patch(f"{path}/nothing", json={"prefix": "x"}), 404, "not_found")


async def test_clusters_get_only_attachable_connections_and_keep_them(api: Api) -> None:
    path, clusters = f"{api.base}/s3-connections", f"{api.base}/clusters"
    connection = await api.owner.post(path, json=s3_connection_json("lake"), headers=key())
    body = cluster_json("bert") | {"s3_connections": ["lake"]}
    assert codes_of(await api.owner.post(clusters, json=body, headers=key())) == ["not_attachable"]
    both = ["unknown_s3_connection", "not_attachable"]
    for names, codes in ((["lake"], ["not_attachable"]), (["sea", "lake"], both)):
        estimated = await api.owner.post(f"{clusters}:estimate", json=body | {"s3_connections": names})
        faults = problem(estimated, 422, "validation_failed")["errors"]
        assert [(each["pointer"], each["code"]) for each in faults] == [
            (f"/s3_connections/{place}", code) for place, code in enumerate(codes)
        ], "as a create would refuse it"
    await api.owner.patch(connection.headers["location"], json={"attachable": True})
    assert (await api.owner.post(f"{clusters}:estimate", json=body)).status_code == 200
    ok(await api.owner.post(clusters, json=body, headers=key()), 202)
    shown = (await api.owner.get(f"{clusters}/bert")).json()
    assert shown["s3_connections"] == ["lake"]
    assert [each["s3_access"] for each in shown["poplar_servers"]] == [None]
    problem(await api.owner.delete(f"{path}/lake"), 409, "in_use")
    problem(await api.owner.patch(f"{path}/lake", json={"attachable": False}), 409, "in_use")
    unknown = await api.owner.patch(f"{clusters}/bert", json={"s3_connections": ["sea"]})
    assert problem(unknown, 422, "validation_failed")["errors"][0]["code"] == "unknown_s3_connection"
    detached = await api.owner.patch(f"{clusters}/bert", json={"s3_connections": []})
    assert detached.json()["s3_connections"] == []
    again = await api.owner.patch(f"{clusters}/bert", json={"s3_connections": []})
    assert again.json()["version"] == detached.json()["version"]
    assert (await api.owner.delete(f"{path}/lake")).status_code == 204
