"""What scenarios find in the database: hardware, one customer with a token, clusters."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.metering.intervals import open_interval
from ipucloud.catalogue.load import load
from ipucloud.clusters.operations.create import create
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.db.engine import Database
from ipucloud.identity.roles import Role
from ipucloud.identity.token_store import create as create_token
from ipucloud.kernel.actor import Actor
from ipucloud.operations.store import Accepted
from tests.support.factories import LUXEMBOURG, make_project, seed_prices, seed_region

REGION, MACHINE_TYPE = LUXEMBOURG
IMAGE = "ubuntu-20.04-x64-poplar-1.18.0-3.0.0"
QUOTA = 100_000

_ACTIVATE = sa.text(
    """
    WITH active AS (
      UPDATE clusters SET state = 'active', ready_at = app_now(), state_entered_at = app_now(), state_sla_seconds = NULL
       WHERE id = :cluster_id
    ), served AS (
      UPDATE poplar_servers
         SET state = 'running', ssh_host = '10.1.0.1', ssh_port = 22, ssh_user = 'ubuntu',
             host_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1',
             host_key_fingerprint = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
       WHERE cluster_id = :cluster_id
    ), done AS (
      UPDATE operation_steps SET state = 'succeeded', started_at = app_now(), finished_at = app_now()
       WHERE operation_id = :operation_id
    ), rested AS (
      DELETE FROM work WHERE key = CAST(:cluster_id AS text)
    )
    UPDATE operations SET state = 'succeeded', progress = 100, started_at = app_now(), finished_at = app_now()
     WHERE id = :operation_id
    """
)


@dataclass(frozen=True, slots=True)
class Customer:
    """A project with plenty of quota, an SSH key `laptop`, and an owner's token."""

    project_id: UUID
    slug: str
    token_id: UUID
    token: str

    def actor(self, request_id: str) -> Actor:
        return Actor(self.project_id, self.token_id, request_id)


def body(name: str, flavor: str) -> ClusterCreate:
    return ClusterCreate(name=name, region=REGION, flavor=flavor, image=IMAGE, ssh_keys=["laptop"])


async def new_customer(database: Database) -> Customer:
    async with database.begin() as connection:
        project = await make_project(connection, quota=QUOTA)
        made = await create_token(
            connection, env="dev", project_id=project.id, name="bench", role=Role.OWNER, created_by=project.token.id
        )
    return Customer(project.id, project.slug, project.token.id, made.secret)


async def seed_price_list(database: Database) -> None:
    """Prices of all regions."""
    async with database.begin() as connection:
        await seed_prices(connection)


async def furnish(database: Database, *, pods: int, hosts: int) -> None:
    """Prices, and hardware of one region that no site stands behind."""
    await seed_price_list(database)
    async with database.begin() as connection:
        await seed_region(connection, REGION, MACHINE_TYPE, pod_count=pods, host_count=hosts)


async def make_clusters(
    database: Database, customer: Customer, names: list[str], flavor: str, settings: Settings
) -> list[Accepted]:
    """Ask for all of them at once, as the API's handlers do, on as many connections as `database` has."""

    async def make(name: str) -> Accepted:
        async with database.begin() as connection:
            return await create(
                connection, customer.actor(f"req-{name}"), body(name, flavor), catalogue=load(), settings=settings
            )

    return list(await asyncio.gather(*(make(name) for name in names)))


async def make_active_clusters(
    database: Database, customer: Customer, names: list[str], flavor: str, settings: Settings
) -> list[UUID]:
    """Clusters as a site's work would have left them."""
    made = await make_clusters(database, customer, names, flavor, settings)
    for each in made:
        async with database.begin() as connection:
            await connection.execute(_ACTIVATE, {"cluster_id": each.target_id, "operation_id": each.operation_id})
            await open_interval(connection, project_id=customer.project_id, cluster_id=each.target_id)
    return [each.target_id for each in made]
