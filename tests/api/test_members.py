"""Members: a role changes at once, whoever is removed is out at once, and a project keeps an owner."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from ipucloud.identity.roles import Role
from tests.api.people import ACCEPT, LOGIN, ME, OURS, SESSION, events, joined, logged_in, person
from tests.api.support import Api, faults_of, items, ok, problem
from tests.support.people import PASSWORD, make_member, make_person

pytestmark = pytest.mark.anyio


async def test_whoever_is_removed_is_out_at_once(api: Api) -> None:
    browser = await joined(api, "gone@example.com", "owner")
    login = await api.client().post(LOGIN, json={"email": "gone@example.com", "password": PASSWORD})
    shell = api.client(login.json()["token"])
    path = f"{api.base}/tokens"
    personal = (await browser.post(path, json={"name": "mine", "role": "viewer"})).json()
    service = (await browser.post(path, json={"name": "ci", "role": "viewer", "service": True})).json()
    assert (personal["kind"], personal["owner"]) == ("personal", "gone@example.com")
    assert (service["kind"], service["owner"]) == ("service", None)
    other_owner = await person(api, Role.OWNER)
    elsewhere = await api.other_project()
    user = await api.world.value("SELECT id FROM users WHERE email = 'gone@example.com'")
    async with api.world.database.begin() as connection:
        await make_member(connection, user, elsewhere.id, Role.VIEWER)
    members = await items(api.owner, f"{api.base}/members")
    [member] = [each["id"] for each in members if each["email"] == "gone@example.com"]
    await api.owner.post(f"{api.base}/invitations", json={"email": "x@example.com", "role": "viewer"})
    assert (await api.owner.delete(f"{api.base}/members/{member}")).status_code == 204
    for caller in (browser, shell, api.client(personal["token"])):
        problem(await caller.get(api.base), 401, "unauthenticated")
    assert (await api.client(service["token"]).get(api.base)).status_code == 200
    problem(await api.owner.delete(f"{api.base}/members/{member}"), 404, "not_found")
    remaining = await items(api.owner, f"{api.base}/members")
    assert [each["id"] for each in remaining] == [str(other_owner.member)]
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


async def test_a_deleted_project_has_no_members_and_no_invitations(api: Api) -> None:
    project, admin = await api.other_project(), await api.caller(Role.ADMIN)
    async with api.world.database.begin() as connection:
        ann = await make_person(connection, project.id)
    shell = await logged_in(api, ann)
    new = {"email": "new@example.com", "role": "viewer"}
    secret = ok(await admin.post(f"/v1/projects/{project.slug}/invitations", json=new), 201)["secret"]
    assert (await admin.delete(f"/v1/projects/{project.slug}")).status_code == 204
    problem(await shell.get(ME), 401, "unauthenticated")
    problem(await api.client().post(LOGIN, json={"email": ann.email, "password": PASSWORD}), 403, "not_a_member")
    problem(await api.client().post(ACCEPT, json={"secret": secret, "password": PASSWORD}), 410, "invitation_ended")


async def test_a_member_may_use_the_project_from_some_networks_only(api: Api) -> None:
    office, elsewhere = "203.0.113.7", "198.51.100.9"
    ann = await person(api, Role.OPERATOR, "ann@example.com")
    earlier = await logged_in(api, ann)
    ok(await earlier.get(f"{api.base}/clusters"))
    path = f"{api.base}/members/{ann.member}"
    changed = ok(await api.owner.patch(path, json={"allowed_sources": ["203.0.113.0/24"]}))
    assert (changed["allowed_sources"], changed["role"]) == (["203.0.113.0/24"], "operator")
    ok(await api.owner.patch(path, json={"allowed_sources": ["203.0.113.0/24"]}))
    [event] = await events(api, "member.sources_changed")
    assert event["data"] == {"email": ann.email, "role": "operator", "allowed_sources": ["203.0.113.0/24"]}
    refusal = problem(await earlier.get(f"{api.base}/clusters"), 403, "source_not_allowed")
    assert refusal["detail"].startswith("Your membership may not be used from 127.0.0.1, ")
    sign_in = {"email": ann.email, "password": PASSWORD}
    outside, inside = (api.client(address=each, **OURS) for each in (elsewhere, office))
    problem(await outside.post(SESSION, json=sign_in), 403, "source_not_allowed")
    ok(await inside.post(SESSION, json=sign_in), 201)
    ok(await inside.get(f"{api.base}/clusters"))
    later = ok(await outside.post(LOGIN, json=sign_in), 201)["token"]
    problem(await api.client(later, address=elsewhere).get(ME), 403, "source_not_allowed")
    ok(await api.client(later, address=office).get(ME))
    # What the person creates is not wider.
    wide = {"name": "wide", "role": "viewer"}
    problem(await inside.post(f"{api.base}/tokens", json=wide), 403, "permission_denied")
    ok(await api.owner.patch(path, json={"allowed_sources": []}))
    ok(await earlier.get(f"{api.base}/clusters"))


async def test_nobody_locks_themselves_out(api: Api) -> None:
    ann, bob = await person(api, Role.OWNER), await person(api, Role.OWNER)
    shell = await logged_in(api, ann)
    own, other = (f"{api.base}/members/{each.member}" for each in (ann, bob))
    before = await api.snapshot()
    refused = await shell.patch(own, json={"allowed_sources": ["203.0.113.0/24"]})
    assert faults_of(refused) == [("/allowed_sources", "locks_out_caller")]
    assert "127.0.0.1" in refused.json()["errors"][0]["detail"]
    assert faults_of(await shell.patch(own, json={"allowed_sources": ["203.0.113.7/24"]})) == [
        ("/allowed_sources/0", "host_bits_set")
    ]
    after = await api.snapshot()
    assert {name for name in before if before[name] != after[name]} <= {"audit_log", "audit_heads"}
    ok(await shell.patch(own, json={"allowed_sources": ["127.0.0.0/8"]}))
    ok(await shell.patch(other, json={"allowed_sources": ["203.0.113.0/24"]}))
    ok(await shell.get(ME))


async def test_a_change_of_nothing_shows_only_ones_own_members(api: Api) -> None:
    ann, neighbour = await person(api, Role.OWNER), await api.other_project()
    body: dict[str, str] = {}
    shown = ok(await api.owner.patch(f"{api.base}/members/{ann.member}", json=body))
    assert shown["id"] == str(ann.member)
    elsewhere = api.client(neighbour.token.secret)
    for member in (ann.member, uuid4()):
        problem(await elsewhere.patch(f"/v1/projects/{neighbour.slug}/members/{member}", json=body), 404, "not_found")
