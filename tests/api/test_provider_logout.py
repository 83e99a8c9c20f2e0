"""Whoever signs out at an OpenID Connect provider is signed out here, and the other way round as they like."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import httpx
import orjson
import pytest

from ipucloud.identity.providers import Identity
from ipucloud.identity.roles import Role
from tests.api.people import OURS, SESSION, logged_in, person
from tests.api.support import UNLIMITED, Api, items, ok, problem
from tests.api.test_provider_sign_in import returned, start_sign_in
from tests.support.oidc_provider import LOGOUT_EVENT, RunningProvider, oidc_provider

pytestmark = pytest.mark.anyio

NOW = int(time.time())


@pytest.fixture(scope="module")
def twin() -> Iterator[RunningProvider]:
    """Another provider."""
    with oidc_provider() as started:
        yield started


@pytest.fixture
def settings(sso: RunningProvider, twin: RunningProvider) -> dict[str, object]:
    silent = {"name": "gone", "issuer": "http://127.0.0.1:1", "timeout": 0.5}
    providers = [sso.settings(), twin.settings(name="twin"), sso.settings(**silent)]
    return UNLIMITED | {"oidc_providers": providers, "public_url": "http://api/"}


async def signed_in(api: Api, sso: RunningProvider, subject: str, sid: str | None = None) -> httpx.AsyncClient:
    """A browser in which the person `<subject>@example.com` signed in, in this session of the provider."""
    sso.person(subject, f"{subject}@example.com", sid=sid)
    browser = api.client(**OURS)
    ok(await returned(browser, sso.visit(await start_sign_in(browser))), 201)
    return browser


async def log_out(api: Api, token: str, provider: str = "sso", **more: str) -> httpx.Response:
    form = {"logout_token": token, **more}
    return await api.client().post(f"/oidc/back-channel-logout/{provider}", data=form)


async def here(*browsers: httpx.AsyncClient) -> list[bool]:
    """Which of the browsers are signed in."""
    return [(await browser.get(SESSION)).status_code == 200 for browser in browsers]


def refused(answer: httpx.Response) -> str:
    """Why a logout token is refused, in the form of the standard."""
    assert (answer.status_code, answer.headers["cache-control"]) == (400, "no-store"), answer.text
    assert answer.json()["error"] == "invalid_request"
    return str(answer.json()["error_description"])


async def test_the_sessions_of_one_session_at_the_provider_end_or_all_of_the_person(
    api: Api, sso: RunningProvider, admin: httpx.AsyncClient
) -> None:
    ann, _ = await person(api, Role.OPERATOR, "ann@example.com"), await person(api, Role.VIEWER, "bob@example.com")
    command_line = await logged_in(api, ann)
    home, work, bob = [await signed_in(api, sso, *who) for who in (("ann", "1"), ("ann", "2"), ("bob", "3"))]
    unknown = await signed_in(api, sso, "ann")  # the provider did not say in which session

    done = await log_out(api, sso.logout_token(sid="1", sub="ann"), state="ignored")
    assert (done.status_code, done.content, done.headers["cache-control"]) == (200, b"", "no-store")
    assert await here(home, work, unknown, bob) == [False, True, False, True]
    entry = (await items(admin, "/v1/operator/audit-log", operation="backChannelLogout"))[0]
    assert (entry["actor"], entry["status"], entry["project_id"]) == (ann.email, 200, str(api.world.project.id))

    assert (await log_out(api, sso.logout_token(sid="1", sub="ann"))).status_code == 200  # signed out already
    assert (await log_out(api, sso.logout_token(sid="2", sub="bob"))).status_code == 200  # a session of somebody else
    assert await here(work, bob) == [True, True]
    assert (await log_out(api, sso.logout_token({"typ": None}, sid="2"))).status_code == 200
    assert await here(work, bob) == [False, True]
    again, elsewhere = await signed_in(api, sso, "ann", "4"), await signed_in(api, sso, "ann", "5")
    assert (await log_out(api, sso.logout_token(sub="ann"))).status_code == 200
    assert await here(again, elsewhere, bob) == [False, False, True]
    assert (await command_line.get("/v1/me")).json()["user"]["email"] == ann.email  # ends with the membership


async def test_a_logout_token_takes_effect_once(api: Api, sso: RunningProvider) -> None:
    await person(api, Role.VIEWER, "ann@example.com")
    first = await signed_in(api, sso, "ann", "1")
    token = sso.logout_token(sub="ann")
    assert (await log_out(api, token)).status_code == 200
    second = await signed_in(api, sso, "ann", "2")
    assert (await log_out(api, token)).status_code == 200
    assert await here(first, second) == [False, True]


@pytest.mark.parametrize("claims", [{"sub": "ann"}, {"sid": "1"}, {"sub": "ann", "sid": "1"}], ids=str)
async def test_a_sign_in_on_its_way_ends_with_the_session_at_the_provider(
    api: Api, sso: RunningProvider, monkeypatch: pytest.MonkeyPatch, claims: dict[str, str]
) -> None:
    await person(api, Role.VIEWER, "ann@example.com")
    providers = api.services.providers
    identify = providers.identify

    async def and_signs_out(*args: Any, **options: Any) -> Identity:
        identity = await identify(*args, **options)
        for each in ({"sub": "bob"}, {"sid": "2"}, claims):
            assert (await log_out(api, sso.logout_token(None, **each))).status_code == 200
        return identity

    monkeypatch.setattr(providers, "identify", and_signs_out)
    sso.person("ann", "ann@example.com", sid="1")
    browser = api.client(**OURS)
    problem(await returned(browser, sso.visit(await start_sign_in(browser))), 410, "sign_in_ended")
    assert await api.count("browser_sessions") == 0
    monkeypatch.undo()
    assert await here(await signed_in(api, sso, "ann", "1")) == [True]


def unsigned(claims: dict[str, object]) -> str:
    parts = ({"alg": "none", "typ": "logout+jwt"}, claims)
    return ".".join(base64.urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=").decode() for part in parts) + "."


@pytest.mark.parametrize(
    ("claims", "header", "why"),
    [
        ({"iss": "https://elsewhere.example"}, {}, "not valid"),
        ({"aud": "another client"}, {}, "not valid"),
        ({"aud": ["ipucloud", "another client"]}, {}, "another client"),
        ({"exp": NOW - 600}, {}, "not valid"),
        ({"exp": None}, {}, "not valid"),
        ({"iat": None}, {}, "not valid"),
        ({"iat": NOW + 3600, "exp": NOW + 7200}, {}, "not valid"),
        ({"iat": NOW - 3600, "exp": NOW + 7200}, {}, "too long ago"),
        ({"jti": None}, {}, "not valid"),
        ({"jti": 5}, {}, "not valid"),
        ({"events": None}, {}, "events"),
        ({"events": {"http://schemas.openid.net/event/other": {}}}, {}, "events"),
        ({"events": {LOGOUT_EVENT: True}}, {}, "events"),
        ({"events": [LOGOUT_EVENT]}, {}, "events"),
        ({"nonce": "of a sign-in"}, {}, "nonce"),
        ({"sub": None}, {}, "neither sub nor sid"),
        ({"sub": ["ann"]}, {}, "not valid"),
        ({"sub": "", "sid": "1"}, {}, "sub"),
        ({"sid": ""}, {}, "sid"),
        ({}, {"typ": "at+jwt"}, "type"),
        ({}, {"alg": "HS256"}, "not valid"),
    ],
)
async def test_a_token_that_is_no_logout_token_for_this_client_changes_nothing(
    api: Api, sso: RunningProvider, claims: dict[str, Any], header: dict[str, Any], why: str
) -> None:
    await person(api, Role.VIEWER, "ann@example.com")
    browser = await signed_in(api, sso, "ann", "1")
    assert why in refused(await log_out(api, sso.logout_token(header, **({"sub": "ann"} | claims))))
    assert await here(browser) == [True]


async def test_only_the_provider_signs_its_logout_tokens(api: Api, sso: RunningProvider) -> None:
    await person(api, Role.VIEWER, "ann@example.com")
    browser = await signed_in(api, sso, "ann", "1")
    good = sso.logout_token(sub="ann")
    claims = orjson.loads(base64.urlsafe_b64decode(good.split(".")[1] + "=="))
    sso.faults(foreign_key=True)
    for token in (sso.logout_token(sub="ann"), unsigned(claims), good[:-8] + "AAAAAAAA", "", "x", "a.b.c", "a.b.c.d.e"):
        assert "not valid" in refused(await log_out(api, token))
    path = "/oidc/back-channel-logout/sso"
    refused(await api.client().post(path, json={"logout_token": good}))
    for body in (
        "",
        "other=field",
        f"logout_token={good}&logout_token={good}",
        "logout_token=%ff",
        "&".join("a" * 200),
    ):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        refused(await api.client().post(path, content=body, headers=form))
    assert "cannot be used now" in refused(await log_out(api, good, "gone"))  # its keys cannot be read
    problem(await log_out(api, good, "nobody"), 404, "not_found")
    problem(await api.client().get(path), 405, "method_not_allowed")
    assert await here(browser) == [True]
    assert (await log_out(api, good)).status_code == 200


async def test_a_provider_ends_no_sessions_of_another(api: Api, sso: RunningProvider, twin: RunningProvider) -> None:
    """Both know a person by the same subject, and a session by the same id."""
    await person(api, Role.VIEWER, "ann@example.com")
    browser = await signed_in(api, sso, "ann", "1")
    token = twin.logout_token(sub="ann", sid="1")
    refused(await log_out(api, token))
    assert (await log_out(api, token, "twin")).status_code == 200
    assert await here(browser) == [True]


async def test_signing_out_here_says_where_to_sign_out_at_the_provider(api: Api, sso: RunningProvider) -> None:
    await person(api, Role.VIEWER, "ann@example.com")
    for sid, hint in (("1", "1"), (None, "ann")):
        browser = await signed_in(api, sso, "ann", sid)
        there = ok(await browser.delete(SESSION))["provider"]
        address, _, query = there.pop("sign_out_url").partition("?")
        assert there == {"name": "sso", "title": "Example Sign-On"}
        back = "http://api/sign-in"
        expected = {"client_id": "ipucloud", "logout_hint": hint, "post_logout_redirect_uri": back}
        assert (address, dict(parse_qsl(query))) == (f"{sso.issuer}/logout", expected)
        assert await here(browser) == [False]


@pytest.mark.parametrize("endpoint", [None, "javascript:alert(1)", "http://[", 5])
async def test_a_provider_without_a_page_to_sign_out_is_not_offered(
    api: Api, sso: RunningProvider, endpoint: object
) -> None:
    await person(api, Role.VIEWER, "ann@example.com")
    sso.faults(discovery={"end_session_endpoint": endpoint})
    browser = api.client(**OURS)
    url = await start_sign_in(browser)  # for which the document is read
    sso.person("ann", "ann@example.com")
    ok(await returned(browser, sso.visit(url)), 201)
    assert ok(await browser.delete(SESSION)) == {"provider": None}
    assert await here(browser) == [False]
