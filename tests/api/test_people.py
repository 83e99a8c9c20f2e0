"""People: invited with a link, members with a role, signed in with a password, gone at once when removed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from ipucloud.identity.passwords import random_password
from ipucloud.identity.people import reset_password
from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import Kind, TokenKind, new_secret
from tests.api.support import Api, key, problem
from tests.support.people import PASSWORD, Person, make_member, make_owned, make_person
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

SESSION, LOGIN, ME = "/v1/session", "/v1/login", "/v1/me"
SHOW, ACCEPT = "/v1/invitations:show", "/v1/invitations:accept"
OURS = {"Sec-Fetch-Site": "same-origin"}


async def invite(api: Api, email: str, role: str = "operator") -> dict[str, Any]:
    answer = await api.owner.post(f"{api.base}/invitations", json={"email": email, "role": role})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def joined(api: Api, email: str, role: str = "operator") -> httpx.AsyncClient:
    """A person who accepted an invitation and signed in to the panel."""
    secret = (await invite(api, email, role))["secret"]
    browser = api.client(**OURS)
    accepted = await browser.post(ACCEPT, json={"secret": secret, "password": PASSWORD})
    assert accepted.status_code == 200, accepted.text
    assert (await browser.post(SESSION, json={"email": email, "password": PASSWORD})).status_code == 201
    return browser


async def person(api: Api, role: Role = Role.VIEWER, email: str | None = None) -> Person:
    async with api.world.database.begin() as connection:
        return await make_person(connection, api.world.project.id, role, email=email)


async def logged_in(api: Api, who: Person, **more: str) -> httpx.AsyncClient:
    answer = await api.client().post(LOGIN, json={"email": who.email, "password": PASSWORD, **more})
    assert answer.status_code == 201, answer.text
    return api.client(answer.json()["token"])


async def events(api: Api, type_: str) -> list[dict[str, Any]]:
    answer = await api.owner.get(f"{api.base}/events", params={"type": type_})
    return [each | {"at": ""} for each in answer.json()["items"]]


async def advance(api: Api, database: Scratch, span: timedelta) -> None:
    async with api.world.database.begin() as connection:
        now = (await connection.execute(sa.text("SELECT app_now()"))).scalar_one()
    stop_clock(database.owner_url, now + span)


async def test_an_invited_person_joins_signs_in_and_is_named_in_events(api: Api) -> None:
    made = await invite(api, "Ann.Lee@Example.COM")
    assert (made["email"], made["state"]) == ("ann.lee@example.com", "open")
    assert made["url"] == f"http://api/invitation#secret={made['secret']}"
    assert not await api.stores(made["secret"])
    browser = api.client(**OURS)
    shown = (await browser.post(SHOW, json={"secret": made["secret"]})).json()
    assert shown["project"] == api.world.project.slug
    assert (shown["role"], shown["has_account"]) == ("operator", False)
    accepted = await browser.post(ACCEPT, json={"secret": made["secret"], "password": PASSWORD})
    assert accepted.json() == shown | {"has_account": True}
    session = await browser.post(SESSION, json={"email": " ann.LEE@example.com".strip(), "password": PASSWORD})
    assert session.status_code == 201, session.text
    assert (session.json()["role"], session.json()["token"]["owner"]) == ("operator", "ann.lee@example.com")
    assert not await api.stores(PASSWORD)

    me = (await browser.get(ME)).json()
    assert me["user"]["email"] == "ann.lee@example.com"
    assert [(each["project"], each["role"]) for each in me["memberships"]] == [(api.world.project.slug, "operator")]
    [member] = (await browser.get(f"{api.base}/members")).json()["items"]
    assert (member["email"], member["role"]) == ("ann.lee@example.com", "operator")
    [kept] = (await api.owner.get(f"{api.base}/invitations")).json()["items"]
    assert (kept["state"], kept["member_id"]) == ("accepted", member["id"])
    assert (await api.owner.get(f"{api.base}/invitations", params={"open": "true"})).json()["items"] == []

    key_json = {
        "name": "desk",
        "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1",
    }
    assert (await browser.post(f"{api.base}/ssh-keys", json=key_json)).status_code == 201
    [by_ann] = await events(api, "ssh_key.created")
    assert by_ann["actor"] == "ann.lee@example.com"
    [invited] = await events(api, "member.invited")
    assert invited["actor"] == me_name(await api.owner.get(ME))
    assert invited["data"] == {"email": "ann.lee@example.com", "role": "operator"}
    [came] = await events(api, "member.joined")
    assert (came["actor"], came["subject_id"]) == ("ann.lee@example.com", member["id"])


def me_name(answer: httpx.Response) -> str:
    name: str = answer.json()["token"]["name"]
    return name


async def test_a_second_project_needs_the_same_password(api: Api) -> None:
    ann, other = await person(api), await api.other_project()
    owner = api.client(other.token.secret)
    made = (
        await owner.post(f"/v1/projects/{other.slug}/invitations", json={"email": ann.email, "role": "owner"})
    ).json()
    anybody = api.client()
    assert (await anybody.post(SHOW, json={"secret": made["secret"]})).json()["has_account"]
    before = await api.snapshot()
    wrong = await anybody.post(ACCEPT, json={"secret": made["secret"], "password": f"{PASSWORD}-not"})
    problem(wrong, 401, "unauthenticated")
    assert await api.snapshot() == before
    accepted = await anybody.post(ACCEPT, json={"secret": made["secret"], "password": PASSWORD})
    assert accepted.status_code == 200

    browser = api.client(**OURS)
    body = {"email": ann.email, "password": PASSWORD}
    session = (await browser.post(SESSION, json=body | {"project": other.slug})).json()
    assert (session["role"], session["project"]["slug"]) == ("owner", other.slug)
    problem(await browser.get(api.base), 404, "not_found")  # a session is in one project
    switched = await browser.put(f"{SESSION}/membership", json={"membership_id": str(ann.member)})
    assert (switched.json()["role"], switched.json()["project"]["slug"]) == ("viewer", api.world.project.slug)
    assert (await browser.get(api.base)).status_code == 200
    bob = await person(api)
    for elsewhere in (str(bob.member), session["token"]["id"][:-4] + "0000"):
        refused = await browser.put(f"{SESSION}/membership", json={"membership_id": elsewhere})
        problem(refused, 404, "not_found")
    problem(
        await (await logged_in(api, ann)).put(f"{SESSION}/membership", json={"membership_id": str(ann.member)}),
        409,
        "state_conflict",
    )
    refused = await browser.post(SESSION, json=body | {"project": "of-others"})
    detail = problem(refused, 403, "not_a_member")["detail"]
    assert other.slug in detail
    assert api.world.project.slug in detail


async def test_invitations_end(api: Api, database: Scratch, stopped_clock: None) -> None:
    anybody, path = api.client(), f"{api.base}/invitations"
    late = await invite(api, "late@example.com")
    problem(await api.owner.post(path, json={"email": "LATE@example.com", "role": "viewer"}), 409, "already_invited")
    repeated = key()
    body = {"email": "eve@example.com", "role": "viewer"}
    first = (await api.owner.post(path, json=body, headers=repeated)).json()
    again = (await api.owner.post(path, json=body, headers=repeated)).json()
    assert again == first | {"secret": None, "url": None}
    renewed = (await api.owner.post(f"{path}/{first['id']}:renew")).json()
    problem(await anybody.post(SHOW, json={"secret": first["secret"]}), 404, "not_found")
    assert (await anybody.post(SHOW, json={"secret": renewed["secret"]})).status_code == 200
    for _ in range(2):
        assert (await api.owner.delete(f"{path}/{first['id']}")).status_code == 204
    for action in (SHOW, ACCEPT):
        sent = {"secret": renewed["secret"]} | ({"password": PASSWORD} if action == ACCEPT else {})
        problem(await anybody.post(action, json=sent), 410, "invitation_ended")
    problem(await api.owner.post(f"{path}/{first['id']}:renew"), 410, "invitation_ended")

    await advance(api, database, timedelta(days=7))
    problem(await anybody.post(ACCEPT, json={"secret": late["secret"], "password": PASSWORD}), 410, "invitation_ended")
    states = {each["email"]: each["state"] for each in (await api.owner.get(path)).json()["items"]}
    assert states == {"late@example.com": "expired", "eve@example.com": "revoked"}
    anew = (await api.owner.post(f"{path}/{late['id']}:renew")).json()
    assert (await anybody.post(ACCEPT, json={"secret": anew["secret"], "password": PASSWORD})).status_code == 200
    problem(await api.owner.post(path, json={"email": "late@example.com", "role": "owner"}), 409, "already_member")
    for secret in ("guess", new_secret(Kind.INVITATION)[0], new_secret(Kind.LINK)[0]):
        problem(await anybody.post(SHOW, json={"secret": secret}), 404, "not_found")


async def test_of_two_who_accept_at_once_one_does(api: Api) -> None:
    secret = (await invite(api, "twice@example.com"))["secret"]
    body = {"secret": secret, "password": PASSWORD}
    answers = await asyncio.gather(*(api.client().post(ACCEPT, json=body) for _ in range(4)))
    assert sorted(each.status_code for each in answers)[0] == 200
    assert sum(each.status_code == 200 for each in answers) == 1
    # The others came after it, or saw no account yet when it was made.
    assert {each.json()["code"] for each in answers if not each.is_success} <= {"invitation_ended", "unauthenticated"}
    members = (await api.owner.get(f"{api.base}/members")).json()["items"]
    assert [each["email"] for each in members] == ["twice@example.com"]


@pytest.mark.parametrize(
    ("password", "code"),
    [("kurz-1", "too_short"), ("passwordpassword", "too_weak"), ("ann.lee@example.com", "too_weak")],
)
async def test_passwords_that_are_easy_to_guess_are_refused(api: Api, password: str, code: str) -> None:
    secret = (await invite(api, "ann.lee@example.com"))["secret"]
    before = await api.snapshot()
    refused = await api.client().post(ACCEPT, json={"secret": secret, "password": password})
    [fault] = problem(refused, 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/password", code)
    assert password not in refused.text
    assert await api.snapshot() == before


async def test_bad_input_changes_nothing(api: Api) -> None:
    who, path = await person(api), f"{api.base}/invitations"
    before = await api.snapshot()
    for body in (
        {"email": "nobody", "role": "viewer"},
        {"email": "a@b", "role": "viewer"},
        {"email": "ann@example.com\n", "role": "viewer"},
        {"email": f"{'a' * 250}@example.com", "role": "viewer"},
        {"email": "ann@example.com"},
        {"email": "ann@example.com", "role": "admin"},
        {"email": "ann@example.com", "role": "payer"},
        {"email": "ann@example.com", "role": "viewer", "project_id": str(who.id)},
    ):
        problem(await api.owner.post(path, json=body), 422, "validation_failed")
    anybody = api.client()
    for sign_in in (
        {"email": who.email},
        {"password": PASSWORD},
        {"email": who.email, "password": PASSWORD, "token": "x"},
        {"token": "x", "project": "x"},
    ):
        problem(await anybody.post(SESSION, json=sign_in), 422, "validation_failed")
    theirs = {"Sec-Fetch-Site": "cross-site"}
    for where, sent in (
        (LOGIN, {"email": who.email, "password": PASSWORD}),
        (ACCEPT, {"secret": "x", "password": "x"}),
    ):
        problem(await anybody.post(where, json=sent, headers=theirs), 403, "cross_site_request")
    role = await api.owner.patch(f"{api.base}/members/{who.member}", json={"role": "support"})
    problem(role, 422, "validation_failed")
    for verb, where in (("PUT", f"{SESSION}/membership"), ("PUT", f"{ME}/password"), ("DELETE", LOGIN)):
        bodies = {
            f"{SESSION}/membership": {"membership_id": str(who.member)},
            f"{ME}/password": {"current_password": PASSWORD, "new_password": f"{PASSWORD}-2"},
        }
        problem(await api.owner.request(verb, where, json=bodies.get(where)), 409, "state_conflict")
    assert await api.snapshot() == before


async def test_a_wrong_password_and_an_unknown_person_are_one_answer_and_are_limited(api: Api) -> None:
    who = await person(api)
    answers = []
    for email in (who.email, "nobody@example.com"):
        for path in (SESSION, LOGIN):
            caller = api.client(address="192.0.2.7")
            refused = problem(
                await caller.post(path, json={"email": email, "password": "wrong"}), 401, "unauthenticated"
            )
            answers.append((refused["detail"], refused["title"]))
    assert len(set(answers)) == 1
    guesser = api.client(address="192.0.2.8")
    bad = {"email": who.email, "password": "wrong"}
    codes = [(await guesser.post(LOGIN, json=bad)).status_code for _ in range(11)]
    assert codes == [401] * 10 + [429]
    limited = await guesser.post(LOGIN, json=bad | {"password": PASSWORD})
    assert int(limited.headers["retry-after"]) >= 1
    problem(limited, 429, "rate_limited")
    elsewhere = api.client(address="198.51.100.1")  # who guesses does not keep the person out
    assert (await elsewhere.post(LOGIN, json=bad | {"password": PASSWORD})).status_code == 201


async def test_a_login_is_the_persons_and_ends(api: Api, database: Scratch, stopped_clock: None) -> None:
    who = await person(api, Role.OWNER)
    caller = await logged_in(api, who, name="desk", project=api.world.project.slug)
    token = (await caller.get("/v1/whoami")).json()["token"]
    assert (token["kind"], token["owner"], token["role"], token["name"]) == ("login", who.email, "owner", "desk")
    listed = {each["id"]: each for each in (await api.owner.get(f"{api.base}/tokens")).json()["items"]}
    assert listed[token["id"]]["owner"] == who.email
    assert str(who.member) not in listed  # a membership is no token to see, to rotate or to revoke
    for verb, path in (("GET", ""), ("DELETE", ""), ("POST", ":rotate")):
        body: dict[str, str] | None = {} if verb == "POST" else None
        gone = await api.owner.request(verb, f"{api.base}/tokens/{who.member}{path}", json=body)
        problem(gone, 404, "not_found")
    rotated = await api.owner.post(f"{api.base}/tokens/{token['id']}:rotate", json={})
    problem(rotated, 409, "state_conflict")
    assert (await caller.delete(LOGIN)).status_code == 204
    problem(await caller.get(ME), 401, "unauthenticated")

    later = await logged_in(api, who)
    await advance(api, database, timedelta(days=30))
    problem(await later.get(ME), 401, "unauthenticated")


async def test_whoever_is_removed_is_out_at_once(api: Api) -> None:
    browser = await joined(api, "gone@example.com", "owner")
    login = await api.client().post(LOGIN, json={"email": "gone@example.com", "password": PASSWORD})
    shell = api.client(login.json()["token"])
    path = f"{api.base}/tokens"
    mine = (await browser.post(path, json={"name": "mine", "role": "viewer"})).json()
    nobodys = (await browser.post(path, json={"name": "ci", "role": "viewer", "service": True})).json()
    assert (mine["kind"], mine["owner"]) == ("personal", "gone@example.com")
    assert (nobodys["kind"], nobodys["owner"]) == ("service", None)
    other_owner = await person(api, Role.OWNER)
    elsewhere = await api.other_project()
    async with api.world.database.begin() as connection:
        user = (await connection.execute(sa.text("SELECT id FROM users WHERE email = 'gone@example.com'"))).scalar_one()
        await make_member(connection, user, elsewhere.id, Role.VIEWER)
    members = (await api.owner.get(f"{api.base}/members")).json()["items"]
    [member] = [each["id"] for each in members if each["email"] == "gone@example.com"]
    await api.owner.post(f"{api.base}/invitations", json={"email": "x@example.com", "role": "viewer"})
    assert (await api.owner.delete(f"{api.base}/members/{member}")).status_code == 204
    for caller in (browser, shell, api.client(mine["token"])):
        problem(await caller.get(api.base), 401, "unauthenticated")
    assert (await api.client(nobodys["token"]).get(api.base)).status_code == 200
    problem(await api.owner.delete(f"{api.base}/members/{member}"), 404, "not_found")
    left = (await api.owner.get(f"{api.base}/members")).json()["items"]
    assert [each["id"] for each in left] == [str(other_owner.member)]
    [gone] = await events(api, "member.removed")
    assert gone["data"] == {"email": "gone@example.com", "role": "owner"}
    again = await api.client(**OURS).post(SESSION, json={"email": "gone@example.com", "password": PASSWORD})
    assert again.json()["project"]["slug"] == elsewhere.slug  # a member there still


async def test_a_new_role_is_there_at_once(api: Api) -> None:
    who = await person(api, Role.OWNER)
    await person(api, Role.OWNER)
    shell = await logged_in(api, who)
    able, unable = [
        (await shell.post(f"{api.base}/tokens", json={"name": role, "role": role})).json()
        for role in ("viewer", "owner")
    ]
    path = f"{api.base}/members/{who.member}"
    changed = await api.owner.patch(path, json={"role": "operator"})
    assert changed.json()["role"] == "operator"
    problem(await shell.get(f"{api.base}/tokens"), 403, "permission_denied")
    assert (await api.client(able["token"]).get(api.base)).status_code == 200
    problem(await api.client(unable["token"]).get(api.base), 401, "unauthenticated")
    assert (await api.owner.patch(path, json={"role": "operator"})).status_code == 200
    [event] = await events(api, "member.role_changed")  # the same role again is no event
    assert event["data"] == {"email": who.email, "role": "operator", "previous": "owner"}


async def test_a_project_with_members_keeps_one_who_owns_it(api: Api) -> None:
    ann, bob = await person(api, Role.OWNER), await person(api, Role.OWNER)
    paths = [f"{api.base}/members/{each.member}" for each in (ann, bob)]
    answers = await asyncio.gather(*(api.owner.delete(path) for path in paths))
    assert sorted(each.status_code for each in answers) == [204, 409]
    [kept] = [path for path, answer in zip(paths, answers, strict=True) if answer.status_code == 409]
    problem(await api.owner.delete(kept), 409, "last_owner")
    problem(await api.owner.patch(kept, json={"role": "viewer"}), 409, "last_owner")


async def test_nobody_rotates_a_token_of_somebody_else(api: Api) -> None:
    ann, bob = await person(api, Role.OWNER), await person(api, Role.OWNER)
    async with api.world.database.begin() as connection:
        token = await make_owned(connection, ann, api.world.project.id, Role.OWNER, TokenKind.PERSONAL)
    path = f"{api.base}/tokens/{token.id}"
    for caller in (await logged_in(api, bob), api.owner):
        problem(await caller.post(f"{path}:rotate", json={}), 403, "permission_denied")
    rotated = (await (await logged_in(api, ann)).post(f"{path}:rotate", json={})).json()
    assert (rotated["kind"], rotated["owner"]) == ("personal", ann.email)
    assert (await (await logged_in(api, bob)).delete(f"{api.base}/tokens/{rotated['id']}")).status_code == 204


async def test_a_new_password_ends_everything_else(api: Api) -> None:
    who = await person(api)
    shell, browser, other = await logged_in(api, who), api.client(**OURS), api.client(**OURS)
    for each in (browser, other):
        await each.post(SESSION, json={"email": who.email, "password": PASSWORD})
    new = "lantern-ferry-basil-09"
    body = {"current_password": PASSWORD, "new_password": new}
    wrong = problem(
        await browser.put(f"{ME}/password", json=body | {"current_password": "x"}), 422, "validation_failed"
    )
    assert wrong["errors"][0]["code"] == "wrong"
    weak = await browser.put(f"{ME}/password", json=body | {"new_password": "passwordpassword"})
    problem(weak, 422, "validation_failed")
    assert (await browser.put(f"{ME}/password", json=body)).status_code == 204
    assert (await browser.get(ME)).status_code == 200
    for each in (shell, other):
        problem(await each.get(ME), 401, "unauthenticated")
    sign_in = {"email": who.email, "password": PASSWORD}
    problem(await other.post(SESSION, json=sign_in), 401, "unauthenticated")
    assert (await other.post(SESSION, json=sign_in | {"password": new})).status_code == 201


async def test_a_payer_is_invited_by_an_administrator(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    account = f"/v1/billing/accounts/{api.world.project.id}"
    made = (await admin.post(f"{account}/invitations", json={"email": "pay@example.com"})).json()
    problem(
        await admin.post(
            "/v1/billing/accounts/0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2bff/invitations", json={"email": "pay@example.com"}
        ),
        404,
        "not_found",
    )
    accepted = await api.client().post(ACCEPT, json={"secret": made["secret"], "password": PASSWORD})
    assert (accepted.json()["role"], accepted.json()["project"]) == ("payer", None)
    browser = api.client(**OURS)
    session = (await browser.post(SESSION, json={"email": "pay@example.com", "password": PASSWORD})).json()
    assert (session["role"], session["project"]) == ("payer", None)
    [member] = (await browser.get(f"{account}/members")).json()["items"]
    problem(await browser.get(api.base), 404, "not_found")
    seen = (await browser.get(f"{account}/events", params={"type": "member.joined"})).json()["items"]
    assert [each["actor"] for each in seen] == ["pay@example.com"]
    assert (await admin.delete(f"{account}/members/{member['id']}")).status_code == 204
    problem(await browser.get(account), 401, "unauthenticated")


async def test_a_deleted_project_has_no_members_and_no_invitations(api: Api) -> None:
    project, admin = await api.other_project(), await api.caller(Role.ADMIN)
    async with api.world.database.begin() as connection:
        ann = await make_person(connection, project.id)
    shell = await logged_in(api, ann)
    secret = (
        await admin.post(
            f"/v1/projects/{project.slug}/invitations", json={"email": "new@example.com", "role": "viewer"}
        )
    ).json()["secret"]
    assert (await admin.delete(f"/v1/projects/{project.slug}")).status_code == 204
    problem(await shell.get(ME), 401, "unauthenticated")
    problem(await api.client().post(LOGIN, json={"email": ann.email, "password": PASSWORD}), 403, "not_a_member")
    refused = await api.client().post(ACCEPT, json={"secret": secret, "password": PASSWORD})
    problem(refused, 410, "invitation_ended")


async def test_an_operator_gives_a_new_password(api: Api) -> None:
    who = await person(api)
    shell, service = await logged_in(api, who), api.services
    new = random_password()
    hashed = await service.passwords.hash(new)
    async with api.world.database.begin() as connection:
        assert not await reset_password(connection, "nobody@example.com", hashed)
        assert await reset_password(connection, who.email, hashed)
    problem(await shell.get(ME), 401, "unauthenticated")
    answer = await api.client().post(LOGIN, json={"email": who.email, "password": new})
    assert answer.status_code == 201
