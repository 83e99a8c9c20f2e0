"""Browsers sign in: a session by cookie has the rights of its token, for a time, and from this site's pages only."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import Kind, new_secret, new_token
from tests.api.people import OURS, advance
from tests.api.support import Api, cluster_json, key, ok, problem
from tests.support.api_process import api_process
from tests.support.neighbour import neighbour
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

SESSION, LINKS = "/v1/session", "/v1/session/links"
PLAIN, SECURE = "ipucloud-session", "__Host-ipucloud-session"


async def signed_in(api: Api, **body: str) -> httpx.AsyncClient:
    browser = api.client(**OURS)
    ok(await browser.post(SESSION, json=body), 201)
    return browser


def cookie_of(answer: httpx.Response) -> str:
    return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


async def link_of(caller: httpx.AsyncClient) -> dict[str, Any]:
    return ok(await caller.post(LINKS), 201)


async def test_every_kind_of_token_signs_in_and_out(api: Api) -> None:
    secrets = []
    for role in Role:
        caller = await api.caller(role)
        token = caller.headers["authorization"].partition(" ")[2]
        me = (await caller.get("/v1/whoami")).json()
        by_token = api.client(**OURS)
        answer = await by_token.post(SESSION, json={"token": token})
        settings = answer.headers["set-cookie"].lower().split("; ")
        assert {"httponly", "samesite=strict", "max-age=43200"} <= set(settings)
        assert f"path={answer.json()['path'].lower()}" in settings
        assert not any(each.startswith("domain") for each in settings)
        secrets += [token, cookie_of(answer), (link := await link_of(caller))["code"]]
        assert link["url"] == f"{api.owner.base_url}/sign-in#code={link['code']}".replace("//sign", "/sign")
        for browser in (by_token, await signed_in(api, code=link["code"])):
            session = (await browser.get(SESSION)).json()
            assert {name: session[name] for name in me} | {"token": 0} == me | {"token": 0}
            assert session["token"]["id"] == me["token"]["id"]
            assert session["signed_in_at"] < session["idle_until"] < session["expires_at"]
        assert ok(await by_token.delete(SESSION)) == {"provider": None}
        problem(await by_token.get(SESSION), 401, "unauthenticated")
        assert (await browser.get(SESSION)).status_code == 200  # another session of the token goes on
    for secret in secrets:
        assert not await api.stores(secret)


async def test_a_link_signs_in_once_for_ten_minutes(api: Api, database: Scratch, stopped_clock: None) -> None:
    repeated = key()
    link = (await api.owner.post(LINKS, headers=repeated)).json()
    again = (await api.owner.post(LINKS, headers=repeated)).json()
    assert again == link | {"url": None, "code": None}
    other = api.client((await api.other_project()).token.secret)
    assert (await other.post(LINKS, headers=repeated)).json()["id"] != link["id"]  # keys are the token's own

    browser = await signed_in(api, code=link["code"])
    problem(await browser.post(LINKS), 403, "permission_denied")  # a session would outlive itself
    used = problem(await browser.post(SESSION, json=link_body(link)), 410, "sign_in_link_ended")
    assert "used already" in used["detail"]
    late, revoked = await link_of(api.owner), await link_of(caller := await api.caller(Role.VIEWER))
    me = (await caller.get("/v1/whoami")).json()["token"]["id"]
    assert (await api.owner.delete(f"{api.base}/tokens/{me}")).status_code == 204
    problem(await browser.post(SESSION, json=link_body(revoked)), 401, "unauthenticated")
    await advance(api, database, timedelta(minutes=10))
    assert "expired" in problem(await browser.post(SESSION, json=link_body(late)), 410, "sign_in_link_ended")["detail"]


def link_body(link: dict[str, Any]) -> dict[str, str]:
    return {"code": link["code"]}


async def test_what_cannot_sign_in(api: Api) -> None:
    anybody = api.client()
    for body in (
        {"token": "guess"},
        {"token": new_token("test").secret},
        {"token": new_secret(Kind.SESSION)[0]},
        {"code": "guess"},
        {"code": new_secret(Kind.LINK)[0]},
        {"code": new_token("test").secret},
    ):
        refused = problem(await anybody.post(SESSION, json=body), 401, "unauthenticated")
        assert next(iter(body.values())) not in str(refused)
    for wrong in ({}, {"token": "a", "code": "b"}, {"token": ""}, {"name": "x"}):
        problem(await anybody.post(SESSION, json=wrong), 422, "validation_failed")
    for site in ("cross-site", "same-site", "none"):
        cross_site = await anybody.post(
            SESSION, json={"token": api.world.project.token.secret}, headers={"Sec-Fetch-Site": site}
        )
        assert "set-cookie" not in cross_site.headers
        problem(cross_site, 403, "cross_site_request")


async def test_a_session_ends(api: Api, database: Scratch, stopped_clock: None) -> None:
    token = api.world.project.token.secret
    used, unused = await signed_in(api, token=token), await signed_in(api, token=token)
    for _ in range(7):
        await advance(api, database, timedelta(hours=1.6))
        assert (await used.get(SESSION)).status_code == 200
        await api.app.state.used.flush(api.services.database)
        problem(await unused.get(SESSION), 401, "unauthenticated") if _ else None
    await advance(api, database, timedelta(hours=1))  # 12.2 hours after it began
    problem(await used.get(api.base), 401, "unauthenticated")

    viewer = (await api.owner.post(f"{api.base}/tokens", json={"name": "x", "role": "viewer"})).json()
    browser = await signed_in(api, token=viewer["token"])
    assert (await browser.get(api.base)).status_code == 200
    assert (await api.owner.delete(f"{api.base}/tokens/{viewer['id']}")).status_code == 204
    problem(await browser.get(api.base), 401, "unauthenticated")


async def test_the_oldest_of_too_many_sessions_ends(api: Api) -> None:
    token = api.world.project.token.secret
    first, second = await signed_in(api, token=token), await signed_in(api, token=token)
    for _ in range(99):
        await signed_in(api, token=token)
    problem(await first.get(SESSION), 401, "unauthenticated")
    assert (await second.get(SESSION)).status_code == 200


HOST = "test"
ORIGINS: list[tuple[dict[str, str], bool]] = [
    ({"Sec-Fetch-Site": "same-origin"}, True),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "http://public.example"}, True),  # a proxy changed the host
    ({"Sec-Fetch-Site": "same-site", "Origin": "http://HOST"}, False),
    ({"Sec-Fetch-Site": "cross-site"}, False),
    ({"Sec-Fetch-Site": "none"}, False),
    ({"Origin": "http://HOST"}, True),
    ({"Origin": "https://HOST"}, True),  # a proxy ends TLS
    ({"Origin": "http://HOST.evil.example"}, False),
    ({"Origin": "http://HOST:81"}, False),
    ({"Origin": "null"}, False),
    ({}, False),
]


async def test_only_pages_of_this_site_change_anything(api: Api) -> None:
    token = api.world.project.token.secret
    cookie = cookie_of(await api.client().post(SESSION, json={"token": token}))
    host = api.owner.base_url.netloc.decode()
    browser = api.client(Cookie=f"{PLAIN}={cookie}")
    for number, (headers, allowed) in enumerate(ORIGINS):
        sent = {name: value.replace("HOST", host) for name, value in headers.items()}
        assert (await browser.get(api.base, headers=sent)).status_code == 200
        before = await api.snapshot()
        for method, path, body in (
            ("POST", f"{api.base}/clusters:estimate", cluster_json(f"c-{number}")),
            ("PATCH", f"{api.base}/clusters/none", {"tags": {}}),
            ("PUT", f"{api.base}/quotas", {"items": []}),
            ("DELETE", f"{api.base}/clusters/none", None),
        ):
            answer = await browser.request(method, path, json=body, headers=sent)
            crossed = answer.status_code == 403 and answer.json()["code"] == "cross_site_request"
            assert crossed is not allowed, (headers, method, answer.text)
        assert await api.snapshot() == before
    by_token = api.client(token, Cookie=f"{PLAIN}={cookie}")
    assert (await by_token.post(LINKS, headers={"Sec-Fetch-Site": "cross-site"})).status_code == 201
    wrong = api.client(token[:-1] + "!", Cookie=f"{PLAIN}={cookie}")
    problem(await wrong.get(SESSION), 401, "unauthenticated")  # a header that is refused is not made good by a cookie


async def test_over_tls_only_the_cookie_of_this_host_counts(api: Api) -> None:
    token = api.world.project.token.secret
    host = api.owner.base_url.netloc.decode()
    answer = await api.client().post(SESSION, json={"token": token}, headers={"Origin": f"https://{host}"})
    assert answer.headers["set-cookie"].startswith(f"{SECURE}=ips_")
    assert {"secure", "path=/"} <= {*answer.headers["set-cookie"].lower().split("; ")}
    assert answer.json()["path"] is None
    cookie = cookie_of(answer)
    for name, scheme, status in ((SECURE, "https", 200), (PLAIN, "https", 401), (PLAIN, "http", 200)):
        url = f"{scheme}://{host}{SESSION}"
        assert (await api.client(Cookie=f"{name}={cookie}").get(url)).status_code == status
    for text in (token, f"{cookie}x", "", "ips_"):
        problem(await api.client(Cookie=f"{PLAIN}={text}").get(SESSION), 401, "unauthenticated")
    assert (await api.client(cookie).get(SESSION)).status_code == 401  # a session's secret is no token


async def test_a_program_at_another_port_gets_no_cookie_of_a_session(api: Api, database: Scratch) -> None:
    """With a client whose cookies are a browser's: of a host, with a path, for all its ports."""
    with api_process(url=database.app_url) as server, neighbour() as other:
        browser = httpx.AsyncClient(trust_env=False)
        ours = f"http://127.0.0.1:{server.port}"
        body = {"token": api.world.project.token.secret}
        path = (await browser.post(f"{ours}{SESSION}", json=body)).raise_for_status().json()["path"]
        assert (await browser.get(f"{ours}{path}/v1/whoami")).json()["role"] == "owner"
        assert (await browser.get(f"{ours}/v1/whoami")).status_code == 401, "a browser sends its cookie there no more"
        for where in ("/", "/v1/whoami", SESSION, "/s/", "/s/AAAAAAAAAAAAAAAAAAAAAA/v1/whoami"):
            (await browser.get(f"{other.url}{where}")).raise_for_status()
        assert [cookies for _, cookies in other.cookies if "session" in cookies] == []
        assert other.cookies[1][1] == "neighbour=was-here", "cookies of the host are sent to it"
        same_origin = {"Sec-Fetch-Site": "same-origin"}
        assert (await browser.delete(f"{ours}{path}{SESSION}", headers=same_origin)).status_code == 200
        assert [each.name for each in browser.cookies.jar] == ["neighbour"], "and signing out removes it"
        await browser.aclose()


