"""A request sent twice has one effect and one answer."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
import sqlalchemy as sa

from ipucloud.api.idempotency import HEADER
from tests.api.support import PUBLIC_KEY, Api, cluster_id, cluster_json, key, problem

pytestmark = pytest.mark.anyio

REPEATS = 64


async def test_a_repeat_is_answered_byte_for_byte(api: Api) -> None:
    headers = key()
    first = await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)
    # The same request in other words: the project by another name, the body in another order.
    body = dict(reversed(cluster_json().items()))
    again = await api.owner.post(f"/v1/projects/{api.world.project.id}/clusters", json=body, headers=headers)
    assert (again.status_code, again.content) == (first.status_code, first.content) == (202, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["request-id"] != first.headers["request-id"]
    assert await api.count("clusters") == 1


@pytest.mark.parametrize("path", ["clusters", "ssh-keys", "tokens"])
async def test_of_many_at_once_one_has_an_effect(api: Api, path: str) -> None:
    bodies = {
        "clusters": cluster_json(),
        "ssh-keys": {"name": "desk", "public_key": PUBLIC_KEY},
        "tokens": {"name": "ci", "role": "viewer"},
    }
    table, headers = path.replace("-", "_"), key()
    before = await api.count(table)
    answers = await asyncio.gather(
        *(api.owner.post(f"{api.base}/{path}", json=bodies[path], headers=headers) for _ in range(REPEATS))
    )
    assert await api.count(table) == before + 1
    done = [answer for answer in answers if answer.is_success]
    assert sum("idempotent-replayed" not in answer.headers for answer in done) == 1
    replays = [answer.content for answer in done if "idempotent-replayed" in answer.headers]
    assert len(set(replays)) <= 1
    for answer in answers:
        if not answer.is_success:
            problem(answer, 409, "idempotency_in_progress")
            assert int(answer.headers["retry-after"]) >= 1


async def test_while_the_first_runs_the_second_is_told_to_come_back(api: Api) -> None:
    headers = key()
    lock = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(CAST(:scope AS text) || ' ' || :key, 0))")
    async with api.world.database.begin() as connection:
        await connection.execute(lock, {"scope": api.world.project.id, "key": headers["Idempotency-Key"]})
        answer = await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)
        problem(answer, 409, "idempotency_in_progress")
    assert (await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)).status_code == 202


async def test_a_key_belongs_to_one_request(api: Api) -> None:
    headers = key()
    await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)
    before = await api.snapshot()
    for path, body in (
        ("clusters", cluster_json("ernie")),
        ("clusters:estimate", cluster_json()),
        ("tokens", {"name": "ci", "role": "viewer"}),
    ):
        problem(await api.owner.post(f"{api.base}/{path}", json=body, headers=headers), 422, "idempotency_key_reused")
    assert await api.snapshot() == before


async def test_a_key_belongs_to_one_object(api: Api) -> None:
    headers = key()
    first, second = [cluster_id(await api.make_cluster(name)) for name in ("bert", "ernie")]
    await api.owner.patch(f"{api.base}/clusters/{first}", json={"tags": {"a": "b"}}, headers=headers)
    answer = await api.owner.patch(f"{api.base}/clusters/{second}", json={"tags": {"a": "b"}}, headers=headers)
    problem(answer, 422, "idempotency_key_reused")


async def test_projects_do_not_share_keys(api: Api) -> None:
    headers, other = key(), await api.other_project()
    stranger = api.client(other.token.secret)
    own = await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)
    foreign = await stranger.post(f"/v1/projects/{other.slug}/clusters", json=cluster_json("ernie"), headers=headers)
    assert own.status_code == foreign.status_code == 202
    assert own.json()["id"] != foreign.json()["id"]


async def test_a_refusal_leaves_the_key_unused(api: Api) -> None:
    headers = key()
    refused = await api.owner.post(f"{api.base}/clusters", json=cluster_json(flavor="m2000-pod256"), headers=headers)
    problem(refused, 409, "capacity_exhausted")
    assert await api.count("idempotency_keys") == 0
    assert (await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)).status_code == 202


async def test_a_replay_is_for_those_who_may_do_it(api: Api) -> None:
    headers = key()
    token = await api.owner.post(f"{api.base}/tokens", json={"name": "worker", "role": "operator"})
    worker = api.client(token.json()["token"])
    assert (await worker.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)).status_code == 202
    await api.owner.delete(f"{api.base}/tokens/{token.json()['id']}")
    problem(await worker.post(f"{api.base}/clusters", json=cluster_json(), headers=headers), 401, "unauthenticated")


async def test_a_replay_shows_no_secret(api: Api) -> None:
    headers, body = key(), {"name": "ci", "role": "viewer"}
    first = (await api.owner.post(f"{api.base}/tokens", json=body, headers=headers)).json()
    again = (await api.owner.post(f"{api.base}/tokens", json=body, headers=headers)).json()
    assert again == first | {"token": None}
    (stored,) = await api.world.column("SELECT convert_from(body, 'UTF8') FROM idempotency_keys")
    assert first["token"] not in stored


async def test_changes_without_a_key_are_not_remembered(api: Api) -> None:
    answers = Counter(
        [(await api.owner.post(f"{api.base}/clusters", json=cluster_json())).status_code for _ in range(2)]
    )
    assert answers == {202: 1, 409: 1}
    assert await api.count("idempotency_keys") == 0


@pytest.mark.parametrize("value", ["", "x" * 256, "with space", "caf\xe9"])
async def test_a_key_has_a_form(api: Api, value: str) -> None:
    headers = [(HEADER.encode(), value.encode("latin-1"))]
    answer = await api.owner.post(f"{api.base}/clusters", json=cluster_json(), headers=headers)
    problem(answer, 400, "malformed_request")
    assert await api.count("clusters") == 0
