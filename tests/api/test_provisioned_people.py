"""People whom an identity provider keeps: they sign in while they are active, and nothing of theirs works then."""

from __future__ import annotations

import asyncio

import httpx
import pytest
import structlog

from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import TokenKind
from ipucloud.identity.verification import reset_password
from tests.api.people import ACCEPT, BY_HAND, LOGIN, OURS, SESSION, events, invite, logged_in, person
from tests.api.support import PUBLIC_KEY, UNLIMITED, Api, items, ok, problem
from tests.api.test_device_logins import DEVICES, begin_login, browser_of, fetched
from tests.api.test_provider_sign_in import returned, signed_in
from tests.api.test_provider_sign_in import start_sign_in as at_provider
from tests.api.test_scim import created, names
from tests.api.test_ssh_certificates import in_use, sign_key
from tests.support.oidc_provider import RunningProvider
from tests.support.people import PASSWORD, Person, make_member, make_owned
from tests.support.scim import USERS, activity, identity_provider, patch_json, scim_error

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(sso: RunningProvider) -> dict[str, object]:
    return UNLIMITED | {"oidc_providers": [sso.settings()]}


async def set_active(provider: httpx.AsyncClient, user_id: object, *, active: bool) -> None:
    answer = await provider.patch(f"{USERS}/{user_id}", json=activity(active=active))
    assert (answer.status_code, answer.json()["active"]) == (200, active), answer.text


async def living_tokens(api: Api, who: Person) -> int:
    statement = "SELECT count(*) FROM tokens WHERE owner_id = :id AND revoked_at IS NULL"
    return int(await api.world.value(statement, id=who.id))


async def by_password(api: Api, email: str, path: str = SESSION) -> httpx.Response:
    return await api.client(**OURS).post(path, json={"email": email, "password": PASSWORD})


async def test_a_provisioned_person_signs_in_once_invited(api: Api, sso: RunningProvider) -> None:
    provider = await identity_provider(api)
    user = await created(provider, "Bea@Example.com", externalId="00u7")
    sso.person("subject-bea", "bea@example.com")
    problem(await signed_in(api, sso), 403, "not_a_member")
    problem(await by_password(api, "bea@example.com"), 401, "unauthenticated")  # there is none
    browser = api.client(**OURS)
    secret = (await invite(api, "bea@example.com", "viewer"))["secret"]
    ok(await returned(browser, sso.visit(await at_provider(browser, secret))), 201)
    assert (await browser.get("/v1/me")).json()["user"]["id"] == user["id"]

    renamed = patch_json({"op": "replace", "path": "userName", "value": "bea.lee@example.com"})
    assert (await provider.patch(f"{USERS}/{user['id']}", json=renamed)).status_code == 200
    sso.person("subject-bea", "bea.lee@example.com")
    again = await signed_in(api, sso)
    assert (again.status_code, again.json()["token"]["owner"]) == (201, "bea.lee@example.com")
    [member] = await items(api.owner, f"{api.base}/members")
    assert member["email"] == "bea.lee@example.com"


async def test_nothing_of_a_deactivated_person_works_until_they_are_active_again(
    api: Api, sso: RunningProvider
) -> None:
    provider, cluster = await identity_provider(api), f"{api.base}/clusters/{await in_use(api)}"
    ann, bob = await person(api, Role.OPERATOR), await person(api, Role.OPERATOR)
    other = await api.other_project()
    async with api.world.database.begin() as connection:
        await make_member(connection, ann.id, other.id, Role.VIEWER)
        personal = await make_owned(connection, ann, other.id, Role.VIEWER, TokenKind.PERSONAL)
    sso.person("subject-ann", ann.email)
    assert (await signed_in(api, sso)).status_code == 201
    browser, login = await browser_of(api, ann), await logged_in(api, ann)
    where = {"project": api.world.project.slug}
    waiting, approved = await begin_login(api, **where), await begin_login(api, **where)
    assert (await browser.post(f"{DEVICES}:approve", json={"user_code": approved["user_code"]})).status_code == 204
    (await sign_key(login, cluster)).raise_for_status()
    third = api.client((await api.other_project()).token.secret)
    home = (await third.get("/v1/me")).json()["project"]["slug"]
    open_ = await third.post(f"/v1/projects/{home}/invitations", json={"email": ann.email, "role": "viewer"})
    bobs = await browser_of(api, bob)

    await set_active(provider, ann.id, active=False)
    for caller in (browser, login, api.client(personal.secret)):
        problem(await caller.get("/v1/me"), 401, "unauthenticated")
    problem(await sign_key(login, cluster), 401, "unauthenticated")
    problem(await browser.post(f"{DEVICES}:approve", json={"user_code": waiting["user_code"]}), 401, "unauthenticated")
    assert await living_tokens(api, ann) == 0
    assert (await bobs.get("/v1/me")).status_code == 200
    [removal] = await events(api, "member.removed")
    assert (removal["actor"], removal["subject_id"]) == ("directory", str(ann.member))
    assert removal["data"]["email"] == ann.email
    elsewhere = await api.client(other.token.secret).get(f"/v1/projects/{other.slug}/events?type=member.removed")
    [removal] = elsewhere.json()["items"]
    assert removal["data"] == {"email": ann.email, "role": "viewer", "reason": None}
    refused = await api.client().post(ACCEPT, json={"secret": open_.json()["secret"], "password": PASSWORD})
    problem(refused, 410, "invitation_ended")

    fresh = (await invite(api, ann.email))["secret"]
    accepting = {"secret": fresh, "password": PASSWORD}
    guest = api.client(**OURS)
    refusals = {
        "session": await by_password(api, ann.email),
        "login": await by_password(api, ann.email, LOGIN),
        "device": await fetched(api, approved),
        "provider": await signed_in(api, sso),
        "invitation": await api.client().post(ACCEPT, json=accepting),
        "invitation at the provider": await returned(guest, sso.visit(await at_provider(guest, fresh))),
    }
    for way, answer in refusals.items():
        if way == "device":
            problem(answer, 403, "not_a_member")  # the membership that approved it is gone
        else:
            assert "identity provider" in problem(answer, 403, "account_deactivated")["detail"], way
    refused = await api.client(**OURS).post(SESSION, json={"email": ann.email, "password": "wrong"})
    problem(refused, 401, "unauthenticated")
    async with api.world.database.begin() as connection:
        assert not await reset_password(connection, ann.email, "x", BY_HAND)
    assert await living_tokens(api, ann) == 0

    await set_active(provider, ann.id, active=True)
    problem(await by_password(api, ann.email), 403, "not_a_member")
    problem(await login.get("/v1/me"), 401, "unauthenticated")
    assert (await api.client().post(ACCEPT, json=accepting)).status_code == 200
    assert (await signed_in(api, sso)).status_code == 201
    assert (await by_password(api, ann.email)).status_code == 201


