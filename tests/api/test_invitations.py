"""Invitations: a link makes its holder a member, once, with a password that is hard to guess, until it ends."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import Kind, new_secret
from tests.api.people import ACCEPT, ME, OURS, SESSION, SHOW, advance, events, invite, logged_in, person
from tests.api.support import PUBLIC_KEY, Api, faults_of, key, ok, problem
from tests.support.people import PASSWORD
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio


async def test_an_invited_person_joins_signs_in_and_is_named_in_events(api: Api) -> None:
    invitation = await invite(api, "Ann.Lee@Example.COM")
    assert (invitation["email"], invitation["state"]) == ("ann.lee@example.com", "open")
    assert invitation["url"] == f"http://api/invitation#secret={invitation['secret']}"
    assert not await api.stores(invitation["secret"])
    browser = api.client(**OURS)
    shown = (await browser.post(SHOW, json={"secret": invitation["secret"]})).json()
    assert shown["project"] == api.world.project.slug
    assert (shown["role"], shown["has_account"]) == ("operator", False)
    accepted = await browser.post(ACCEPT, json={"secret": invitation["secret"], "password": PASSWORD})
    assert accepted.json() == shown | {"has_account": True}
    session = ok(await browser.post(SESSION, json={"email": " ann.LEE@example.com".strip(), "password": PASSWORD}), 201)
    assert (session["role"], session["token"]["owner"]) == ("operator", "ann.lee@example.com")
    assert not await api.stores(PASSWORD)

    me = (await browser.get(ME)).json()
    assert me["user"]["email"] == "ann.lee@example.com"
    assert [(each["project"], each["role"]) for each in me["memberships"]] == [(api.world.project.slug, "operator")]
    [member] = (await browser.get(f"{api.base}/members")).json()["items"]
    assert (member["email"], member["role"]) == ("ann.lee@example.com", "operator")
    [kept] = (await api.owner.get(f"{api.base}/invitations")).json()["items"]
    assert (kept["state"], kept["member_id"]) == ("accepted", member["id"])
    assert (await api.owner.get(f"{api.base}/invitations", params={"open": "true"})).json()["items"] == []

    ok(await browser.post(f"{api.base}/ssh-keys", json={"name": "desk", "public_key": PUBLIC_KEY}), 201)
    [by_ann] = await events(api, "ssh_key.created")
    assert by_ann["actor"] == "ann.lee@example.com"
    [invited] = await events(api, "member.invited")
    assert invited["actor"] == (await api.owner.get(ME)).json()["token"]["name"]
    assert invited["data"] == {"email": "ann.lee@example.com", "role": "operator"}
    [came] = await events(api, "member.joined")
    assert (came["actor"], came["subject_id"]) == ("ann.lee@example.com", member["id"])


async def test_a_second_project_needs_the_same_password(api: Api) -> None:
    ann, other = await person(api), await api.other_project()
    owner = api.client(other.token.secret)
    invitation = (
        await owner.post(f"/v1/projects/{other.slug}/invitations", json={"email": ann.email, "role": "owner"})
    ).json()
    anybody = api.client()
    assert (await anybody.post(SHOW, json={"secret": invitation["secret"]})).json()["has_account"]
    before = await api.snapshot()
    wrong = await anybody.post(ACCEPT, json={"secret": invitation["secret"], "password": f"{PASSWORD}-not"})
    problem(wrong, 401, "unauthenticated")
    assert await api.snapshot() == before
    ok(await anybody.post(ACCEPT, json={"secret": invitation["secret"], "password": PASSWORD}))

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
    refused = await (await logged_in(api, ann)).put(f"{SESSION}/membership", json={"membership_id": str(ann.member)})
    problem(refused, 409, "state_conflict")
    detail = problem(await browser.post(SESSION, json=body | {"project": "of-others"}), 403, "not_a_member")["detail"]
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
    assert faults_of(refused) == [("/password", code)]
    assert password not in refused.text
    assert await api.snapshot() == before


async def test_a_payer_is_invited_by_an_administrator(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    account = f"/v1/billing/accounts/{api.world.project.id}"
    invitation = (await admin.post(f"{account}/invitations", json={"email": "pay@example.com"})).json()
    nobody = f"/v1/billing/accounts/{UUID(int=5)}/invitations"
    problem(await admin.post(nobody, json={"email": "pay@example.com"}), 404, "not_found")
    accepted = await api.client().post(ACCEPT, json={"secret": invitation["secret"], "password": PASSWORD})
    assert (accepted.json()["role"], accepted.json()["project"]) == ("payer", None)
    browser = api.client(**OURS)
    session = (await browser.post(SESSION, json={"email": "pay@example.com", "password": PASSWORD})).json()
    assert (session["role"], session["project"]) == ("payer", None)
    [member] = (await browser.get(f"{account}/members")).json()["items"]
    problem(await browser.get(api.base), 404, "not_found")
    items = (await browser.get(f"{account}/events", params={"type": "member.joined"})).json()["items"]
    assert [each["actor"] for each in items] == ["pay@example.com"]
    assert (await admin.delete(f"{account}/members/{member['id']}")).status_code == 204
    problem(await browser.get(account), 401, "unauthenticated")
