"""Asking the API as its callers do."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import sqlalchemy as sa
from pydantic import SecretStr

from ipucloud.api.app import Application, create_app
from ipucloud.api.services import Services
from ipucloud.config import Settings
from ipucloud.identity.roles import ACCOUNT_ROLES, PLATFORM_ROLES, Role
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.sealing import new_key
from ipucloud.schema import metadata
from tests.support.factories import BESIDE, Project, make_project, make_token
from tests.support.filled_in import committed
from tests.support.shapes import as_documented
from tests.support.waiting import PATIENCE
from tests.support.world import IMAGE, World

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1 laptop"
SECRETS_KEY = new_key()
UNLIMITED: dict[str, object] = {
    f"{limit}_{each}": 1_000_000 for limit in ("rate_limit", "project_rate_limit") for each in ("per_second", "burst")
}


def cluster_json(name: str = "bert", **changes: object) -> dict[str, object]:
    """The body of a create."""
    usual = {"name": name, "region": "luxembourg-2", "flavor": "m2000-pod4", "image": IMAGE, "ssh_keys": ["laptop"]}
    return usual | changes


def price_json(sku: str = "ipu-new", **changes: object) -> dict[str, object]:
    """A list price that begins long from now."""
    usual = {
        "sku": sku,
        "region": "luxembourg-2",
        "unit_price": {"amount": "0.07", "currency": "EUR"},
        "valid_from": "2126-07-01T00:00:00Z",
        "source": "price list of July",
    }
    return usual | changes


def s3_connection_json(name: str = "lake", **changes: object) -> dict[str, object]:
    """A bucket to deliver exports to."""
    usual = {
        "name": name,
        "endpoint": "https://s3.example",
        "bucket": "costs",
        "access_key_id": "AKIATEST",
        "secret": "very-secret",
    }
    return usual | changes


def _digest(table: sa.Table) -> sa.Select[str, str]:
    """One row: the table's name, and a digest of its rows in no particular order."""
    row = sa.cast(sa.literal_column("t"), sa.Text)
    if "last_used_at" in table.c:
        row = sa.cast(sa.func.to_jsonb(sa.literal_column("t")).op("-")("last_used_at"), sa.Text)
    digest = sa.func.concat(sa.func.count(), " ", sa.func.sum(sa.func.hashtextextended(row, 0)), type_=sa.Text)
    return sa.select(sa.literal(table.name).label("name"), digest.label("digest")).select_from(table.alias("t"))


_DIGESTS = sa.union_all(*(_digest(table) for name, table in sorted(metadata.tables.items()) if name not in BESIDE))


