"""The noun `address`: its quota, and what only requests for addresses do."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import ADDRESS_SKU, Catalogue
from ipucloud.clusters.addresses.tables import ADDRESS_STATES
from ipucloud.clusters.resources.attachable import ATTACHMENT, Attachables
from ipucloud.clusters.resources.quota import CountedQuota
from ipucloud.clusters.resources.resource import Patch
from ipucloud.config import Settings
from ipucloud.contract.addresses import AddressCreate, AddressPatch, AddressState
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.resources.tables import ResourceKind


class Address(NamedTuple):
    id: UUID
    project_id: UUID
    name: str
    tags: dict[str, str]
    region: str
    allowed_sources: list[str]
    ip: str | None
    port: int | None
    state: AddressState
    state_reason: str | None
    cluster_id: UUID | None
    server_id: UUID | None
    revision: int


class Addresses(Attachables[Address]):
    """What the site shows is as of the time at which it first showed it."""

    noun, nouns, sku = "address", "addresses", ADDRESS_SKU
    row, states = Address, ADDRESS_STATES
    new = ("allowed_sources",)
    moved = f"""{ATTACHMENT}, ip = :ip, port = :port,
        observed_at = CASE WHEN (ip, port) IS DISTINCT FROM (:ip, :port) THEN app_now() ELSE observed_at END"""

    async def change(self, connection: AsyncConnection, actor: Actor, resource_id: UUID, body: Patch) -> None:
        """Sources of one that is attached are enforced by attaching it anew, under the next revision."""
        await super().change(connection, actor, resource_id, body)
        sources = body.allowed_sources if isinstance(body, AddressPatch) else None
        row = await self.lock(connection, actor.project_id, resource_id)
        if sources is None or sources == row.allowed_sources:
            return
        ids = {"project_id": row.project_id, "id": row.id}
        await connection.execute(_SET_SOURCES, ids | {"sources": sources})
        await self.report(connection, "updated", row, request_id=actor.request_id)
        if row.state is AddressState.ATTACHED:
            await self.move(connection, row._replace(revision=row.revision + 1), AddressState.ATTACHING)
        elif row.state is AddressState.ATTACHING:
            await self.advance(connection, row, row.revision + 1)
        await self.wake(connection, row)


_SET_SOURCES = sa.text(
    "UPDATE addresses SET allowed_sources = CAST(:sources AS text[]) WHERE project_id = :project_id AND id = :id"
)
ADDRESSES = Addresses()


class AddressQuota(CountedQuota):
    sku, kinds = ADDRESS_SKU, (ResourceKind.ADDRESS,)

    @staticmethod
    def used(project: str, region: str) -> str:
        return f"""(
  SELECT count(*) FROM addresses AS held
   WHERE held.project_id = {project} AND held.region = {region}
     AND held.state NOT IN ('deleted', 'deleting', 'error'))
"""  # noqa: S608  # our own text

    def exceeded(self, region: str, more: int, used: int, limit: int) -> str:
        return (
            f"The project has {used} of the {limit} addresses that it may have in {region}. Delete one, or ask for a"
            f" higher quota (`ipucloud quotas request {region} {self.sku} {used + more} REASON`)."
        )

    def above(self, region: str, used: int) -> str:
        return f"The project has {used} {'address' if used == 1 else 'addresses'} in {region}"


ADDRESS_QUOTA = AddressQuota()


async def create(
    connection: AsyncConnection, actor: Actor, body: AddressCreate, *, catalogue: Catalogue, settings: Settings
) -> UUID:
    """Record an address to reserve, with its event and work item; its id.

    Raises `Problem`: validation_failed, quota_exceeded, name_taken, budget_reached, payment_overdue,
    cost_limit_reached, state_conflict.
    """
    await projects.lock(connection, actor.project_id)
    region = ADDRESSES.region(catalogue, body.region)
    terms = await ADDRESSES.terms(connection, actor, region, gib=1, tags=body.tags, settings=settings)
    await ADDRESS_QUOTA.require(connection, project_id=actor.project_id, region=region, default=settings.address_limit)
    own = {"region": region, "allowed_sources": body.allowed_sources}
    return await ADDRESSES.insert(connection, actor, terms, name=body.name, tags=body.tags, **own)