async def test_a_deleted_person_is_gone_and_the_name_is_free_for_another(api: Api, sso: RunningProvider) -> None:
    provider, ann = await identity_provider(api), await person(api, Role.OPERATOR)
    sso.person("subject-gone", ann.email)
    assert (await signed_in(api, sso)).status_code == 201
    key = {"name": "desk", "public_key": PUBLIC_KEY}
    ok(await (await logged_in(api, ann)).post(f"{api.base}/ssh-keys", json=key), 201)
    path = f"{USERS}/{ann.id}"
    assert (await provider.patch(path, json=patch_json({"op": "add", "value": {"displayName": "Ann Lee"}}))).is_success
    answer = await provider.delete(path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert await living_tokens(api, ann) == 0
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", activity(active=True))):
        scim_error(await provider.request(method, path, json=body), 404)
    assert await names(provider, filter=f'userName eq "{ann.email}"') == []
    assert not await api.stores("Ann Lee")
    problem(await by_password(api, ann.email), 401, "unauthenticated")
    problem(await signed_in(api, sso), 403, "account_deactivated")
    secret = (await invite(api, ann.email))["secret"]
    accepting = {"secret": secret, "password": PASSWORD}
    problem(await api.client().post(ACCEPT, json=accepting), 403, "account_deactivated")
    [kept] = await events(api, "ssh_key.created")
    assert kept["actor"] == ann.email

    user = await created(provider, ann.email)
    assert user["id"] != str(ann.id)
    scim_error(await provider.get(path), 404)
    problem(await signed_in(api, sso), 403, "not_a_member")  # nothing of the first is of the second
    problem(await by_password(api, ann.email), 401, "unauthenticated")
    browser = api.client(**OURS)
    ok(await returned(browser, sso.visit(await at_provider(browser, secret))), 201)
    assert (await browser.get("/v1/me")).json()["user"]["id"] == user["id"]


async def test_the_last_owner_goes_too_and_an_administrator_names_another(api: Api) -> None:
    provider, ann, bob = await identity_provider(api), await person(api, Role.OWNER), await person(api, Role.OPERATOR)
    browser, members = await browser_of(api, ann), f"{api.base}/members"
    with structlog.testing.capture_logs() as logs:
        await set_active(provider, ann.id, active=False)
    assert [each["projects"] for each in logs if each["event"] == "projects_without_owner"] == [
        [api.world.project.slug]
    ]
    assert (await browser.get("/v1/me")).status_code == 401
    assert [each["email"] for each in await items(api.owner, members)] == [bob.email]
    admin = await api.caller(Role.ADMIN)
    assert (await admin.patch(f"{members}/{bob.member}", json={"role": "owner"})).status_code == 200
    await set_active(provider, bob.id, active=False)
    assert await items(api.owner, members) == []


async def test_whoever_is_created_inactive_cannot_join(api: Api, sso: RunningProvider) -> None:
    provider = await identity_provider(api)
    await created(provider, "cy@example.com", active=False)
    sso.person("subject-cy", "cy@example.com")
    secret = (await invite(api, "cy@example.com"))["secret"]
    problem(await signed_in(api, sso), 403, "account_deactivated")
    problem(await api.client().post(ACCEPT, json={"secret": secret, "password": PASSWORD}), 403, "account_deactivated")


async def test_whoever_signs_in_meanwhile_keeps_nothing(api: Api) -> None:
    provider = await identity_provider(api)
    for _ in range(4):
        ann = await person(api, Role.OPERATOR)
        login = await logged_in(api, ann)
        body = {"name": "mine", "role": "viewer"}
        answers = await asyncio.gather(
            by_password(api, ann.email, LOGIN),
            login.post(f"{api.base}/tokens", json=body),
            by_password(api, ann.email),
            provider.patch(f"{USERS}/{ann.id}", json=activity(active=False)),
            by_password(api, ann.email, LOGIN),
            login.post(f"{api.base}/tokens", json=body),
        )
        assert answers[3].status_code == 200
        assert {each.status_code for each in answers} <= {200, 201, 401, 403}
        assert await living_tokens(api, ann) == 0
