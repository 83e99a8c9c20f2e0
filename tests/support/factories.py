"""Rows that tests start from: projects with tokens, regions with hardware, prices, quotas.

Every function works inside the caller's transaction and returns what a test needs to refer to. Names are unique per
call where the schema wants that, so that factories can be called as often as a test likes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.tables import prices
from ipucloud.clusters.tables import clusters
from ipucloud.db.engine import Database
from ipucloud.identity.roles import Role
from ipucloud.identity.tables import projects, ssh_keys, tokens
from ipucloud.identity.tokens import new_token, token_hash
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.health.codes import Source
from ipucloud.inventory.health.observations import Read, When, write_reading
from ipucloud.inventory.snapshot import RUN
from ipucloud.inventory.sync import sync
from ipucloud.inventory.tables import hosts, machines, pod_runs, pods, site_regions, vipu_controllers
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.quotas.tables import quotas
from ipucloud.site.ports import Sites

LUXEMBOURG = ("luxembourg-2", "m2000")
AMSTERDAM = ("amsterdam-2", "bow-2000")
PLENTY = 1024
MACHINES_PER_POD = 16
BESIDE = {"audit_log", "rate_limits"}
"""Tables that every request may write to, whatever it asks for."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
PRICES = {("ipu-m2000", "luxembourg-2"): Decimal("0.0625"), ("ipu-bow-2000", "amsterdam-2"): Decimal("0.0875")}
TYPICAL_SECONDS = {
    "NETWORK": 30.0,
    "IPU_SERVERS": 240.0,
    "VIPU_CONTROLLER": 150.0,
    "POPLAR_SERVERS": 420.0,
    "POST_DEPLOY_SETUP": 60.0,
    "CLUSTER_SUSPEND": 60.0,
    "CLUSTER_RESUME": 600.0,
    "CLUSTER_CLEAN_UP": 300.0,
}
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINbyv9WsTLIZoJk5D/j5dcgSjSb9dBdzWc37ybV3BSEq"

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as its holder knows it, and as the database does."""

    id: UUID
    secret: str
    role: Role

    @property
    def hash(self) -> bytes:
        hashed = token_hash(self.secret)
        assert hashed is not None
        return hashed


@dataclass(frozen=True, slots=True)
class Project:
    """A project with one token."""

    id: UUID
    number: int
    slug: str
    token: Token

    @property
    def actor(self) -> Actor:
        return Actor(project_id=self.id, token_id=self.token.id, request_id=f"req-{next(_numbers)}")


@dataclass(frozen=True, slots=True)
class Pod:
    """An IPU-Link domain with its machines by slot."""

    id: UUID
    name: str
    machines: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A region's hardware of one machine type."""

    name: str
    machine_type: str
    pods: tuple[Pod, ...]
    hosts: tuple[UUID, ...]


async def make_token(
    connection: AsyncConnection,
    project_id: UUID | None,
    role: Role = Role.OWNER,
    *,
    account_id: UUID | None = None,
    scopes: Iterable[str] | None = None,
    clusters: Iterable[UUID] | None = None,
) -> Token:
    """A live token; without a project one of an account (role payer) or of the platform (roles admin and support).

    `clusters`: those that it is limited to.
    """
    secret, token_id = new_token("test"), new_id()
    await connection.execute(
        sa.insert(tokens).values(
            id=token_id,
            project_id=project_id,
            account_id=account_id,
            name=f"token-{next(_numbers)}",
            role=role,
            scopes=None if scopes is None else sorted(scopes),
            clusters=None if clusters is None else sorted(clusters),
            display_prefix=secret.display_prefix,
            secret_hash=secret.hash,
        )
    )
    return Token(token_id, secret.secret, role)


async def make_project(
    connection: AsyncConnection,
    slug: str | None = None,
    *,
    quota: Mapping[tuple[str, str], int] | int | None = PLENTY,
    keys: Sequence[str] = ("laptop",),
) -> Project:
    """A project with a token, SSH keys by name, and quotas in machines per (region, machine type).

    A plain number is the quota in both shipped regions; None gives no quota row at all.
    """
    slug = slug or f"project-{next(_numbers)}-{new_id().hex[-6:]}"
    project_id = new_id()
    inserted = await connection.execute(
        sa.insert(projects).values(id=project_id, slug=slug, name=slug.title()).returning(projects.c.number)
    )
    number: int = inserted.scalar_one()
    for name in keys:
        await make_ssh_key(connection, project_id, name)
    limits = dict.fromkeys((LUXEMBOURG, AMSTERDAM), quota) if isinstance(quota, int) else quota or {}
    for (region, machine_type), limit in limits.items():
        await set_quota(connection, project_id, region, machine_type, limit)
    return Project(project_id, number, slug, await make_token(connection, project_id))


