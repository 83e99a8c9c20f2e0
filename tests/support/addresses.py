"""Addresses as tests ask for them."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.addresses.record import ADDRESSES, create
from ipucloud.contract.addresses import AddressCreate, AddressState
from tests.support.factories import Project
from tests.support.world import World

IP = "203.0.113.17"
_OFFER = sa.text(
    """
    INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)
    SELECT gen_random_uuid(), 'address', 'luxembourg-2', 'EUR', 0.0000684932, '2020-01-01', 'test'
     WHERE NOT EXISTS (SELECT FROM prices WHERE sku = 'address' AND region = 'luxembourg-2')
    """
)


async def offer_addresses(connection: AsyncConnection) -> None:
    """Set the price without which the operator offers no addresses."""
    await connection.execute(_OFFER)


def address_json(name: str = "frontdoor", **changes: object) -> dict[str, object]:
    """The body of an address."""
    return {"name": name, "region": "luxembourg-2"} | changes


async def make_address(
    world: World, project: Project, name: str = "frontdoor", *, attached_to: UUID | None = None
) -> UUID:
    """An address that exists, as a worker would leave it; `attached_to`: its server is that of this cluster."""
    async with world.database.begin() as connection:
        await offer_addresses(connection)
        body = AddressCreate.model_validate(address_json(name))
        address_id = await create(connection, project.actor, body, catalogue=world.catalogue, settings=world.settings)
        requested = await ADDRESSES.lock(connection, project.id, address_id)
        address = await ADDRESSES.move(connection, requested._replace(ip=IP, port=22), AddressState.AVAILABLE)
        await open_stored(connection, project_id=project.id, resource_id=address_id)
        if attached_to is not None:
            statement = sa.text("SELECT id FROM poplar_servers WHERE cluster_id = :id ORDER BY ordinal LIMIT 1")
            server = (await connection.execute(statement, {"id": attached_to})).scalar_one()
            attaching = address._replace(cluster_id=attached_to, server_id=server, revision=1)
            await ADDRESSES.move(
                connection, await ADDRESSES.move(connection, attaching, AddressState.ATTACHING), AddressState.ATTACHED
            )
    return address_id
