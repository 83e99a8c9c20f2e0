"""Requests that make no sense get a documented 4xx, and change nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.api.support import Api, cluster_id, cluster_json, pointers_of, problem

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
CANARY = "canary-3f9a"


async def test_a_problem_says_everything_and_nothing_of_the_input(shared_api: Api) -> None:
    answer = await shared_api.owner.post(
        f"{shared_api.base}/clusters", json=cluster_json(CANARY.upper(), flavor=[CANARY])
    )
    document = problem(answer, 422, "validation_failed")
    assert [error["pointer"] for error in document["errors"]] == ["/name", "/flavor"]
    assert all(error["detail"] for error in document["errors"])
    assert document["instance"] == f"{shared_api.base}/clusters"
    assert CANARY not in answer.text.lower()


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b'{"name": ', JSON, 400, "malformed_request"),
        (b'{"name": "caf\xe9"}', JSON, 400, "malformed_request"),
        (b'{"name": NaN}', JSON, 400, "malformed_request"),
        (b'{"name": "a\\u0000b"}', JSON, 400, "malformed_request"),
        (b'{"name": "\\ud800"}', JSON, 400, "malformed_request"),
        (b"[" * 40 + b"]" * 40, JSON, 400, "malformed_request"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, JSON, 400, "malformed_request"),
        (b"{}{}", JSON, 400, "malformed_request"),
        (b'{"name": "bert", "name": "gpt"}', JSON, 400, "malformed_request"),
        (b'{"name": "bert", "n\\u0061me": "a:b"}', JSON, 400, "malformed_request"),
        (b'{"tags": [{"team": "a", "team": "a"}], "size": 1}', JSON, 400, "malformed_request"),
        (b"name=bert", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"),
        (b"{}", {"Content-Type": "text/json"}, 415, "unsupported_media_type"),
        (b"{}", {"Content-Type": "application/json; charset=latin-1"}, 415, "unsupported_media_type"),
        (b"{}", JSON | {"Content-Encoding": "gzip"}, 415, "unsupported_media_type"),
        (b"{}", {}, 415, "unsupported_media_type"),
        (b"", JSON, 422, "validation_failed"),
        (b"null", JSON, 422, "validation_failed"),
        (b"[]", JSON, 422, "validation_failed"),
        (b"{}", JSON, 422, "validation_failed"),
        (b'{"name": "' + b"x" * 262_144 + b'"}', JSON, 413, "body_too_large"),
    ],
)
async def test_bodies_that_are_none(
    shared_api: Api, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    before = await shared_api.snapshot()
    for path in ("clusters", "clusters:estimate", "ssh-keys", "tokens"):
        problem(await shared_api.owner.post(f"{shared_api.base}/{path}", content=body, headers=headers), status, code)
    assert await shared_api.snapshot() == before


async def test_a_patch_is_no_merge_patch_and_the_refusal_says_what_to_send(api: Api) -> None:
    path = f"{api.base}/clusters/{cluster_id(await api.make_cluster())}"
    before = (await api.owner.get(path)).json()
    merging = {"Content-Type": "application/merge-patch+json"}
    refused = await api.owner.patch(path, content=b'{"tags": {"team": null}}', headers=merging)
    detail = problem(refused, 415, "unsupported_media_type")["detail"]
    assert "`Content-Type: application/json`" in detail
    assert "tags" in detail
    assert refused.headers["accept-patch"] == "application/json"
    assert (await api.owner.get(path)).json() == before


async def test_what_is_sent_twice_is_named_and_what_looks_like_it_is_accepted(shared_api: Api) -> None:
    path = f"{shared_api.base}/clusters"
    twice = b'{"name": "bert", "tags": {"a:b": "1", "a\\u003ab": "2"}}'
    document = problem(await shared_api.owner.post(path, content=twice, headers=JSON), 400, "malformed_request")
    assert 'the key "a:b" twice' in document["detail"]
    long = b'{"%s": 1, "%s": 2}' % (b"x" * 65, b"x" * 65)
    document = problem(await shared_api.owner.post(path, content=long, headers=JSON), 400, "malformed_request")
    assert "x" * 65 not in document["detail"]
    once = b'{"name": "n:n", "tags": {"team": "\\"team\\": 1, \\"team\\": 2"}, "size": [{"a": 1}, {"a": 1}]}'
    problem(await shared_api.owner.post(path, content=once, headers=JSON), 422, "validation_failed")
    assert pointers_of(await shared_api.owner.get(path, params=[("limit", "1"), ("limit", "2")])) == ["?limit"]


async def test_a_chunked_body_is_bounded_too(shared_api: Api) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 10_000

    answer = await shared_api.owner.post(f"{shared_api.base}/clusters", content=endless(), headers=JSON)
    assert problem(answer, 413, "body_too_large")["limit"] == 262_144
    assert sent < 40


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "active"},
        {"price_per_minute": {"amount": "0", "currency": "EUR"}},
        {"name": "Bert"},
        {"name": "f1a1f88d-c35c-4727-9197-ada965d2a4a4"},  # as an id is written
        {"name": "x" * 64},
        {"name": 7},
        {"ssh_keys": "laptop"},
        {"tags": {"team": 7}},
        {"tags": {f"tag{number}": "x" for number in range(51)}},
        {"delete_protection": 1},
        {"expires_at": "tomorrow"},
        {"expires_at": 1893456000},
        {"partition": {"reconfigurable": "no"}},
        {"repair_window": {"days": ["sun"], "starts_at": "02:00", "minutes": 60, "time_zone": "Europe/Esch"}},
        {"repair_window": {"days": [], "starts_at": "02:00", "minutes": 60, "time_zone": "UTC"}},
        {"repair_window": {"days": ["sun"], "starts_at": "25:00", "minutes": 60, "time_zone": "UTC"}},
        {"repair_window": {"days": ["sun"], "starts_at": "02:00", "minutes": 5, "time_zone": "UTC"}},
        {"repair_window": {}},
        {"user_data": "#!" + "x" * 65_536},
        {"user_data": "echo hello"},
        {"user_data": "#cloud-config\npackages: [htop]\n"},
        {"user_data": "#cloud-config\nruncmd: [" + "[" * 9999},
        {"user_data": "#cloud-config\nruncmd: [a]\n---\nruncmd: [b]\n"},
    ],
)
async def test_creates_that_cannot_be(shared_api: Api, changes: dict[str, Any]) -> None:
    before = await shared_api.snapshot()
    answer = await shared_api.owner.post(f"{shared_api.base}/clusters", json=cluster_json(**changes))
    errors = problem(answer, 422, "validation_failed")["errors"]
    assert all(error["pointer"].split("/")[1] in changes for error in errors)
    assert errors
    assert await shared_api.snapshot() == before


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("clusters", {"surprise": "1"}),
        ("clusters", {"limit": "many"}),
        ("clusters", {"state": "asleep"}),
        ("clusters", {"order": "price"}),
        ("clusters", {"name": "a\x00b"}),
        ("clusters", {"tag.a": "\x00"}),
        ("operations", {"cluster": "mine"}),
        ("events", {"after": "yesterday"}),
        ("usage", {"since": "2026-01-01"}),
        ("usage", {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
    ],
)
async def test_query_parameters_of_another_form(shared_api: Api, path: str, query: dict[str, str]) -> None:
    answer = await shared_api.owner.get(f"{shared_api.base}/{path}", params=query)
    pointers = {error["pointer"] for error in problem(answer, 422, "validation_failed")["errors"]}
    assert pointers <= {f"?{name}" for name in query}