async def test_a_session_s_cookie_counts_before_any_other_of_its_name(api: Api) -> None:
    """A program at another port can set one for all paths, and a version before this one did."""
    with api_process(url=api.world.database.url) as server:
        browser = httpx.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{server.port}")
        browser.cookies.set("ipucloud-session", "planted", domain="127.0.0.1", path="/")
        body = {"token": api.world.project.token.secret}
        path = (await browser.post(SESSION, json=body)).raise_for_status().json()["path"]
        assert (await browser.get(f"{path}/v1/whoami")).json()["role"] == "owner"
        await browser.aclose()


async def test_each_session_has_a_path_of_its_own(api: Api) -> None:
    body = {"token": api.world.project.token.secret}
    paths = {(await api.client().post(SESSION, json=body)).json()["path"] for _ in range(20)}
    assert len(paths) == 20


@pytest.mark.parametrize("path", ["/s/short/v1/whoami", "/s/" + "A" * 22, f"/s/{'A' * 22}/s/{'A' * 22}/v1/whoami"])
async def test_other_paths_are_not_of_the_api(api: Api, path: str) -> None:
    assert (await api.owner.get(path)).status_code == 404


async def test_problems_and_locations_do_not_repeat_the_path(api: Api) -> None:
    browser = api.client(**{"Sec-Fetch-Site": "same-origin"})
    await browser.post(SESSION, json={"token": api.world.project.token.secret})
    assert browser.base_url.path.startswith("/s/")
    missing = problem(await browser.get(f"{api.base}/clusters/none"), 404, "not_found")
    assert missing["instance"] == f"{api.base}/clusters/none"
    created = await browser.post(f"{api.base}/webhooks", json={"url": "https://hooks.example.com/"})
    assert created.headers["location"].startswith("/v1/projects/")
