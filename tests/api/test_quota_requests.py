"""Requests for higher quotas: what projects send, what operators decide, and what follows."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from tests.api.support import Api, faults_of, ok, problem

pytestmark = pytest.mark.anyio

ALL = "/v1/operator/quota-requests"
REQUEST = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 900, "reason": "A POD512 in May.\nThen less."}


@pytest.fixture(autouse=True)
async def quota(api: Api) -> None:
    await api.world.execute("UPDATE quotas SET machine_limit = 100")


async def open_request(api: Api, **changes: object) -> dict[str, Any]:
    answer = await api.owner.post(f"{api.base}/quota-requests", json=REQUEST | changes)
    assert answer.status_code == 201, answer.text
    request: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/projects/{api.world.project.id}/quota-requests/{request['id']}"
    return request


async def read(api: Api, request: dict[str, Any]) -> dict[str, Any]:
    return ok(await api.owner.get(f"{api.base}/quota-requests/{request['id']}"))


async def limit(api: Api, machine_type: str = "m2000") -> int:
    quotas = (await api.owner.get(f"{api.base}/quotas")).json()["items"]
    return next((each["limit"] for each in quotas if each["machine_type"] == machine_type), 0)


async def events(api: Api, request: dict[str, Any]) -> list[str]:
    items = (await api.owner.get(f"{api.base}/events", params={"subject": request["id"]})).json()["items"]
    return [each["type"].partition(".")[2] for each in reversed(items)]


async def test_a_request_raises_the_quota_when_it_is_granted(api: Api, admin: httpx.AsyncClient) -> None:
    before = await limit(api)
    request = await open_request(api)
    assert (request["state"], request["limit"], request["granted_limit"]) == ("open", 900, None)
    assert await read(api, request) == request
    assert await limit(api) == before
    waiting = (await admin.get(ALL, params={"state": "open", "project": api.world.project.slug})).json()["items"]
    assert [(each["id"], each["present_limit"], each["used"]) for each in waiting] == [(request["id"], before, 0)]
    body = {"limit": 800, "answer": "800 for now"}
    granted = (await admin.post(f"{ALL}/{request['id']}:grant", json=body)).json()
    assert (granted["state"], granted["present_limit"]) == ("granted", 800)
    shown = await read(api, request)
    assert (shown["state"], shown["granted_limit"], shown["answer"]) == ("granted", 800, "800 for now")
    assert (await limit(api), await events(api, request)) == (800, ["opened", "granted"])
    again = await open_request(api)
    assert (await admin.post(f"{ALL}/{again['id']}:grant", json={})).json()["granted_limit"] == 900
    listed = (await api.owner.get(f"{api.base}/quota-requests", params={"state": "granted"})).json()["items"]
    assert [each["id"] for each in listed] == [again["id"], request["id"]]


async def test_a_request_is_declined_with_a_reason_or_withdrawn(api: Api, admin: httpx.AsyncClient) -> None:
    before = await limit(api)
    request = await open_request(api)
    problem(await admin.post(f"{ALL}/{request['id']}:decline", json={}), 422, "validation_failed")
    assert (await admin.post(f"{ALL}/{request['id']}:decline", json={"reason": "no room"})).status_code == 200
    assert ((await read(api, request))["answer"], await events(api, request)) == ("no room", ["opened", "declined"])
    second = await open_request(api)
    withdrawn = await api.owner.post(f"{api.base}/quota-requests/{second['id']}:withdraw")
    assert withdrawn.json()["state"] == "withdrawn"
    for caller, path, body in (
        (admin, f"{ALL}/{second['id']}:grant", {}),
        (admin, f"{ALL}/{request['id']}:decline", {"reason": "again"}),
        (api.owner, f"{api.base}/quota-requests/{request['id']}:withdraw", None),
    ):
        problem(await caller.post(path, json=body), 409, "state_conflict")
    assert await limit(api) == before


async def test_two_operators_decide_at_once_and_one_learns_who_did(api: Api, admin: httpx.AsyncClient) -> None:
    request = await open_request(api)
    answers = await asyncio.gather(
        admin.post(f"{ALL}/{request['id']}:grant", json={}),
        admin.post(f"{ALL}/{request['id']}:decline", json={"reason": "no room"}),
    )
    [refused] = [answer for answer in answers if answer.status_code == 409]
    decided = (await admin.get(f"{ALL}/{request['id']}")).json()
    assert problem(refused, 409, "state_conflict")["decided_by"] == decided["decided_by"]
    assert await limit(api) == (900 if decided["state"] == "granted" else decided["present_limit"])


async def test_bad_input_asks_for_nothing(api: Api, admin: httpx.AsyncClient) -> None:
    path, present = f"{api.base}/quota-requests", await limit(api)
    for changes, pointer, code in (
        ({"limit": present}, "/limit", "not_above_limit"),
        ({"region": "atlantis-1"}, "/region", "not_sold"),
        ({"machine_type": "abacus"}, "/machine_type", "not_sold"),
    ):
        assert faults_of(await api.owner.post(path, json=REQUEST | changes)) == [(pointer, code)]
    for wrong in ({"limit": 0}, {"reason": ""}, {"reason": "x" * 100_000}, {"limit": "many"}, {"state": "granted"}):
        problem(await api.owner.post(path, json=REQUEST | wrong), 422, "validation_failed")
    assert (await api.owner.get(path)).json()["items"] == []
    request = await open_request(api)
    assert problem(await api.owner.post(path, json=REQUEST), 409, "state_conflict")["quota_request"] == request["id"]
    for value in (present, 901):
        refused = await admin.post(f"{ALL}/{request['id']}:grant", json={"limit": value})
        assert faults_of(refused) == [("/limit", "not_between")]
    assert ((await read(api, request))["state"], await limit(api)) == ("open", present)
    await api.world.execute("UPDATE quotas SET machine_limit = 900")
    problem(await admin.post(f"{ALL}/{request['id']}:grant", json={}), 409, "state_conflict")
