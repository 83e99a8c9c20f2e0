"""What the tests of people do over the API: they invite, sign in and read events."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.identity.verification import Inviting
from tests.api.support import Api, ok
from tests.support.people import PASSWORD, Person, make_person
from tests.support.postgres import Database as Scratch
from tests.support.world.clock import stop_clock

SESSION, LOGIN, ME = "/v1/session", "/v1/login", "/v1/me"
SHOW, ACCEPT = "/v1/invitations:show", "/v1/invitations:accept"
OURS = {"Sec-Fetch-Site": "same-origin"}
BY_HAND = Inviting(3600.0, mailed=False)
"""How an operator at the database invites again: owners make the links."""


async def invite(api: Api, email: str, role: str = "operator") -> dict[str, Any]:
    return ok(await api.owner.post(f"{api.base}/invitations", json={"email": email, "role": role}), 201)


async def joined(api: Api, email: str, role: str = "operator") -> httpx.AsyncClient:
    """A person who accepted an invitation and signed in to the panel."""
    secret = (await invite(api, email, role))["secret"]
    browser = api.client(**OURS)
    ok(await browser.post(ACCEPT, json={"secret": secret, "password": PASSWORD}))
    assert (await browser.post(SESSION, json={"email": email, "password": PASSWORD})).status_code == 201
    return browser


async def person(api: Api, role: Role = Role.VIEWER, email: str | None = None) -> Person:
    async with api.world.database.begin() as connection:
        return await make_person(connection, api.world.project.id, role, email=email)


async def logged_in(api: Api, who: Person, **more: str) -> httpx.AsyncClient:
    answer = ok(await api.client().post(LOGIN, json={"email": who.email, "password": PASSWORD, **more}), 201)
    return api.client(answer["token"])


async def events(api: Api, type_: str) -> list[dict[str, Any]]:
    answer = await api.owner.get(f"{api.base}/events", params={"type": type_})
    return [each | {"at": ""} for each in answer.json()["items"]]


async def advance(api: Api, database: Scratch, span: timedelta) -> None:
    async with api.world.database.begin() as connection:
        now = (await connection.execute(sa.text("SELECT app_now()"))).scalar_one()
    stop_clock(database.owner_url, now + span)
