"""Addresses as tests ask for them."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.addresses.record import ADDRESSES, create
from ipucloud.contract.addresses import AddressCreate, AddressState
from tests.support.factories import Project, offer
from tests.support.volumes import first_server
from tests.support.world import World

IP = "203.0.113.17"
offer_addresses = partial(offer, sku="address", unit_price="0.0000684932")


def address_json(name: str = "frontdoor", **changes: object) -> dict[str, object]:
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
            server = await first_server(connection, attached_to)
            attaching = address._replace(cluster_id=attached_to, server_id=server, revision=1)
            attaching = await ADDRESSES.move(connection, attaching, AddressState.ATTACHING)
            await ADDRESSES.move(connection, attaching, AddressState.ATTACHED)
    return address_id
