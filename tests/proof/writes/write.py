"""Where writes are prepared, what a prepared one is, and what it left in the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any
from uuid import UUID

import httpx
import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.inventory.expected.changes import replace as replace_expected
from ipucloud.inventory.validations import VALIDATION
from ipucloud.reconcile.wake import PLATFORM, wake
from ipucloud.schema import metadata
from tests.api.support import key
from tests.support.addresses import offer_addresses
from tests.support.factories import BESIDE, Project, Token, make_project, make_reading, make_token
from tests.support.invoices import begin_books
from tests.support.reservations import offer
from tests.support.snapshots import offer_snapshots
from tests.support.volumes import offer_volumes
from tests.support.world import World

Footprint = dict[str, tuple[int, int]]
REPLACED, ACCEPTED, DELETED = "luxembourg-2", "amsterdam-2", "lab-1"
"""Regions by what is done with their expected inventory: cases are also sent side by side."""


def _counts(table: sa.Table) -> sa.Select[str, int, Any]:
    versions = (
        sa.func.sum(table.c.version)
        if "version" in table.c and isinstance(table.c.version.type, sa.Integer)
        else sa.literal(0)
    )
    return sa.select(sa.literal(table.name), sa.func.count(), sa.func.coalesce(versions, 0)).select_from(table)


_FOOTPRINT = sa.union_all(*(_counts(table) for table in metadata.sorted_tables if table.name not in BESIDE))


@dataclass(frozen=True)
class Write:
    """A request as its sender repeats it, word by word. `other_body`: what the key must not be used for again."""

    method: str
    path: str
    secret: str
    body: Mapping[str, object] | None = None
    other_body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def keyed(self) -> bool:
        return "Idempotency-Key" in self.headers

    async def send(self, client: httpx.AsyncClient, **changes: Any) -> httpx.Response:
        bearer = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        headers = {**bearer, **self.headers}
        request = client.build_request(self.method, self.path, json=changes.get("body", self.body), headers=headers)
        if not self.secret:
            request.headers.pop("Authorization", None)
        return await client.send(request)


@dataclass
class Setup:
    """Where writes are prepared: `client` reaches an undisturbed API."""

    world: World
    admin: Token
    client: httpx.AsyncClient
    _numbers: count[int] = field(default_factory=lambda: count(1))

    async def project(self) -> Project:
        async with self.world.database.begin() as connection:
            return await make_project(connection)

    def fresh(self) -> str:
        return f"fresh-{next(self._numbers)}"

    async def etag(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {self.admin.secret}"}
        return (await self.client.get(path, headers=headers)).raise_for_status().headers["etag"]

    async def id_of(self, path: str, body: Mapping[str, object], secret: str) -> UUID:
        """Make something by a POST; its id."""
        answer = await self.client.post(path, json=body, headers={"Authorization": f"Bearer {secret}"})
        return UUID(answer.raise_for_status().json()["id"])

    async def footprint(self) -> Footprint:
        """Rows of every table, and the sum of their versions; the audit log has an entry for each attempt."""
        async with self.world.database.begin() as connection:
            return {name: (rows, int(versions)) for name, rows, versions in await connection.execute(_FOOTPRINT)}


def change(before: Footprint, after: Footprint) -> Footprint:
    """What was added, table by table."""
    moved = {name: (after[name][0] - rows, after[name][1] - versions) for name, (rows, versions) in before.items()}
    return {name: value for name, value in moved.items() if value != (0, 0)}


async def make_setup(world: World, client: httpx.AsyncClient) -> Setup:
    async with world.database.begin() as connection:
        await begin_books(connection, (await make_project(connection)).id)
        await make_reading(connection, ACCEPTED)
        await replace_expected(connection, REPLACED, [{"kind": "machine", "name": "first"}], "setup")
        await replace_expected(connection, ACCEPTED, [], "setup")
        await offer(connection)
        await offer_volumes(connection)
        await offer_addresses(connection)
        await offer_snapshots(connection)
        # The first validation of a pod would leave a work item, which later ones find.
        for pod in (await connection.execute(sa.text("SELECT id FROM pods"))).scalars().all():
            await wake(connection, kind=VALIDATION, key=str(pod), project_id=PLATFORM)
        return Setup(world, await make_token(connection, None, Role.ADMIN), client)


Case = Callable[[Setup], Awaitable[Write]]
Cases = Mapping[str, Case]
"""Cases by the operation ids of the document."""
Body = Mapping[str, object]


@dataclass(frozen=True)
class At:
    """A path, and the token of who may write there."""

    path: str
    secret: str


Where = Callable[[Setup], Awaitable[At]]
"""Brings about that there is something at a path."""


async def platform(setup: Setup) -> At:
    return At("/v1", setup.admin.secret)


async def of_project(setup: Setup) -> At:
    project = await setup.project()
    return At(f"/v1/projects/{project.slug}", project.token.secret)


async def of_project_for_admin(setup: Setup) -> At:
    return replace(await of_project(setup), secret=setup.admin.secret)


async def of_account(setup: Setup) -> At:
    return At(f"/v1/billing/accounts/{(await setup.project()).id}", setup.admin.secret)


def sent(
    where: Where,
    method: str,
    path: str = "",
    body: Body | Callable[[Setup], Body] | None = None,
    other_body: Body | Callable[[Setup], Body] | None = None,
    *,
    keyed: bool | None = None,
) -> Case:
    """A request to a path below. Unless `keyed` says otherwise, POST and PATCH have a key."""

    async def write(setup: Setup) -> Write:
        at = await where(setup)
        first, other = (each(setup) if callable(each) else each for each in (body, other_body))
        headers = key() if (method in {"POST", "PATCH"} if keyed is None else keyed) else {}
        return Write(method, at.path + path, at.secret, first, other, headers)

    return write


def created(where: Where, path: str, body: Body | Callable[[Setup], Body], shown: str | None = None) -> Where:
    """Something that is made by a POST to a path below; `shown`: the path below at which it is then."""

    async def make(setup: Setup) -> At:
        at = await where(setup)
        made_id = await setup.id_of(at.path + path, body(setup) if callable(body) else body, at.secret)
        return replace(at, path=f"{at.path}{path if shown is None else shown}/{made_id}")

    return make


def after(case: Case) -> Where:
    """Where a write was sent, and has taken effect."""

    async def send(setup: Setup) -> At:
        write = await case(setup)
        (await write.send(setup.client)).raise_for_status()
        return At(write.path, write.secret)

    return send