async def make_ssh_key(
    connection: AsyncConnection, project_id: UUID, name: str = "laptop", public_key: str = PUBLIC_KEY
) -> str:
    """A stored public key; its line of `authorized_keys`."""
    await connection.execute(
        sa.insert(ssh_keys).values(
            id=new_id(),
            project_id=project_id,
            name=name,
            key_type="ssh-ed25519",
            public_key=public_key,
            fingerprint="SHA256:" + ("A" if public_key == PUBLIC_KEY else "B") * 43,
        )
    )
    return public_key


async def set_quota(
    connection: AsyncConnection, project_id: UUID, region: str, machine_type: str, machine_limit: int
) -> None:
    await connection.execute(
        sa.insert(quotas).values(
            project_id=project_id, region=region, machine_type=machine_type, machine_limit=machine_limit
        )
    )


async def make_price(
    connection: AsyncConnection,
    sku: str,
    region: str,
    unit_price: Decimal,
    *,
    valid_from: datetime = LONG_AGO,
    valid_to: datetime | None = None,
    currency: str = "EUR",
) -> UUID:
    price_id = new_id()
    await connection.execute(
        sa.insert(prices).values(
            id=price_id,
            sku=sku,
            region=region,
            currency=currency,
            unit_price=unit_price,
            valid_from=valid_from,
            valid_to=valid_to,
            source="test",
        )
    )
    return price_id


async def offer(connection: AsyncConnection, *, sku: str, unit_price: str) -> None:
    """Set a price in Luxembourg, without which the operator does not offer this; unless there is one."""
    statement = """
    INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)
    SELECT gen_random_uuid(), :sku, 'luxembourg-2', 'EUR', CAST(:unit_price AS numeric), '2020-01-01', 'test'
     WHERE NOT EXISTS (SELECT FROM prices WHERE sku = :sku AND region = 'luxembourg-2')
    """
    await connection.execute(sa.text(statement), {"sku": sku, "unit_price": unit_price})


async def seed_prices(
    connection: AsyncConnection, listed: Mapping[tuple[str, str], Decimal] = PRICES, **changes: Any
) -> None:
    """One price version for each (sku, region); `changes` as of `make_price`."""
    for (sku, region), price in listed.items():
        await make_price(connection, sku, region, price, **changes)


async def make_cluster_row(connection: AsyncConnection, project_id: UUID, **changes: object) -> UUID:
    """The row of a POD4 in use, with nothing that it refers to: no machines, no operation, no usage."""
    cluster_id, (region, machine_type) = new_id(), LUXEMBOURG
    usual = {
        "id": cluster_id,
        "project_id": project_id,
        "name": cluster_id.hex,
        "region": region,
        "flavor": "m2000-pod4",
        "machine_type": machine_type,
        "machines": 1,
        "ipus": 4,
        "sku": "ipu-m2000",
        "currency": "EUR",
        "image": "ubuntu-20.04",
        "state": "active",
        "external_name": external_name(cluster_id, 1),
        "ready_at": LONG_AGO,
        "created_at": LONG_AGO,
    }
    await connection.execute(sa.insert(clusters).values(**(usual | changes)))
    return cluster_id


async def seed_region(
    connection: AsyncConnection,
    region: str = "luxembourg-2",
    machine_type: str = "m2000",
    *,
    pod_count: int = 1,
    host_count: int = 16,
    pods_per_group: int = 4,
) -> Region:
    """A region as a synchronised site would have left it: pods with free, healthy machines, and free hosts.

    `pods_per_group` neighbouring pods share a GW-Link group. Call once for each (region, machine type).
    """
    await _site_region(connection, region)
    pod_rows = [await _pod(connection, region, machine_type, index, pods_per_group) for index in range(pod_count)]
    await settle_pods(connection, [pod.id for pod in pod_rows])
    host_ids = [new_id() for _ in range(host_count)]
    if host_ids:
        await connection.execute(
            sa.insert(hosts),
            [
                {
                    "id": host_id,
                    "region": region,
                    "name": f"{region}-{machine_type}-host-{index:03}",
                    "address": f"10.1.{index // 250}.{index % 250 + 1}",
                }
                for index, host_id in enumerate(host_ids)
            ],
        )
    return Region(region, machine_type, tuple(pod_rows), tuple(host_ids))


