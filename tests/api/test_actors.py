"""Who asked for an operation or a job: a person, a service token, an operator, or the platform itself."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.policies.expiry import delete_expired_clusters
from tests.api.people import logged_in, person
from tests.api.support import Api, items

pytestmark = pytest.mark.anyio


async def requester(api: Api, operation: dict[str, Any]) -> tuple[str, str | None, bool]:
    """Kind and name of who asked, as everyone in the project reads it, and whether by a token."""
    actor = (await api.owner.get(f"{api.base}/operations/{operation['id']}")).json()["requested_by"]
    return actor["kind"], actor["name"], actor["token_id"] is not None


async def test_an_operation_says_who_asked_for_it(api: Api) -> None:
    ann = await person(api, Role.OPERATOR)
    by_ann = await logged_in(api, ann)
    me = (await api.owner.get("/v1/whoami")).json()["token"]["name"]
    admin = await api.caller(Role.ADMIN)
    operator = (await admin.get("/v1/whoami")).json()["token"]["name"]

    created = await api.make_cluster()
    assert await requester(api, created) == ("token", me, True)
    cluster = f"{api.base}/clusters/{created['target']['id']}"
    deleted = (await by_ann.delete(cluster)).json()
    assert await requester(api, deleted) == ("user", ann.email, True)

    second = await api.make_cluster("second")
    removed = (await admin.delete(f"{api.base}/clusters/{second['target']['id']}")).json()
    assert await requester(api, removed) == ("operator", operator, True)

    third = await api.make_cluster("third")
    async with api.world.database.begin() as connection:
        where = {"id": third["target"]["id"]}
        await connection.execute(sa.text("UPDATE clusters SET expires_at = app_now() WHERE id = :id"), where)
    await delete_expired_clusters(api.world.database, api.services.settings)
    [expired, *_] = await items(api.owner, f"{api.base}/operations", kind="cluster.delete")
    assert await requester(api, expired) == ("platform", "expiry", False)
