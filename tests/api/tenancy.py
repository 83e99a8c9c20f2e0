"""Two projects with one of everything, callers of every kind, and what they ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.identity.roles import Permission, Role
from ipucloud.kernel.ids import new_id
from tests.api.bodies import BODIES, CORRECTION, QUERIES
from tests.api.operations import IN_BODY, Documented, by_module
from tests.api.support import key, problem, running
from tests.api.targets import Targets, numbers
from tests.support.cases import all_cases
from tests.support.factories import Project, make_project, make_token
from tests.support.postgres import TestServer
from tests.support.world import World

Attempt = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a request, and for which methods it is a fault."""

    methods: frozenset[str]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    always: bool = True
    """False: not every operation of these methods minds."""


@dataclass
class Tenancy(Targets):
    """A started application with two projects, and callers of every kind."""

    project: Project
    stranger: httpx.AsyncClient
    dead: httpx.AsyncClient
    by_role: dict[Role, httpx.AsyncClient]
    _callers: dict[tuple[Role, frozenset[Permission]], httpx.AsyncClient] = field(default_factory=dict)

    async def narrowed(self, role: Role, *scopes: Permission) -> httpx.AsyncClient:
        """A caller of the role whose token has no scopes but these; the same one each time."""
        cache_key = (role, frozenset(scopes))
        if cache_key not in self._callers:
            self._callers[cache_key] = await self.api.caller(role, scopes=scopes)
        return self._callers[cache_key]

    async def limited(self, *clusters: UUID) -> httpx.AsyncClient:
        """A caller with an owner's token that is limited to these clusters of the project."""
        async with self.api.world.database.begin() as connection:
            token = await make_token(connection, self.project.id, Role.OWNER, clusters=clusters)
        return self.api.client(token.secret)

    async def targets(self, operations: Sequence[Documented]) -> dict[str, dict[str, str]]:
        """For each operation of a module what its path names, in the project. What they can share is made once."""
        created: list[dict[str, str]] = []
        targets = {}
        for operation in operations:
            names = next((names for names in created if operation.named <= names.keys()), None)
            if names is None:
                names = await self.target(operation, self.project)
                created.append(names)
            targets[operation.id] = names
        return targets

    async def ask(
        self, operation: Documented, caller: httpx.AsyncClient, names: Mapping[str, str], fault: Fault | None = None
    ) -> httpx.Response:
        headers = key() if operation.key_required else {}
        if operation.id == "replaceQuotas":
            read = await self.admin.get(operation.path.format(**names))
            headers["If-Match"] = read.headers.get("etag", '"0"')
        body = BODIES[operation.id](next(numbers)) if operation.id in BODIES else None
        if operation.id in IN_BODY:
            named = IN_BODY[operation.id]
            body = {"cluster" if named == "using" else named: names[named]}
            body |= {"name": f"copy-{next(numbers)}"} if operation.id == "createSnapshot" else {}
        if operation.id == "assignProjectAccount":
            body = {"account_id": str(self.project.id)}
        if operation.id == "correctPrice":
            shown = await self.admin.post(f"{operation.path}:preview", json=CORRECTION)
            body = CORRECTION | {"preview": shown.raise_for_status().json()["preview"]}
        fault = fault or Fault(frozenset())
        return await caller.request(
            operation.method,
            operation.path.format(**names),
            params={**QUERIES.get(operation.id, {}), **fault.query},
            content=fault.content,
            json=body if fault.content is None else None,
            headers={name: value for name, value in (headers | dict(fault.headers)).items() if value},
        )


async def by_operation(
    operations: list[Documented],
    tenancy: Tenancy,
    attempts: Callable[[Documented, dict[str, str]], Mapping[str, Attempt]],
) -> None:
    """Tries all that `attempts` gives for each operation, whose objects are those of the project.

    Names every attempt that fails, and every one that changes a row. The tables are compared once for a module; where
    they differ, its attempts are made again, one at a time.
    """
    modules = by_module(operations)
    names = {module: await tenancy.targets(group) for module, group in modules.items()}
    before = await tenancy.api.snapshot()
    with all_cases() as case:
        for module, group in modules.items():
            tried = {}
            for operation in group:
                for name, attempt in attempts(operation, names[module][operation.id]).items():
                    tried[f"{operation.id}, {name}"] = attempt
            for name, attempt in tried.items():
                with case(name):
                    await attempt()
            after = await tenancy.api.snapshot()
            with case(module):
                assert after == before, f"changed {changed(before, after)}"
            if after != before:
                for name, attempt in tried.items():
                    before = await tenancy.api.snapshot()
                    with suppress(AssertionError):
                        await attempt()
                    after = await tenancy.api.snapshot()
                    with case(name):
                        assert after == before, f"changed {changed(before, after)}"
                before = after


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The tables whose rows differ."""
    return [table for table in before if before[table] != after[table]]


def unknown(names: Iterable[str]) -> dict[str, str]:
    """Names of nothing that exists."""
    return {name: str(new_id()) for name in names}


def same_but_for_the_request(first: httpx.Response, second: httpx.Response) -> None:
    """Two 404 with equal bodies, but for the path, the names in it and the id of the request."""
    bodies = []
    for answer in (first, second):
        document = problem(answer, 404, "not_found")
        path_names = {part.partition(":")[0] for part in document["instance"].split("/")[3:]}
        detail = [word for word in document["detail"].replace(",", " ").split() if word not in path_names]
        bodies.append(document | {"detail": detail, "instance": "", "request_id": ""})
    assert bodies[0] == bodies[1]


@pytest.fixture(scope="module")
async def tenancy(postgres: TestServer) -> AsyncIterator[Tenancy]:
    with postgres.fresh_database() as scratch:
        database = Database(scratch.app_url)
        world = await World.seeded(database, pods=28, hosts=448)
        async with database.begin() as connection:
            other = await make_project(connection)
            revoked = await make_token(connection, world.project.id)
            await connection.execute(
                sa.text("UPDATE tokens SET revoked_at = app_now() WHERE id = :id"), {"id": revoked.id}
            )
        async with running(world, scratch.app_url) as api:
            by_role = {role: await api.caller(role) for role in Role}
            yield Tenancy(
                api,
                by_role[Role.ADMIN],
                project=world.project,
                stranger=api.client(other.token.secret),
                dead=api.client(revoked.secret),
                by_role=by_role,
            )
        await database.close()