async def _site_region(connection: AsyncConnection, region: str) -> None:
    known = await connection.execute(sa.select(site_regions.c.region).where(site_regions.c.region == region))
    if known.scalar_one_or_none() is None:
        await connection.execute(
            sa.insert(site_regions).values(region=region, typical_seconds=TYPICAL_SECONDS, containers=True)
        )
        await connection.execute(
            sa.insert(vipu_controllers).values(
                region=region, name=region, host="vipu.test", admin_port=8091, authority="an authority"
            )
        )


async def _run(connection: AsyncConnection, region: str, machine_type: str, gw_group: str, number: int) -> UUID:
    place = {"region": region, "machine_type": machine_type, "gw_group": gw_group, "number": number}
    await connection.execute(pg_insert(pod_runs).values(id=new_id(), **place).on_conflict_do_nothing())
    run_id: UUID = (await connection.execute(sa.select(pod_runs.c.id).filter_by(**place))).scalar_one()
    return run_id


async def _pod(connection: AsyncConnection, region: str, machine_type: str, index: int, per_group: int) -> Pod:
    pod_id, name = new_id(), f"{region}-{machine_type}-pod-{index:03}"
    group, position = f"{region}-{machine_type}-g{index // per_group}", index % per_group
    await connection.execute(
        sa.insert(pods).values(
            id=pod_id,
            region=region,
            machine_type=machine_type,
            name=name,
            vipu_cluster_id=f"{region}-{machine_type}",
            controller=region,
            gw_group=group,
            position=position,
            topology="torus",
            gateway_topology="looped",
            run_id=await _run(connection, region, machine_type, group, position // RUN),
        )
    )
    machine_ids = [new_id() for _ in range(MACHINES_PER_POD)]
    await connection.execute(
        sa.insert(machines),
        [
            {
                "id": machine_id,
                "pod_id": pod_id,
                "slot": slot,
                "topology_ids": [4 * slot + ipu for ipu in range(4)],
                "name": f"{name}-m{slot:02}",
                "rnic": f"10.2.{index % 250}.{slot + 1}",
                "bmc": f"10.3.{index % 250}.{slot + 1}",
                "gateway": f"10.4.{index % 250}.{slot + 1}",
            }
            for slot, machine_id in enumerate(machine_ids)
        ],
    )
    return Pod(pod_id, name, tuple(machine_ids))


@dataclass(frozen=True, slots=True)
class Seeded:
    """One project with plenty of quota, both shipped regions with hardware, and their prices."""

    project: Project
    luxembourg: Region
    amsterdam: Region


async def seed_world(connection: AsyncConnection, *, pod_count: int = 1, host_count: int = 16) -> Seeded:
    """What a world without a site starts with."""
    await seed_prices(connection)
    return Seeded(
        await make_project(connection),
        await seed_region(connection, *LUXEMBOURG, pod_count=pod_count, host_count=host_count),
        await seed_region(connection, *AMSTERDAM, pod_count=pod_count, host_count=host_count),
    )


async def furnish(
    database: Database, sites: Sites | None = None, *, project_count: int = 1, quota: int = PLENTY
) -> list[Project]:
    """Projects with quota, prices, and the hardware of a site if there is one."""
    async with database.begin() as connection:
        project_list = [await make_project(connection, quota=quota) for _ in range(project_count)]
        await seed_prices(connection)
    if sites is not None:
        await sync(database, sites, validated=False)
    return project_list


async def make_reading(connection: AsyncConnection, region: str) -> None:
    """The machines of a region answered just now."""
    now = (await connection.execute(sa.text("SELECT app_now()"))).scalar_one()
    await write_reading(connection, region, Read(Source.BMC, 1, 1), When(now, now, 60.0))