@dataclass
class Api:
    """The application and a client of its own project's owner."""

    app: Application
    world: World
    owner: httpx.AsyncClient

    @property
    def services(self) -> Services:
        services: Services = self.app.state.services
        return services

    @property
    def base(self) -> str:
        return f"/v1/projects/{self.world.project.slug}"

    def client(self, secret: str | None = None, *, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
        """A caller with a token, or with none, at an address."""
        if secret is not None:
            headers["Authorization"] = f"Bearer {secret}"
        return client(self.app, headers, address)

    async def caller(
        self, role: Role, project: Project | None = None, *, scopes: Iterable[str] | None = None
    ) -> httpx.AsyncClient:
        """A caller with a new token of the role: of the project, of its own account (payer) or of the platform."""
        home = (project or self.world.project).id
        async with self.world.database.begin() as connection:
            token = await make_token(
                connection,
                None if role in PLATFORM_ROLES | ACCOUNT_ROLES else home,
                role,
                account_id=home if role in ACCOUNT_ROLES else None,
                scopes=scopes,
            )
        return self.client(token.secret)

    async def other_project(self) -> Project:
        async with self.world.database.begin() as connection:
            return await make_project(connection)

    async def snapshot(self) -> dict[str, str]:
        """A digest of every table, but for what a mere look may change: BESIDE, and when a token was last used."""
        async with self.world.database.begin() as connection:
            return {row.name: row.digest for row in await connection.execute(_DIGESTS)}

    async def stores(self, text: str) -> list[str]:
        """The tables in which a text stands, as such or as bytes."""
        tables = []
        async with self.world.database.begin() as connection:
            for table in sorted(metadata.tables):
                row = sa.cast(sa.literal_column("t"), sa.Text)
                there = sa.or_(row.contains(text), row.contains(text.encode().hex()))
                rows = await connection.execute(
                    sa.select(sa.func.count()).select_from(sa.table(table).alias("t")).where(there)
                )
                tables += [table] if rows.scalar_one() else []
        return tables

    async def count(self, table: str) -> int:
        async with self.world.database.begin() as connection:
            rows = await connection.execute(sa.select(sa.func.count()).select_from(sa.table(table)))
            count: int = rows.scalar_one()
        return count

    async def make_cluster(self, name: str = "bert", **changes: object) -> dict[str, Any]:
        """Create through the API; the operation."""
        answer = await self.owner.post(f"{self.base}/clusters", json=cluster_json(name, **changes))
        assert answer.status_code == 202, answer.text
        operation: dict[str, Any] = answer.json()
        return operation


@asynccontextmanager
async def running(
    world: World, url: str, *, clock: Clock | None = None, settings: Mapping[str, object] = UNLIMITED
) -> AsyncIterator[Api]:
    """The application with its lifespan entered."""
    values: dict[str, Any] = {
        "database_url": SecretStr(url),
        "environment": "test",
        "validation": frozenset(),
        "database_pool_timeout": PATIENCE,
        "secrets_key": SecretStr(SECRETS_KEY),
        **settings,
    }
    app = create_app(Settings(**values), clock=clock)
    vars(app)["document"] = committed()  # as it is committed: making it takes seconds, and 80 MB of this process
    async with (
        app.router.lifespan_context(app),
        client(app, {"Authorization": f"Bearer {world.project.token.secret}"}) as owner,
    ):
        yield Api(app, world, owner)


def client(app: Application, headers: Mapping[str, str], address: str = "127.0.0.1") -> httpx.AsyncClient:
    """As the panel does, it goes on below the path of a session that it has begun."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True, client=(address, 40_000))

    async def below_its_path(answer: httpx.Response) -> None:
        if answer.status_code == 201 and answer.request.url.path.endswith("/v1/session"):
            await answer.aread()
            caller.base_url = f"http://api{answer.json()['path'] or ''}"

    hooks = {"response": [as_documented(app), below_its_path]}
    caller = httpx.AsyncClient(transport=transport, base_url="http://api", headers=headers, event_hooks=hooks)
    return caller


def key() -> dict[str, str]:
    """A fresh Idempotency-Key."""
    return {"Idempotency-Key": str(uuid4())}


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document, after looking that it is one."""
    assert answer.status_code == status, f"{answer.status_code} {answer.text}"
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["code"] == code
    assert document["request_id"] == answer.headers["request-id"]
    assert {"type", "title", "detail", "instance", "retryable"} <= set(document)
    return document


def faults_of(answer: httpx.Response) -> list[tuple[str, str]]:
    """Pointer and code of each fault of a request that is refused for what it says."""
    return [(each["pointer"], each["code"]) for each in problem(answer, 422, "validation_failed")["errors"]]


def pointers_of(answer: httpx.Response) -> list[str]:
    return [pointer for pointer, _ in faults_of(answer)]


def codes_of(answer: httpx.Response) -> list[str]:
    return [code for _, code in faults_of(answer)]


def ok(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    """The document of an answer, after looking at its status."""
    assert answer.status_code == status, f"{answer.status_code} {answer.text}"
    document: dict[str, Any] = answer.json()
    return document


async def items(caller: httpx.AsyncClient, path: str, **query: Any) -> list[dict[str, Any]]:
    """What a list shows on its first page."""
    shown: list[dict[str, Any]] = ok(await caller.get(path, params=query or None))["items"]
    return shown


async def walk(caller: httpx.AsyncClient, path: str, *, limit: int, **query: Any) -> list[dict[str, Any]]:
    """Everything that a list shows, page by page; all pages but the last are full."""
    shown: list[dict[str, Any]] = []
    query["limit"] = limit
    while True:
        page = ok(await caller.get(path, params=query))
        shown += page["items"]
        assert len(page["items"]) <= limit
        if page["next_cursor"] is None:
            return shown
        assert len(page["items"]) == limit
        query["cursor"] = page["next_cursor"]


def cluster_id(operation: Mapping[str, Any]) -> UUID:
    return UUID(operation["target"]["id"])


def euros(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "EUR"}


def public_key(number: int) -> str:
    """One of many keys."""
    kind, key = b"ssh-ed25519", number.to_bytes(32, "big")
    parts = b"".join(len(each).to_bytes(4, "big") + each for each in (kind, key))
    return f"{kind.decode()} {b64encode(parts).decode()}"


async def operator_items(caller: httpx.AsyncClient, path: str, **query: str) -> list[dict[str, Any]]:
    return await items(caller, f"/v1/operator/{path}", **query)
