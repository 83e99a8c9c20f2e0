"""Initial rows of a database: prices, a project, its quotas, an administrator's and an owner's token.

Existing rows are kept, so running it again changes nothing and prints no token.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.seller import install_shipped_rates
from ipucloud.billing.pricing.book import install_prices
from ipucloud.catalogue.queries import Catalogue
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.identity import projects, token_store
from ipucloud.identity.access import identify
from ipucloud.identity.roles import Permission, Role
from ipucloud.identity.tokens import token_hash
from ipucloud.kernel.actor import NO_ORIGIN
from ipucloud.kernel.errors import Problem
from ipucloud.process.secret_files import read_secret, write_secret
from ipucloud.quotas.store import list_quotas, set_limit

PROJECT = "demo"
MACHINES = 128
"""The starting quota per region and machine type: two of the POD256, or one beside smaller clusters."""

TOKENS = {Role.OWNER: "token", Role.ADMIN: "admin-token"}
"""Names of the files in which the first tokens are kept."""

REQUEST_ID = "bootstrap"

_ALONE = sa.text("SELECT pg_advisory_xact_lock(hashtext('ipucloud bootstrap'))")
_PROJECT = Query("SELECT id FROM projects WHERE slug = :slug", UUID)
_LIVING_TOKEN = Query(
    """
    SELECT EXISTS (SELECT FROM tokens
     WHERE project_id IS NOT DISTINCT FROM CAST(:project_id AS uuid) AND role = :role
       AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > app_now()))
    """,
    bool,
)


@dataclass(frozen=True)
class Bootstrapped:
    """The result. A token is set only if it was just created; it cannot be shown again."""

    project: str
    project_id: UUID
    admin_token: str | None = field(repr=False)
    owner_token: str | None = field(repr=False)


async def bootstrap(
    database: Database,
    catalogue: Catalogue,
    *,
    env: str,
    slug: str = PROJECT,
    machines: int = MACHINES,
    lost: Collection[Role] = (),
) -> Bootstrapped:
    """Create what is missing, in one transaction. `machines`: the quota per region and machine type of the catalogue.

    `lost`: roles for which a token is created even if there is one, because its secret was lost.
    Raises Problem.
    """

    async def make(connection: AsyncConnection) -> Bootstrapped:
        await connection.execute(_ALONE)
        await install_prices(connection, catalogue)
        await install_shipped_rates(connection)
        project_id = await _PROJECT.one_or_none(connection, {"slug": slug})
        if project_id is None:
            project_id = await projects.create(connection, slug=slug, name=slug, request_id=REQUEST_ID)
        await _set_quotas(connection, catalogue, project_id, machines)
        return Bootstrapped(
            slug,
            project_id,
            await _token(connection, env, None, Role.ADMIN, another=Role.ADMIN in lost),
            await _token(connection, env, project_id, Role.OWNER, another=Role.OWNER in lost),
        )

    return await database.transact(make)


async def bootstrap_keeping(
    database: Database,
    catalogue: Catalogue,
    folder: Path,
    *,
    env: str,
    slug: str = PROJECT,
    machines: int = MACHINES,
) -> dict[Role, str]:
    """The same with tokens that are kept in files of `folder`; new ones for those that are lost or not valid any more.

    Raises Problem, and OSError if a file cannot be read or written.
    """
    kept = {role: read_secret(folder / name) or "" for role, name in TOKENS.items()}
    lost = [role for role, token in kept.items() if not await knows(database, token)]
    result = await bootstrap(database, catalogue, env=env, slug=slug, machines=machines, lost=lost)
    new = {Role.OWNER: result.owner_token, Role.ADMIN: result.admin_token}
    for role, token in new.items():
        if token is not None:
            write_secret(folder / TOKENS[role], token)
    return {role: new[role] or token for role, token in kept.items()}


async def knows(database: Database, token: str) -> bool:
    """Whether the token is valid in this database."""
    hashed = token_hash(token)
    if hashed is None:
        return False
    async with database.read() as connection:
        try:
            await identify(connection, hashed, Permission.PROJECT_READ, NO_ORIGIN)
        except Problem:
            return False
    return True


async def _set_quotas(connection: AsyncConnection, catalogue: Catalogue, project_id: UUID, machines: int) -> None:
    have = {(quota.region, quota.machine_type) for quota in await list_quotas(connection, project_id=project_id)}
    for region in catalogue.regions:
        for machine_type in region.machine_types:
            if (region.slug, machine_type) not in have:
                await set_limit(
                    connection, project_id=project_id, region=region.slug, machine_type=machine_type, machines=machines
                )


async def _token(
    connection: AsyncConnection, env: str, project_id: UUID | None, role: Role, *, another: bool = False
) -> str | None:
    if await _LIVING_TOKEN.one(connection, {"project_id": project_id, "role": role}) and not another:
        return None
    token = await token_store.create(
        connection, env=env, project_id=project_id, name=f"first {role}", role=role, request_id=REQUEST_ID
    )
    return token.secret
