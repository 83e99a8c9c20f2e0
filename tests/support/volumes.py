"""Volumes as tests ask for them."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.store import create
from ipucloud.contract.volumes import VolumeCreate, VolumeState
from tests.support.factories import Project, offer
from tests.support.world import World

offer_volumes = partial(offer, sku="volume-gib", unit_price="0.0000022831")


def volume_json(name: str = "data", **changes: object) -> dict[str, object]:
    """The body of a volume of 10 GiB."""
    return {"name": name, "region": "luxembourg-2", "size_gib": 10} | changes


async def make_volume(world: World, project: Project, name: str = "data", *, attached_to: UUID | None = None) -> UUID:
    """A volume that exists, as a worker would leave it; `attached_to`: its server is that of this cluster."""
    async with world.database.begin() as connection:
        await offer_volumes(connection)
        body = VolumeCreate.model_validate(volume_json(name))
        volume_id = await create(connection, project.actor, body, catalogue=world.catalogue, settings=world.settings)
        volume = await VOLUMES.move(
            connection, await VOLUMES.lock(connection, project.id, volume_id), VolumeState.AVAILABLE
        )
        await open_stored(connection, project_id=project.id, resource_id=volume_id)
        if attached_to is not None:
            server = await first_server(connection, attached_to)
            attaching = volume._replace(cluster_id=attached_to, server_id=server, revision=1)
            attaching = await VOLUMES.move(connection, attaching, VolumeState.ATTACHING)
            await VOLUMES.move(connection, attaching, VolumeState.ATTACHED)
    return volume_id


async def first_server(connection: AsyncConnection, cluster: UUID) -> UUID:
    statement = sa.text("SELECT id FROM poplar_servers WHERE cluster_id = :id ORDER BY ordinal LIMIT 1")
    server: UUID = (await connection.execute(statement, {"id": cluster})).scalar_one()
    return server
