"""Tokens that are limited to clusters: how one is made, what it finds, and how it ends.

`tests/api/test_policy.py` asks for every operation of the document with such tokens.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from ipucloud.identity.roles import Permission, Rights, Role
from ipucloud.identity.token_ends import end_with_clusters
from tests.api.support import Api, cluster_json, faults_of, items, key, ok, problem

pytestmark = pytest.mark.anyio


async def limited(api: Api, *clusters: str, **body: object) -> dict[str, Any]:
    wanted = {"name": "ci", "role": "operator", "clusters": clusters} | body
    return ok(await api.owner.post(f"{api.base}/tokens", json=wanted), 201)


@pytest.mark.acceptance("SEC04-01")
async def test_it_finds_its_cluster_and_no_other(api: Api) -> None:
    bert, gpt = await api.world.make_active(), await api.world.make_active("gpt")
    token = await limited(api, "bert")
    assert token["clusters"] == [{"id": str(bert), "name": "bert", "deleted": False}]
    caller = api.client(token["token"])
    assert [each["name"] for each in await items(caller, f"{api.base}/clusters")] == ["bert"]
    assert await items(caller, f"{api.base}/clusters", name="gpt") == []
    for name in ("bert", str(bert)):
        ok(await caller.get(f"{api.base}/clusters/{name}"))
        ok(await caller.get(f"{api.base}/clusters/{name}/poplar-servers"))
    for name in ("gpt", str(gpt)):
        detail = problem(await caller.get(f"{api.base}/clusters/{name}"), 404, "not_found")["detail"]
        absent = problem(await caller.get(f"{api.base}/clusters/absent"), 404, "not_found")["detail"]
        assert detail == absent.replace("absent", name)
        problem(await caller.post(f"{api.base}/clusters/{name}:suspend", headers=key()), 404, "not_found")
        problem(await caller.patch(f"{api.base}/clusters/{name}", content=b"{"), 404, "not_found")
    shown = await items(caller, f"{api.base}/operations")
    assert {each["target"]["id"] for each in shown} == {str(bert)}
    events = await items(caller, f"{api.base}/events")
    assert events
    assert {each["subject_id"] for each in events} == {str(bert)}
    assert await items(caller, f"{api.base}/events", subject=str(gpt)) == []
    await api.world.execute("UPDATE clusters SET name = 'bart' WHERE id = :id", id=bert)
    ok(await caller.get(f"{api.base}/clusters/bart"))


async def test_it_changes_its_cluster_alone(api: Api) -> None:
    bert, gpt = await api.world.make_active(), await api.world.make_active("gpt")
    caller = api.client((await limited(api, str(bert), "gpt", role="owner"))["token"])
    changed = ok(await caller.patch(f"{api.base}/clusters/bert", json={"tags": {"a": "b"}}))
    assert changed["tags"] == {"a": "b"}
    ok(await caller.post(f"{api.base}/clusters/gpt:suspend", headers=key()), 202)
    others = await api.world.make_active("llama")
    before = await api.snapshot()
    refused = await caller.patch(f"{api.base}/clusters/bert", json={"s3_connections": ["lake"]})
    assert "S3 connections belong to the project" in problem(refused, 403, "permission_denied")["detail"]
    for path, body in {"clusters": cluster_json("t5"), "tokens": {"name": "t", "role": "viewer"}}.items():
        answer = await caller.post(f"{api.base}/{path}", json=body, headers=key())
        assert "limited to clusters" in problem(answer, 403, "permission_denied")["detail"]
    problem(await caller.delete(f"{api.base}/clusters/{others}", headers=key()), 404, "not_found")
    after = await api.snapshot()
    assert {name for name in before if before[name] != after[name]} <= {"audit_log", "audit_heads"}
    assert gpt != others


async def test_another_operation_is_not_there(api: Api) -> None:
    await api.world.make_active()
    caller = api.client((await limited(api, "bert"))["token"])
    other = (await api.world.customer(api.world.project).create("gpt")).operation_id
    problem(await caller.get(f"{api.base}/operations/{other}"), 404, "not_found")
    problem(await caller.post(f"{api.base}/operations/{other}:cancel", headers=key()), 404, "not_found")
    ok(await api.owner.get(f"{api.base}/operations/{other}"))


async def test_rotation_a_session_and_whoami_keep_the_limit(api: Api) -> None:
    bert, gpt = await api.world.make_active(), await api.world.make_active("gpt")
    token = await limited(api, "bert")
    [event] = await items(api.owner, f"{api.base}/events", type="token.created", limit=1)
    assert event["data"]["clusters"] == [str(bert)]
    successor = ok(await api.owner.post(f"{api.base}/tokens/{token['id']}:rotate", json={}), 201)
    assert successor["clusters"] == token["clusters"]
    caller = api.client(successor["token"])
    assert ok(await caller.get("/v1/whoami"))["token"]["clusters"] == token["clusters"]
    assert "cluster:write" in ok(await caller.get("/v1/whoami"))["scopes"]
    problem(await caller.post("/v1/session/links"), 403, "permission_denied")
    browser = api.client()
    ok(await browser.post("/v1/session", json={"token": successor["token"]}), 201)
    ok(await browser.get(f"{api.base}/clusters/{bert}"))
    problem(await browser.get(f"{api.base}/clusters/{gpt}"), 404, "not_found")
    wide = ok(await api.owner.post(f"{api.base}/tokens", json={"name": "wide", "role": "viewer"}), 201)
    assert wide["clusters"] is None


async def test_it_ends_an_hour_after_its_last_cluster(api: Api) -> None:
    bert, gpt = await api.world.make_active(), await api.world.make_active("gpt")
    both, one = await limited(api, "bert", "gpt"), await limited(api, "bert", name="one")
    wide = ok(await api.owner.post(f"{api.base}/tokens", json={"name": "wide", "role": "viewer"}), 201)
    await api.world.customer(api.world.project).delete(bert)
    await api.world.finish_delete(bert)
    async with api.world.database.begin() as connection:
        await end_with_clusters(connection, project_id=api.world.project.id, cluster_id=bert)
    shown = {each["name"]: each for each in await items(api.owner, f"{api.base}/tokens")}
    assert [shown[each]["expires_at"] is None for each in ("ci", "one", "wide")] == [True, False, True]
    assert {each["name"]: each["deleted"] for each in shown["ci"]["clusters"]} == {"bert": True, "gpt": False}
    caller = api.client(one["token"])
    assert ok(await caller.get(f"{api.base}/clusters/{bert}"))["state"] == "deleted"
    again = await api.world.make_active()
    problem(await caller.get(f"{api.base}/clusters/{again}"), 404, "not_found")
    problem(await caller.get(f"{api.base}/clusters/bert"), 404, "not_found")
    await api.world.execute("UPDATE tokens SET expires_at = app_now() WHERE name = 'one'")
    problem(await caller.get("/v1/whoami"), 401, "unauthenticated")
    ok(await api.client(both["token"]).get(f"{api.base}/clusters/{gpt}"))
    ok(await api.client(wide["token"]).get(f"{api.base}/clusters/{again}"))


@pytest.mark.parametrize(
    ("clusters", "code", "text"),
    [
        (["bret"], "unknown_cluster", "The names most like it: bert"),
        (["bert", "00000000-0000-7000-8000-000000000000"], "unknown_cluster", "bert"),
        ([], "too_short", ""),
        (["a\tb"], "string_pattern_mismatch", ""),
        (["x" * 129], "string_too_long", ""),
        (["bert"] * 33, "too_long", ""),
        ("bert", "list_type", ""),
    ],
)
async def test_clusters_that_are_not_there_are_refused(api: Api, clusters: object, code: str, text: str) -> None:
    await api.world.make_active()
    before = await api.snapshot()
    body = {"name": "ci", "role": "operator", "clusters": clusters}
    answer = await api.owner.post(f"{api.base}/tokens", json=body)
    [(pointer, found)] = faults_of(answer)
    assert (pointer.startswith("/clusters"), found) == (True, code)
    assert text in answer.json()["errors"][0]["detail"]
    after = await api.snapshot()
    assert {name for name in before if before[name] != after[name]} <= {"audit_log", "audit_heads"}


async def test_another_project_s_cluster_is_unknown(api: Api) -> None:
    project = await api.other_project()
    theirs = (await api.world.customer(project).create("theirs")).target_id
    for ref in ("theirs", str(theirs)):
        body = {"name": "ci", "role": "operator", "clusters": [ref]}
        answer = await api.owner.post(f"{api.base}/tokens", json=body)
        assert faults_of(answer) == [("/clusters/0", "unknown_cluster")]


def test_whatever_does_not_say_what_it_is_about_is_refused() -> None:
    its: UUID = uuid4()
    rights = Rights.of(f"owner cluster:read #{its} @10.0.0.0/8 The token ci")
    assert rights.clusters == frozenset({its})
    assert (rights.sources, rights.limited) == (("10.0.0.0/8",), "The token ci")
    assert not rights.allow(Permission.CLUSTER_READ)
    assert not rights._replace(about=uuid4()).allow(Permission.CLUSTER_READ)
    assert rights._replace(about=its).allow(Permission.CLUSTER_READ)
    assert Rights.of("owner #").clusters == frozenset()
    assert not Rights.of("owner #")._replace(about=its).allow(Permission.CLUSTER_READ)
    assert Rights(Role.OWNER).allow(Permission.TOKEN_WRITE)
