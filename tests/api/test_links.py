"""Links lead to this service, whatever a request's `Host` says: others follow them, with secrets in them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.people import OURS
from tests.api.support import UNLIMITED, Api, problem, running
from tests.support.oidc_provider import RunningProvider
from tests.support.postgres import Database as Scratch
from tests.support.scim import USERS, user_json
from tests.support.world import World

pytestmark = pytest.mark.anyio

FOREIGN = {"Host": "evil.example"}


async def links(api: Api, host: dict[str, str]) -> list[httpx.Response]:
    """The answers to every request that makes a link, sent with this `Host`."""
    invited = {"email": f"{uuid4().hex}@example.com", "role": "viewer"}
    admin = await api.caller(Role.ADMIN)
    return [
        await api.owner.post(f"{api.base}/invitations", json=invited, headers=host),
        await api.owner.post("/v1/session/links", headers=host),
        await api.client(**OURS).post("/v1/login/devices", json={"name": "laptop"}, headers=host),
        await api.client(**OURS).post("/v1/sign-in-providers/sso/sign-ins", json={}, headers=host),
        await admin.post(USERS, json=user_json(invited["email"]), headers=host),
        await admin.get(f"{USERS[: -len('Users')]}ResourceTypes", headers=host),
    ]


async def test_the_address_that_is_set_is_in_every_link(world: World, database: Scratch, sso: RunningProvider) -> None:
    settings: dict[str, Any] = {"public_url": "https://cloud.example/", "oidc_providers": [sso.settings()]}
    async with running(world, database.app_url, settings=UNLIMITED | settings) as api:
        for answer in await links(api, FOREIGN):
            assert answer.is_success, answer.text
            assert "cloud.example" in answer.text
            assert "evil.example" not in answer.text
            assert "evil.example" not in str(answer.headers)


async def test_without_it_links_lead_only_to_hosts_that_are_known(
    world: World, database: Scratch, sso: RunningProvider
) -> None:
    settings: dict[str, Any] = {"allowed_hosts": "Cloud.example,::1", "oidc_providers": [sso.settings()]}
    async with running(world, database.app_url, settings=UNLIMITED | settings) as api:
        for host in ("evil.example", "cloud.example.evil.example", "evil.example/cloud.example", "localhost", "[::2]"):
            for answer in await links(api, {"Host": host}):
                assert answer.status_code == 400, f"{host} {answer.text}"
                assert "IPUCLOUD_PUBLIC_URL" in answer.json()["detail"]
                assert "evil" not in answer.text
        problem((await links(api, FOREIGN))[0], 400, "malformed_request")
        for table in ("invitations", "sign_in_links", "device_logins", "provider_sign_ins", "users"):
            assert await api.count(table) == 0
        for host in ("cloud.example", "CLOUD.example:8443", "[::1]:8000", "api"):  # the last: where the request came in
            for answer in await links(api, {"Host": host}):
                assert answer.is_success, answer.text
                assert host.lower() in unquote(answer.text).lower()
