"""What only requests for addresses do."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.addresses.quota import ADDRESS_QUOTA
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.config import Settings
from ipucloud.contract.addresses import AddressCreate
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor


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
    return await ADDRESSES.insert(connection, actor, terms, name=body.name, tags=body.tags, region=region)
