"""Tokens that are limited to networks: from where they work, what a refusal says, and what they give to others."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, faults_of, items, ok, problem
from tests.support.api_process import api_process
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

OFFICE, ELSEWHERE = "203.0.113.7", "198.51.100.9"
NETWORKS = ["203.0.113.0/24", "2001:db8::/32"]


async def limited(api: Api, caller: httpx.AsyncClient | None = None, **body: object) -> dict[str, Any]:
    """A new token of an owner, limited to the office unless `body` says otherwise."""
    wanted = {"name": "deploy", "role": "owner", "allowed_sources": NETWORKS} | body
    return ok(await (caller or api.owner).post(f"{api.base}/tokens", json=wanted), 201)


def refused_at(answer: httpx.Response, address: str, name: str = "The token deploy") -> None:
    detail = problem(answer, 403, "source_not_allowed")["detail"]
    assert detail.startswith(f"{name} may not be used from {address}, ")
    assert "203.0.113" not in detail, "whoever stole it is not told from where it works"


async def test_a_token_works_from_its_networks_only(api: Api) -> None:
    token = (await limited(api))["token"]
    inside = [OFFICE, "203.0.113.255", "2001:db8:1::1", "::ffff:203.0.113.7"]
    for address in inside:
        ok(await api.client(token, address=address).get(f"{api.base}/clusters"))
    outside = api.client(token, address=ELSEWHERE)
    before = await api.snapshot()
    for answer in (
        await outside.get(f"{api.base}/clusters"),
        await outside.get(f"{api.base}/clusters/nothing-of-this-name"),
        await outside.get("/v1/projects/nothing-of-this-name"),
        await outside.get("/v1/whoami"),
        await outside.get("/v1/me"),
        await outside.get("/v1/session"),
        await outside.get("/v1/projects"),
        await outside.get(f"{api.base}/events/stream"),
        await outside.get(f"{api.base}/overview"),
        await outside.post(f"{api.base}/ssh-keys", json={"name": "k", "public_key": "k"}),
        await outside.post("/v1/session/links"),
    ):
        refused_at(answer, ELSEWHERE)
    beside = {"audit_log", "audit_heads"}
    after = await api.snapshot()
    assert {name for name in before if before[name] != after[name]} <= beside | {"tokens"}
    refused_at(await api.client(token, address="2001:db9::1").get("/v1/whoami"), "2001:db9::1")


async def test_a_session_of_it_begins_and_works_from_there_only(api: Api) -> None:
    token = (await limited(api))["token"]
    outside = api.client(address=ELSEWHERE)
    refused_at(await outside.post("/v1/session", json={"token": token}), ELSEWHERE)
    assert await api.world.value("SELECT count(*) FROM browser_sessions") == 0
    browser = api.client(address=OFFICE)
    ok(await browser.post("/v1/session", json={"token": token}), 201)
    assert (await browser.get("/v1/session")).status_code == 200
    taken = api.client(address=ELSEWHERE)
    taken.cookies.update(browser.cookies)
    path = str(browser.base_url).removesuffix("/")
    taken.base_url = httpx.URL(path)
    refused_at(await taken.get("/v1/session"), ELSEWHERE)


async def test_it_is_shown_and_its_successor_has_the_same(api: Api) -> None:
    token = await limited(api, name="ci", role="viewer", allowed_sources=["203.0.113.7", "203.0.113.7/32"])
    assert token["allowed_sources"] == ["203.0.113.7/32"]
    [event] = await items(api.owner, f"{api.base}/events", type="token.created", limit=1)
    assert event["data"]["allowed_sources"] == ["203.0.113.7/32"]
    successor = ok(await api.owner.post(f"{api.base}/tokens/{token['id']}:rotate", json={}), 201)
    assert successor["allowed_sources"] == ["203.0.113.7/32"]
    refused_at(await api.client(successor["token"], address=ELSEWHERE).get("/v1/whoami"), ELSEWHERE, "The token ci")
    wide = ok(await api.owner.post(f"{api.base}/tokens", json={"name": "wide", "role": "viewer"}), 201)
    assert wide["allowed_sources"] == []
    ok(await api.client(wide["token"], address=ELSEWHERE).get("/v1/whoami"))


async def test_tokens_of_the_platform_have_them_too(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    body = {"name": "desk", "role": "support", "allowed_sources": NETWORKS}
    token = ok(await admin.post("/v1/tokens", json=body), 201)["token"]
    ok(await api.client(token, address=OFFICE).get("/v1/operator/machines"))
    refused_at(await api.client(token, address=ELSEWHERE).get("/v1/operator/machines"), ELSEWHERE, "The token desk")
    refused_at(await api.client(token, address=ELSEWHERE).get(f"{api.base}/clusters"), ELSEWHERE, "The token desk")


@pytest.mark.parametrize(
    ("sources", "within"),
    [
        (["203.0.113.0/25"], True),
        ([*NETWORKS], True),
        (["203.0.112.0/23"], False),
        (["203.0.113.0/24", "192.0.2.0/24"], False),
        ([], False),
    ],
)
async def test_it_creates_only_tokens_within_its_networks(api: Api, sources: list[str], within: bool) -> None:
    caller = api.client((await limited(api))["token"], address=OFFICE)
    answer = await caller.post(f"{api.base}/tokens", json={"name": "b", "role": "viewer", "allowed_sources": sources})
    if within:
        ok(answer, 201)
    else:
        assert "`allowed_sources`" in problem(answer, 403, "permission_denied")["detail"]


async def test_a_network_with_host_bits_is_refused(api: Api) -> None:
    body = {"name": "b", "role": "viewer", "allowed_sources": ["203.0.113.7/24"]}
    refused = await api.owner.post(f"{api.base}/tokens", json=body)
    assert faults_of(refused) == [("/allowed_sources/0", "host_bits_set")]
    assert "write 203.0.113.0/24 for the network" in refused.json()["errors"][0]["detail"]


async def test_the_client_is_the_one_that_a_trusted_proxy_names(api: Api, database: Scratch) -> None:
    token = (await limited(api))["token"]
    with api_process({"trusted_proxies": "127.0.0.1"}, url=database.app_url) as server:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:

            async def asked(forwarded: str) -> httpx.Response:
                fields = {"Authorization": f"Bearer {token}", "X-Forwarded-For": forwarded}
                return await client.get("/v1/whoami", headers=fields)

            ok(await asked(OFFICE))
            refused_at(await asked(ELSEWHERE), ELSEWHERE)
            # What the client itself put in front of the proxy's entry changes nothing.
            refused_at(await asked(f"{OFFICE}, {ELSEWHERE}"), ELSEWHERE)
