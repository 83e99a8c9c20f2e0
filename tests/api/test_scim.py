"""SCIM: an identity provider keeps the people of the installation."""

from __future__ import annotations

import anyio.to_thread
import pytest
from scim2_tester import Status, check_server

from tests.api.support import Api
from tests.support.people import make_person
from tests.support.scim import ScimClient
from ipucloud.identity.roles import Role

pytestmark = pytest.mark.anyio


async def provider_of(api: Api, *scopes: str):
    admin = await api.caller(Role.ADMIN)
    body = {"name": "directory", "role": "admin", "scopes": list(scopes) or ["person:provision"]}
    answer = await admin.post("/v1/tokens", json=body)
    assert answer.status_code == 201, answer.text
    return api.client(answer.json()["token"])


async def test_the_protocols_own_checker_finds_nothing_wrong(api: Api) -> None:
    caller = await provider_of(api)
    results = await anyio.to_thread.run_sync(check_server, ScimClient(caller))
    for each in results:
        print(each.status, each.title, each.reason[:300] if each.reason else "", each.data if each.status is Status.ERROR else "")
    assert not [each for each in results if each.status is not Status.SUCCESS]
