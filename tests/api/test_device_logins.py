"""Logins of a command line that a person approves in the panel."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.people import OURS, advance, logged_in, person
from tests.api.support import Api, ok, problem
from tests.support.people import PASSWORD, Person, make_member
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

DEVICES = "/v1/login/devices"


async def begin_login(api: Api, **fields: str) -> dict[str, Any]:
    return ok(await api.client().post(DEVICES, json={"name": "ann-laptop", **fields}), 201)


async def browser_of(api: Api, who: Person) -> httpx.AsyncClient:
    browser = api.client(**OURS)
    ok(await browser.post("/v1/session", json={"email": who.email, "password": PASSWORD}), 201)
    return browser


async def fetched(api: Api, device: dict[str, Any]) -> httpx.Response:
    return await api.client().post(f"{DEVICES}:token", json={"device_code": device["device_code"]})


async def test_a_person_approves_and_the_device_gets_their_token_once(api: Api, database: Scratch) -> None:
    ann = await person(api, Role.OPERATOR)
    device = await begin_login(api)
    code = device["user_code"]
    assert device["verification_uri_complete"] == f"http://api/device?code={code}"
    assert not await api.stores(device["device_code"])
    problem(await fetched(api, device), 400, "authorization_pending")
    problem(await fetched(api, device), 400, "slow_down")
    browser = await browser_of(api, ann)
    shown = (await browser.post(f"{DEVICES}:show", json={"user_code": code.lower().replace("-", " ")})).json()
    assert (shown["name"], shown["address"], shown["project"]) == ("ann-laptop", "127.0.0.1", None)
    assert (await browser.post(f"{DEVICES}:approve", json={"user_code": code})).status_code == 204
    problem(await browser.post(f"{DEVICES}:approve", json={"user_code": code}), 404, "not_found")
    login = ok(await fetched(api, device), 201)
    assert (login["kind"], login["owner"], login["name"]) == ("login", ann.email, "ann-laptop")
    assert (login["role"], login["project"]) == ("operator", api.world.project.slug)
    assert login["expires_at"] is not None
    problem(await fetched(api, device), 400, "expired_token")
    command_line = api.client(login["token"])
    assert (await command_line.get(api.base)).status_code == 200
    assert (await command_line.delete("/v1/login")).status_code == 204
    problem(await command_line.get(api.base), 401, "unauthenticated")


async def test_a_denied_an_expired_and_an_unknown_login_get_nothing(api: Api, database: Scratch) -> None:
    browser = await browser_of(api, await person(api))
    denied, late = await begin_login(api), await begin_login(api)
    assert (await browser.post(f"{DEVICES}:deny", json={"user_code": denied["user_code"]})).status_code == 204
    problem(await fetched(api, denied), 400, "access_denied")
    for code in ("BBBB-BBBB", "no such code"):
        problem(await browser.post(f"{DEVICES}:approve", json={"user_code": code}), 404, "not_found")
    problem(await fetched(api, {"device_code": "ipd_none"}), 400, "expired_token")
    await advance(api, database, timedelta(minutes=11))
    problem(await fetched(api, late), 400, "expired_token")
    problem(await browser.post(f"{DEVICES}:show", json={"user_code": late["user_code"]}), 404, "not_found")


async def test_only_a_session_of_a_person_approves(api: Api) -> None:
    ann, device = await person(api), await begin_login(api)
    login = await logged_in(api, ann)
    by_login = api.client(**OURS)
    token = login.headers["authorization"].removeprefix("Bearer ")
    assert (await by_login.post("/v1/session", json={"token": token})).status_code == 201
    for caller in (api.owner, login, by_login):  # else a login would renew itself for ever
        answer = await caller.post(f"{DEVICES}:approve", json={"user_code": device["user_code"]})
        problem(answer, 409, "state_conflict")
    crossed = await browser_of(api, ann)
    crossed.headers["Sec-Fetch-Site"] = "cross-site"
    answer = await crossed.post(f"{DEVICES}:approve", json={"user_code": device["user_code"]})
    problem(answer, 403, "cross_site_request")
    problem(await api.client().post(f"{DEVICES}:show", json={"user_code": device["user_code"]}), 401, "unauthenticated")
    problem(await fetched(api, device), 400, "authorization_pending")


async def test_the_device_asks_for_a_project_and_a_removed_member_gives_it_nothing(api: Api) -> None:
    ann, other = await person(api), await api.other_project()
    async with api.world.database.begin() as connection:
        await make_member(connection, ann.id, other.id, Role.OWNER)
    browser = await browser_of(api, ann)
    named, unknown = [await begin_login(api, project=slug) for slug in (other.slug, "nowhere")]
    gone = await begin_login(api)
    for device in (named, unknown, gone):
        body = {"user_code": device["user_code"]}
        assert (await browser.post(f"{DEVICES}:approve", json=body)).status_code == 204
    assert (await fetched(api, named)).json()["project"] == other.slug
    problem(await fetched(api, unknown), 403, "not_a_member")
    session = (await browser.get("/v1/session")).json()
    owner = api.owner if session["project"]["slug"] == api.world.project.slug else api.client(other.token.secret)
    path = f"/v1/projects/{session['project']['slug']}/members/{session['token']['id']}"
    assert (await owner.delete(path)).status_code == 204
    problem(await fetched(api, gone), 403, "not_a_member")
