"""Snapshots as tests ask for them."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.clusters.volumes.snapshots.store import create
from ipucloud.contract.snapshots import SnapshotCreate, SnapshotState
from tests.support.factories import Project, offer
from tests.support.volumes import make_volume
from tests.support.world import World

offer_snapshots = partial(offer, sku="snapshot-gib", unit_price="0.0000011416")


async def request_snapshot(world: World, project: Project, volume: UUID, name: str = "before") -> UUID:
    """A snapshot that was requested, and not taken yet."""
    async with world.database.begin() as connection:
        await offer_snapshots(connection)
        body = SnapshotCreate(name=name, volume=str(volume))
        return await create(connection, project.actor, body, settings=world.settings)


async def make_image(world: World, project: Project, cluster: UUID, name: str = "env") -> UUID:
    """A snapshot of the first server of a cluster in use, as a worker would leave it, of 3 GiB."""
    async with world.database.begin() as connection:
        await offer_snapshots(connection)
        body = SnapshotCreate(name=name, cluster=cluster)
        snapshot_id = await create(connection, project.actor, body, settings=world.settings)
        await _taken(connection, project, snapshot_id, size_gib=3)
    return snapshot_id


async def make_snapshot(world: World, project: Project, name: str = "before") -> UUID:
    """A snapshot of a volume of its own, as a worker would leave it."""
    volume = await make_volume(world, project, f"{name}-of")
    snapshot_id = await request_snapshot(world, project, volume, name)
    async with world.database.begin() as connection:
        await _taken(connection, project, snapshot_id)
    return snapshot_id


async def _taken(connection: AsyncConnection, project: Project, snapshot_id: UUID, **changes: Any) -> None:
    snapshot = await SNAPSHOTS.lock(connection, project.id, snapshot_id)
    await SNAPSHOTS.move(connection, snapshot._replace(**changes), SnapshotState.AVAILABLE)
    await open_stored(connection, project_id=project.id, resource_id=snapshot_id)
