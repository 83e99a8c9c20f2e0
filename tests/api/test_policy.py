"""Who may do what: every operation of the document against every kind of caller.

`POLICY` is written by hand and says the same as the code only if both are right; an operation without a row fails.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import new_token
from ipucloud.kernel.ids import new_id
from tests.api.policy import OF_PEOPLE, OPEN_TO_ALL, POLICY
from tests.api.support import problem, running
from tests.api.tenancy import OPERATIONS, Tenancy
from tests.support.factories import Project, make_project, make_token
from tests.support.postgres import TestServer
from tests.support.world import World

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def tenancy(postgres: TestServer) -> AsyncIterator[Tenancy]:
    with postgres.fresh_database() as scratch:
        database = Database(scratch.app_url)
        world = await World.seeded(database, pods=28, hosts=448)
        async with database.begin() as connection:
            other = await make_project(connection)
            expired, revoked = [await make_token(connection, world.project.id) for _ in range(2)]
            for token, column in ((expired, "expires_at"), (revoked, "revoked_at")):
                await connection.execute(
                    sa.text(f"UPDATE tokens SET {column} = app_now() WHERE id = :id"),  # noqa: S608
                    {"id": token.id},
                )
        async with running(world, scratch.app_url) as api:
            secret = world.project.token.secret
            yield Tenancy(
                api,
                stranger=api.client(other.token.secret),
                refused={
                    "no token": api.client(),
                    "no scheme": api.client(Authorization=secret),
                    "another scheme": api.client(Authorization=f"Basic {secret}"),
                    "mistyped": api.client(secret[:-1] + ("0" if secret[-1] != "0" else "1")),
                    "unknown": api.client(new_token("test").secret),
                    "expired": api.client(expired.secret),
                    "revoked": api.client(revoked.secret),
                },
                by_role={role: await api.caller(role) for role in Role},
            )
        await database.close()


def test_every_operation_has_a_row() -> None:
    assert set(OPERATIONS) == POLICY.keys() | OPEN_TO_ALL


@pytest.mark.parametrize("name", POLICY)
async def test_without_a_live_token_nothing_is_answered(tenancy: Tenancy, name: str) -> None:
    operation = OPERATIONS[name]
    names = await tenancy.target(operation, tenancy.api.world.project)
    before = await tenancy.api.snapshot()
    for kind, caller in tenancy.refused.items():
        answer = await tenancy.ask(operation, caller, names)
        assert answer.status_code == 401, kind
        problem(answer, 401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize("name", [name for name in POLICY if OPERATIONS[name].scoped])
async def test_a_project_of_somebody_else_is_not_there(tenancy: Tenancy, name: str) -> None:
    operation = OPERATIONS[name]
    foreign = await tenancy.target(operation, tenancy.api.world.project)
    unknown = {key: str(new_id()) for key in foreign}
    before = await tenancy.api.snapshot()
    for caller in (tenancy.stranger, tenancy.by_role[Role.PAYER]):  # who pays for it has its account, not the project
        answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
        assert same_but_for_the_request(*answers)
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize(
    "name", [name for name in POLICY if OPERATIONS[name].path.count("{") > 1 and OPERATIONS[name].scoped]
)
async def test_objects_of_another_project_are_not_there_in_ones_own(tenancy: Tenancy, name: str) -> None:
    operation, mine = OPERATIONS[name], await tenancy.api.other_project()
    foreign = await tenancy.target(operation, tenancy.api.world.project) | {"project": mine.slug}
    unknown = {key: str(new_id()) for key in foreign} | {"project": mine.slug}
    caller = tenancy.api.client(mine.token.secret)
    before = await tenancy.api.snapshot()
    answers = [await tenancy.ask(operation, caller, names) for names in (foreign, unknown)]
    assert same_but_for_the_request(*answers)
    assert await tenancy.api.snapshot() == before


async def test_accounts_of_others_are_not_there_for_a_payer(tenancy: Tenancy) -> None:
    other = await tenancy.api.other_project()
    for operation in (OPERATIONS[name] for name in POLICY if Role.PAYER in POLICY[name]):
        if "/billing/" not in operation.path or "{" not in operation.path:
            continue
        foreign = await tenancy.target(operation, other)
        unknown = {key: str(new_id()) for key in foreign}
        answers = [await tenancy.ask(operation, tenancy.by_role[Role.PAYER], names) for names in (foreign, unknown)]
        assert same_but_for_the_request(*answers), operation.id


@pytest.mark.parametrize("name", POLICY)
async def test_only_the_roles_of_the_table_may(tenancy: Tenancy, name: str) -> None:
    operation, project = OPERATIONS[name], await project_for(tenancy, name)
    names = await tenancy.target(operation, project)
    roles = set(Role) - POLICY[name] - ({Role.PAYER} if operation.scoped else set())
    refused = [await caller(tenancy, role, project) for role in roles]
    before = await tenancy.api.snapshot()
    for each in refused:
        problem(await tenancy.ask(operation, each, names), 403, "permission_denied")
    assert await tenancy.api.snapshot() == before


@pytest.mark.parametrize(
    ("name", "role"),
    [(name, role) for name in POLICY if name not in OF_PEOPLE for role in Role if role in POLICY[name]],
)
async def test_a_role_may_do_what_the_table_says(tenancy: Tenancy, name: str, role: Role) -> None:
    operation, project = OPERATIONS[name], await project_for(tenancy, name)
    names = await tenancy.target(operation, project)
    answer = await tenancy.ask(operation, await caller(tenancy, role, project), names)
    assert answer.status_code == operation.success, answer.text


async def project_for(tenancy: Tenancy, name: str) -> Project:
    """A project of its own for what would end the one that all tests share."""
    return await tenancy.api.other_project() if name == "deleteProject" else tenancy.api.world.project


async def caller(tenancy: Tenancy, role: Role, project: Project) -> httpx.AsyncClient:
    if project is tenancy.api.world.project or role in {Role.ADMIN, Role.SUPPORT}:
        return tenancy.by_role[role]
    return await tenancy.api.caller(role, project)


async def test_a_revoked_token_is_refused_from_the_next_request_on(tenancy: Tenancy) -> None:
    api = tenancy.api
    made = (await api.owner.post(f"{api.base}/tokens", json={"name": "short", "role": "viewer"})).json()
    caller = api.client(made["token"])
    assert (await caller.get("/v1/whoami")).json()["token"]["id"] == made["id"]
    assert (await api.owner.delete(f"{api.base}/tokens/{made['id']}")).status_code == 204
    problem(await caller.get("/v1/whoami"), 401, "unauthenticated")


async def test_the_other_scheme_and_every_name_of_a_project(tenancy: Tenancy) -> None:
    project = tenancy.api.world.project
    caller = tenancy.api.client(Authorization=f"apikey {project.token.secret}")
    for name in (project.id, project.number, project.slug, str(project.id).upper()):
        answer = await caller.get(f"/v1/projects/{name}")
        assert answer.json()["slug"] == project.slug


async def test_a_project_token_lists_its_project_only(tenancy: Tenancy) -> None:
    mine = (await tenancy.stranger.get("/v1/projects")).json()["items"]
    assert len(mine) == 1
    everything = (await tenancy.by_role[Role.SUPPORT].get("/v1/projects")).json()["items"]
    assert len(everything) > 1


async def test_no_query_is_asked_for_a_token_that_cannot_be_one(
    tenancy: Tenancy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def counted(*_: object) -> Awaitable[Any]:
        raise AssertionError("the database was asked")

    monkeypatch.setattr(type(tenancy.api.services.reader), "one", counted)
    for kind in ("no token", "no scheme", "another scheme", "mistyped"):
        problem(await tenancy.refused[kind].get("/v1/whoami"), 401, "unauthenticated")


def same_but_for_the_request(first: httpx.Response, second: httpx.Response) -> bool:
    """Two 404 with equal bodies, but for the path, the names in it and the id of the request."""
    bodies = []
    for answer in (first, second):
        document = problem(answer, 404, "not_found")
        asked = {part.partition(":")[0] for part in document["instance"].split("/")[3:]}
        detail = [word for word in document["detail"].replace(",", " ").split() if word not in asked]
        bodies.append(document | {"detail": detail, "instance": "", "request_id": ""})
    return bodies[0] == bodies[1]
