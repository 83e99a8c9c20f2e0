"""Replacing tokens, and the tokens of the platform."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import structlog

from ipucloud.identity.roles import Role
from tests.api.support import Api, items, key, ok, pointers_of, problem

pytestmark = pytest.mark.anyio

FAR = "2126-01-01T00:00:00.000000Z"
FARTHER = "2127-01-01T00:00:00.000000Z"


async def create_token(caller: httpx.AsyncClient, path: str, **body: object) -> dict[str, Any]:
    return ok(await caller.post(path, json=body), 201)


async def works(api: Api, secret: str) -> bool:
    answer = await api.client(secret).get("/v1/whoami")
    assert answer.status_code in {200, 401}
    return answer.status_code == 200


async def id_of(caller: httpx.AsyncClient) -> str:
    token_id: str = (await caller.get("/v1/whoami")).json()["token"]["id"]
    return token_id


@pytest.mark.parametrize("platform", [False, True])
async def test_a_token_is_replaced_under_its_name(api: Api, admin: httpx.AsyncClient, platform: bool) -> None:
    path, caller = ("/v1/tokens", admin) if platform else (f"{api.base}/tokens", api.owner)
    old = await create_token(caller, path, name="ci", role="support" if platform else "operator", expires_at=FAR)
    answer = await caller.post(f"{path}/{old['id']}:rotate", json={})
    new = answer.json()
    assert answer.status_code == 201
    assert {name: new[name] for name in ("name", "role", "expires_at")} == {
        name: old[name] for name in ("name", "role", "expires_at")
    }
    assert new["created_by"] == await id_of(caller)
    assert new["id"] != old["id"]
    assert (await works(api, old["token"]), await works(api, new["token"])) == (False, True)
    assert (await caller.get(answer.headers["location"])).json()["id"] == new["id"]
    assert (await caller.get(f"{path}/{old['id']}")).json()["revoked_at"] is not None
    problem(await caller.post(f"{path}/{old['id']}:rotate", json={}), 409, "state_conflict")


async def test_the_replaced_token_works_for_a_while(api: Api) -> None:
    path = f"{api.base}/tokens"
    old = await create_token(api.owner, path, name="ci", role="viewer")
    new = await create_token(api.owner, f"{path}/{old['id']}:rotate", keep_previous_seconds=3600, expires_at=FAR)
    assert new["expires_at"] == FAR
    assert await works(api, old["token"])
    ends = datetime.fromisoformat((await api.owner.get(f"{path}/{old['id']}")).json()["expires_at"])
    assert timedelta(0) < ends - datetime.now(UTC) <= timedelta(hours=1, seconds=5)
    await api.world.execute("UPDATE tokens SET expires_at = app_now() WHERE id = :id", id=old["id"])
    assert not await works(api, old["token"])
    events = await api.world.column(
        "SELECT data->>'replaced_by' FROM events WHERE type = 'token.rotated' AND subject_id = :id", id=old["id"]
    )
    assert events == [new["id"]]


async def test_a_short_life_is_not_made_longer_by_the_grace(api: Api) -> None:
    path = f"{api.base}/tokens"
    soon = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
    old = await create_token(api.owner, path, name="ci", role="viewer", expires_at=soon)
    await create_token(api.owner, f"{path}/{old['id']}:rotate", keep_previous_seconds=3600, expires_at=FAR)
    assert (await api.owner.get(f"{path}/{old['id']}")).json()["expires_at"] == old["expires_at"]


async def test_a_rotation_that_is_sent_twice_has_one_effect_and_one_secret(api: Api) -> None:
    path = f"{api.base}/tokens"
    old = await create_token(api.owner, path, name="ci", role="viewer")
    header, before = key(), await api.count("tokens")
    first, again = [await api.owner.post(f"{path}/{old['id']}:rotate", json={}, headers=header) for _ in range(2)]
    assert again.json() == first.json() | {"token": None}
    assert again.headers["idempotent-replayed"] == "true"
    assert await api.count("tokens") == before + 1
    assert await api.stores(first.json()["token"]) == []


async def test_tokens_that_ended_are_listed_apart(api: Api, admin: httpx.AsyncClient) -> None:
    for client, path in ((api.owner, f"{api.base}/tokens"), (admin, "/v1/tokens")):
        role = "viewer" if client is api.owner else "support"
        ended = await create_token(client, path, name="ended", role=role)
        kept = await create_token(client, path, name="kept", role=role)
        assert (await client.delete(f"{path}/{ended['id']}")).status_code == 204

        async def listed(client: httpx.AsyncClient, path: str, **query: str) -> set[str]:
            return {token["id"] for token in (await client.get(path, params=query)).json()["items"]}

        assert ended["id"] in await listed(client, path, active="false")
        assert kept["id"] not in await listed(client, path, active="false")
        assert kept["id"] in await listed(client, path, active="true")
        assert ended["id"] not in await listed(client, path, active="true")
        assert {ended["id"], kept["id"]} <= await listed(client, path)
        problem(await client.get(path, params={"active": "perhaps"}), 422, "validation_failed")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"keep_previous_seconds": -1}, "/keep_previous_seconds"),
        ({"keep_previous_seconds": 604_801}, "/keep_previous_seconds"),
        ({"keep_previous_seconds": "1"}, "/keep_previous_seconds"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"role": "owner"}, "/role"),
    ],
)
async def test_a_rotation_changes_nothing_when_it_is_refused(api: Api, body: dict[str, object], pointer: str) -> None:
    old = await create_token(api.owner, f"{api.base}/tokens", name="ci", role="viewer")
    before = await api.snapshot()
    assert pointers_of(await api.owner.post(f"{api.base}/tokens/{old['id']}:rotate", json=body)) == [pointer]
    assert await api.snapshot() == before


async def test_tokens_of_the_platform_are_apart_from_those_of_projects(api: Api, admin: httpx.AsyncClient) -> None:
    support = await create_token(admin, "/v1/tokens", name="desk", role="support")
    supporter = api.client(support["token"])
    listed = await items(supporter, "/v1/tokens")
    assert [token["role"] for token in listed] == ["support", "admin"]
    assert support["token"] not in repr(listed)
    assert (await supporter.get(f"/v1/tokens/{support['id']}")).json()["name"] == "desk"
    of_project = await id_of(api.owner)
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", ":rotate")):
        problem(await admin.request(method, f"/v1/tokens/{of_project}{path}", json={}), 404, "not_found")
        there = f"{api.base}/tokens/{support['id']}{path}"
        problem(await admin.request(method, there, json={}), 404, "not_found")
    body = {"name": "x", "role": "owner"}
    problem(await admin.post("/v1/tokens", json=body), 422, "validation_failed")
    for _ in range(2):  # revoking twice is revoking
        assert (await admin.delete(f"/v1/tokens/{support['id']}")).status_code == 204
    assert not await works(api, support["token"])


async def test_the_last_administrator_stays(api: Api, admin: httpx.AsyncClient) -> None:
    path = f"/v1/tokens/{await id_of(admin)}"
    before = await api.snapshot()
    answer = problem(await admin.delete(path), 409, "last_administrator")
    assert "Create one" in answer["detail"]
    problem(await admin.post(f"{path}:rotate", json={"expires_at": FAR}), 409, "last_administrator")
    assert await api.snapshot() == before
    await create_token(admin, "/v1/tokens", name="desk", role="support")
    await create_token(admin, "/v1/tokens", name="for a while", role="admin", expires_at=FAR)
    problem(await admin.delete(path), 409, "last_administrator")
    other = await create_token(admin, "/v1/tokens", name="second", role="admin")
    assert (await admin.delete(path)).status_code == 204
    problem(await api.client(other["token"]).delete(f"/v1/tokens/{other['id']}"), 409, "last_administrator")


async def test_the_last_administrator_may_be_replaced(api: Api, admin: httpx.AsyncClient) -> None:
    new = await create_token(admin, f"/v1/tokens/{await id_of(admin)}:rotate")
    problem(await admin.get("/v1/whoami"), 401, "unauthenticated")
    admin = api.client(new["token"])
    ending = await create_token(admin, "/v1/tokens", name="for a while", role="admin", expires_at=FAR)
    longer = await create_token(admin, f"/v1/tokens/{ending['id']}:rotate", expires_at=FARTHER)
    await create_token(admin, f"/v1/tokens/{longer['id']}:rotate", expires_at=FAR)  # another one lives for ever


async def test_two_administrators_do_not_end_each_other(api: Api, admin: httpx.AsyncClient) -> None:
    other = await api.caller(Role.ADMIN)
    first, second = await id_of(admin), await id_of(other)
    answers = await asyncio.gather(admin.delete(f"/v1/tokens/{second}"), other.delete(f"/v1/tokens/{first}"))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses in ([204, 401], [204, 409])
    assert sorted([(await each.get("/v1/whoami")).status_code for each in (admin, other)]) == [200, 401]


async def test_the_access_log_tells_who_changed_which_token(api: Api, admin: httpx.AsyncClient) -> None:
    asking = await id_of(admin)
    with structlog.testing.capture_logs() as lines:
        token = await create_token(admin, "/v1/tokens", name="desk", role="support")
        await admin.delete(f"/v1/tokens/{token['id']}")
    requests = [(line["token_id"], line["subject_id"]) for line in lines if line["event"] == "request"]
    assert requests == [(asking, token["id"])] * 2
