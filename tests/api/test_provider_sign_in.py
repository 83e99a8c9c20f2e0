"""Signing in through an OpenID Connect provider, which is a process of its own."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from ipucloud.identity.roles import Role
from ipucloud.identity.verification import reset_password
from tests.api.people import BY_HAND, OURS, person
from tests.api.support import UNLIMITED, Api, ok, problem
from tests.support.oidc_provider import RunningProvider
from tests.support.people import PASSWORD, Person
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

SESSION, PROVIDERS, BEGIN = "/v1/session", "/v1/sign-in-providers", "/v1/sign-in-providers/sso/sign-ins"


@pytest.fixture
def settings(sso: RunningProvider) -> dict[str, object]:
    silent = {"name": "gone", "title": "Gone Sign-On", "issuer": "http://127.0.0.1:1", "timeout": 0.5}
    return UNLIMITED | {"oidc_providers": [sso.settings(), sso.settings() | silent]}


async def member(api: Api, email: str) -> Person:
    return await person(api, Role.OPERATOR, email)


async def start_sign_in(browser: httpx.AsyncClient, invitation: str | None = None) -> str:
    url: str = ok(await browser.post(BEGIN, json={"invitation": invitation} if invitation else {}), 201)["url"]
    return url


async def returned(browser: httpx.AsyncClient, brought: dict[str, str], **more: object) -> httpx.Response:
    return await browser.post(SESSION, json={"authorization_code": brought["code"], "state": brought["state"], **more})


async def signed_in(api: Api, sso: RunningProvider, **more: object) -> httpx.Response:
    browser = api.client(**OURS)
    return await returned(browser, sso.visit(await start_sign_in(browser)), **more)


async def test_a_member_signs_in_and_stays_who_they_are_when_their_address_changes(
    api: Api, sso: RunningProvider
) -> None:
    assert (await api.client().get(PROVIDERS)).json()["items"] == [
        {"name": "sso", "title": "Example Sign-On"},
        {"name": "gone", "title": "Gone Sign-On"},
    ]
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", "Ann@Example.com")
    browser = api.client(**OURS)
    brought = sso.visit(await start_sign_in(browser))
    session = ok(await returned(browser, brought), 201)
    assert (session["token"]["owner"], session["role"]) == (ann.email, "operator")
    assert (await browser.get("/v1/me")).json()["user"]["id"] == str(ann.id)
    for secret in (brought["code"], brought["state"]):
        assert not await api.stores(secret)
    problem(await returned(browser, brought), 410, "sign_in_ended")  # once

    sso.person("subject-ann", "ann.lee@example.com")
    assert (await signed_in(api, sso)).json()["token"]["owner"] == ann.email
    sso.person("somebody-new", "ann@example.com")  # the address has another holder at the provider
    problem(await signed_in(api, sso), 409, "identity_conflict")
    async with api.world.database.begin() as connection:
        assert await reset_password(connection, ann.email, "x", BY_HAND)
    assert (await signed_in(api, sso)).status_code == 201


async def test_an_invited_person_joins_by_signing_in_without_a_password(api: Api, sso: RunningProvider) -> None:
    sso.person("subject-bea", "bea@example.com")
    problem(await signed_in(api, sso), 403, "no_account")
    body = {"email": "bea@example.com", "role": "viewer"}
    invitation = (await api.owner.post(f"{api.base}/invitations", json=body)).json()["secret"]
    browser = api.client(**OURS)
    session = ok(await returned(browser, sso.visit(await start_sign_in(browser, invitation))), 201)
    assert (session["role"], session["project"]["slug"]) == ("viewer", api.world.project.slug)
    assert (await browser.get("/v1/me")).json()["user"]["password_set_at"] is None
    change = {"current_password": PASSWORD, "new_password": "another-quiet-harbour-7"}
    problem(await browser.put("/v1/me/password", json=change), 409, "state_conflict")
    by_password = await api.client(**OURS).post(SESSION, json={"email": "bea@example.com", "password": PASSWORD})
    problem(by_password, 401, "unauthenticated")
    problem(await browser.post(BEGIN, json={"invitation": invitation}), 410, "invitation_ended")
    assert (await signed_in(api, sso, project=api.world.project.slug)).status_code == 201

    other = (await api.owner.post(f"{api.base}/invitations", json=body | {"email": "cy@example.com"})).json()["secret"]
    problem(await returned(browser, sso.visit(await start_sign_in(browser, other))), 403, "permission_denied")
    assert (await api.client(**OURS).post("/v1/invitations:show", json={"secret": other})).status_code == 200


NOW = int(time.time())


@pytest.mark.parametrize(
    "faults",
    [
        {"claims": {"nonce": "of another sign-in"}},
        {"claims": {"exp": NOW - 600}},
        {"claims": {"aud": "another client"}},
        {"claims": {"aud": ["ipucloud", "another client"]}},
        {"claims": {"azp": "another client"}},
        {"claims": {"nonce": None}},
        {"claims": {"iss": "https://elsewhere.example"}},
        {"claims": {"sub": ""}},
        {"foreign_key": True},
    ],
    ids=["nonce", "expired", "audience", "two audiences", "authorized party", "no nonce", "issuer", "subject", "key"],
)
async def test_an_id_token_that_is_not_of_this_sign_in_is_refused(
    api: Api, sso: RunningProvider, faults: dict[str, Any]
) -> None:
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", ann.email)
    browser = api.client(**OURS)
    brought = sso.visit(await start_sign_in(browser))
    sso.faults(**faults)
    problem(await returned(browser, brought), 401, "identity_refused")
    assert await api.count("browser_sessions") == await api.count("user_identities") == 0


async def test_only_the_browser_that_began_finishes_with_the_code_it_got(
    api: Api, sso: RunningProvider, database: Scratch
) -> None:
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", ann.email)
    browser, other = api.client(**OURS), api.client(**OURS)
    brought, elsewhere = sso.visit(await start_sign_in(browser)), sso.visit(await start_sign_in(other))
    problem(await returned(other, brought), 410, "sign_in_ended")
    problem(await returned(api.client(**OURS), brought), 410, "sign_in_ended")
    problem(await returned(browser, brought | {"state": "ipt_none"}), 410, "sign_in_ended")
    # a code of another sign-in: the provider compares its challenge
    problem(await returned(browser, brought | {"code": elsewhere["code"]}), 401, "identity_refused")
    problem(await returned(browser, brought), 410, "sign_in_ended")
    assert (await returned(other, elsewhere)).status_code == 201
    problem(await api.client(**{"Sec-Fetch-Site": "cross-site"}).post(BEGIN, json={}), 403, "cross_site_request")
    problem(await browser.post(SESSION, json={"state": brought["state"]}), 422, "validation_failed")
    problem(await browser.post(f"{PROVIDERS}/nobody/sign-ins", json={}), 404, "not_found")


async def test_an_email_counts_only_if_it_is_verified_and_of_a_trusted_domain(api: Api, sso: RunningProvider) -> None:
    await member(api, "ann@example.com")
    await member(api, "ann@example.org")
    for email, verified in (("ann@example.com", False), ("ann@example.org", True), ("nonsense", True)):
        sso.person("subject-ann", email, verified=verified)
        problem(await signed_in(api, sso), 403, "email_not_verified")
    assert (await api.count("users"), await api.count("user_identities")) == (2, 0)


EVE = {"email": "eve@example.com", "email_verified": True}
NO_EMAIL = {"email": None, "email_verified": None}


@pytest.mark.parametrize(
    ("claims", "userinfo", "claim", "status"),
    [
        ({"email": None, "email_verified": True}, {"email": "ann@example.com"}, "email", 403),
        ({"email": None, "email_verified": True}, {"email": "ann@example.com", "email_verified": False}, "email", 403),
        ({"email_verified": None}, {"email": "ann@example.com", "email_verified": True}, "email", 201),
        ({"email_verified": None}, EVE, "email", 403),
        ({"email_verified": None}, {"email": "ann@example.com"}, "email", 403),
        ({"email_verified": False}, {"email": "ann@example.com", "email_verified": True}, "email", 403),
        ({"email_verified": "True"}, {}, "email", 201),
        ({"email_verified": "1"}, {}, "email", 403),
        (NO_EMAIL, {"email": "ann@example.com", "email_verified": True}, "email", 201),
        ({"email": "eve@example.com"}, {"upn": "ann@example.com"}, "upn", 403),
        ({"email": "eve@example.com", "upn": "ann@example.com"}, {}, "upn", 403),
        (NO_EMAIL, {"email": "eve@example.com", "upn": "ann@example.com", "email_verified": True}, "upn", 403),
        (NO_EMAIL, {"upn": "ann@example.com", "email_verified": True}, "upn", 201),
    ],
)
async def test_that_an_email_is_verified_is_said_by_the_document_with_the_email_and_about_it(
    api: Api, sso: RunningProvider, *, claims: dict[str, Any], userinfo: dict[str, Any], claim: str, status: int
) -> None:
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", ann.email)
    faults: dict[str, Any] = {"claims": claims, "userinfo": {"sub": "subject-ann", **userinfo}}
    sso.faults(**faults)
    object.__setattr__(api.services.providers.all["sso"], "email_claim", claim)
    answer = await signed_in(api, sso)
    assert answer.status_code == status, answer.text
    if status == 403:
        problem(answer, 403, "no_account" if userinfo == EVE else "email_not_verified")


@pytest.mark.parametrize("verified", [None, False, "false"])
async def test_an_operator_vouches_for_a_provider_that_does_not_say_that_emails_are_verified(
    api: Api, sso: RunningProvider, verified: object
) -> None:
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", ann.email)
    sso.faults(claims={"email_verified": verified})
    refused = problem(await signed_in(api, sso), 403, "email_not_verified")["detail"]
    assert f"email_verified is {'missing' if verified is None else 'not true'}" in refused
    object.__setattr__(api.services.providers.all["sso"], "emails_are_verified", True)
    assert (await signed_in(api, sso)).status_code == 201
    sso.faults(claims={"email": "ann@example.org", "email_verified": verified})  # of no domain that is trusted
    assert "does not trust" in problem(await signed_in(api, sso), 403, "email_not_verified")["detail"]
    sso.faults(claims={"email": None, "email_verified": verified})
    assert "does not send your e-mail" in problem(await signed_in(api, sso), 403, "email_not_verified")["detail"]


async def test_keys_that_cannot_be_used_stop_nobody(api: Api, sso: RunningProvider) -> None:
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", ann.email)
    curve = {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA", "kid": "new"}
    others = [{"kty": "AKP", "pub": "AA"}, {"kty": "RSA", "n": "?", "e": "AQAB"}, {"kty": ["EC"]}, {}, 5, None]
    sso.faults(keys=[curve, curve | {"crv": "P-256"}, {"kty": "OKP", "crv": "X", "x": "AA"}, *others])
    answer = await signed_in(api, sso)
    assert answer.status_code == 201, answer.text


async def test_a_provider_that_does_not_answer_is_named(api: Api, sso: RunningProvider) -> None:
    ann = await member(api, "ann@example.com")
    sso.person("subject-ann", ann.email)
    browser = api.client(**OURS)
    for name in ("authorization_endpoint", "userinfo_endpoint"):
        sso.faults(discovery={name: "http://["}, userinfo={})
        problem(await browser.post(BEGIN, json={}), 503, "provider_unavailable")
    sso.faults()
    refused = problem(await browser.post(f"{PROVIDERS}/gone/sign-ins", json={}), 503, "provider_unavailable")
    assert "Gone Sign-On" in refused["detail"]
    brought = sso.visit(await start_sign_in(browser))
    sso.faults(status=500)
    problem(await returned(browser, brought), 503, "provider_unavailable")
    object.__setattr__(api.services.providers.all["sso"], "timeout", 0.3)
    sso.faults()
    brought = sso.visit(await start_sign_in(browser))
    sso.faults(hang=True)
    problem(await returned(browser, brought), 503, "provider_unavailable")
