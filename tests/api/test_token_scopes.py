"""Tokens that are narrowed to some of the scopes of their role: what they may do, and what they can give to others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from ipucloud.api.app import create_app
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.identity.roles import Permission, Role, scopes_of
from tests.api.policy import OF_ITSELF, POLICY
from tests.api.support import Api, problem, running
from tests.api.tenancy import OPERATIONS, Tenancy
from tests.support.postgres import TestServer
from tests.support.world import World

pytestmark = pytest.mark.anyio

NEEDED = {
    route.operation_id: route.permission
    for route in create_app(Settings.model_construct()).routes
    if getattr(route, "permission", None) is not None and getattr(route, "operation_id", None) in POLICY
}
"""The permission that each operation of the table requires, of the routes themselves."""
STRONGEST = (Role.ADMIN, Role.OWNER)


PATH = {"region": "luxembourg-2", "flavor": "m2000-pod4", "recipe": "digits", "job": "1", "gcd": "0"}
VIEWER = sorted(scopes_of(Role.VIEWER))


@pytest.fixture(scope="module")
async def tenancy(postgres: TestServer) -> AsyncIterator[Tenancy]:
    with postgres.fresh_database() as scratch:
        database = Database(scratch.app_url)
        world = await World.seeded(database)
        async with running(world, scratch.app_url) as api:
            yield Tenancy(api, stranger=api.owner, refused={}, by_role={Role.ADMIN: await api.caller(Role.ADMIN)})
        await database.close()


async def made(caller: httpx.AsyncClient, path: str, **body: object) -> dict[str, Any]:
    answer = await caller.post(path, json={"name": "narrow"} | body)
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def owning(api: Api, *scopes: str) -> httpx.AsyncClient:
    """A caller with a new token of an owner, narrowed."""
    return api.client((await made(api.owner, f"{api.base}/tokens", role="owner", scopes=scopes))["token"])


def test_every_operation_of_the_table_is_found() -> None:
    assert NEEDED.keys() == POLICY.keys()
    assert set(NEEDED.values()) == set(Permission) == scopes_of(Role.ADMIN)


@pytest.mark.parametrize("scope", list(Permission))
async def test_a_token_with_one_scope_may_do_what_needs_it_and_nothing_else(tenancy: Tenancy, scope: str) -> None:
    """An administrator's, whose role has every scope. What is refused names the scope and changes nothing."""
    api, project = tenancy.api, await tenancy.api.other_project()
    narrow = api.client((await made(tenancy.by_role[Role.ADMIN], "/v1/tokens", role="admin", scopes=[scope]))["token"])
    allowed = {name for name in POLICY if NEEDED[name] == scope} | OF_ITSELF
    before, admitted = await api.snapshot(), set()
    for name in sorted(POLICY, key=lambda each: (each in allowed, each == "deleteProject")):
        if name in allowed and before is not None:
            assert await api.snapshot() == before
            before = None
        operation = OPERATIONS[name]
        names = {part: PATH.get(part, str(new_id())) for part in re.findall(r"{(\w+)}", operation.path)}
        names |= {"project": str(project.id), "connection": str(new_id()), "using": str(new_id())}
        answer = await tenancy.ask(operation, narrow, names)
        if answer.status_code == 403 and "scope" in answer.json():
            refusal = problem(answer, 403, "permission_denied")
            assert (refusal["scope"], f"narrowed to {scope}." in refusal["detail"]) == (NEEDED[name], True)
        else:
            assert answer.status_code != 401, answer.text
            admitted.add(name)
    assert admitted == allowed


@pytest.mark.parametrize(
    ("scopes", "code", "pointer", "text"),
    [
        (["cluster:read", "cluster:fly"], "unknown_scope", "/scopes/1", "cluster:write"),
        (["cluster:read", "cluster:write"], "scope_not_of_role", "/scopes/1", "The role viewer does not have"),
        (["cluster:read", "cluster:read"], "duplicate", "/scopes", "cluster:read"),
        ([], "too_short", "/scopes", "1"),
        ([7], "string_type", "/scopes/0", ""),
        ("cluster:read", "list_type", "/scopes", ""),
        (["x" * 65], "string_too_long", "/scopes/0", ""),
    ],
)
async def test_lists_that_mean_nothing_are_refused(
    api: Api, scopes: object, code: str, pointer: str, text: str
) -> None:
    admin = await api.caller(Role.ADMIN)
    payer = {"account_id": str(api.world.project.id), "role": "payer"}
    before = await api.snapshot()
    for caller, path, body in (
        (api.owner, f"{api.base}/tokens", {"role": "viewer"}),
        (admin, "/v1/tokens", payer),
        (admin, "/v1/tokens", {"role": "support"}),
    ):
        answer = await caller.post(path, json={"name": "narrow", "scopes": scopes} | body)
        [fault] = problem(answer, 422, "validation_failed")["errors"]
        assert fault["pointer"] == (pointer if code != "scope_not_of_role" or body["role"] != "payer" else "/scopes/0")
    assert await api.snapshot() == before
