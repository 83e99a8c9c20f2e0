"""What only requests for volumes do."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.volumes.record import VOLUME_QUOTA, VOLUMES
from ipucloud.clusters.volumes.source import source_of
from ipucloud.config import Settings
from ipucloud.contract.volumes import VolumeCreate, VolumeResize, VolumeState
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import FieldError

_S = VolumeState
_MADE_FROM = sa.text(
    "INSERT INTO volume_origins (volume_id, project_id, snapshot_id) VALUES (:id, :project_id, :snapshot_id)"
)


async def create(
    connection: AsyncConnection, actor: Actor, body: VolumeCreate, *, catalogue: Catalogue, settings: Settings
) -> UUID:
    """Record a volume to make, with its event and work item; its id.

    Raises `Problem`: validation_failed, quota_exceeded, name_taken, budget_reached, payment_overdue,
    cost_limit_reached, state_conflict.
    """
    await projects.lock(connection, actor.project_id)
    region = VOLUMES.region(catalogue, body.region)
    terms = await VOLUMES.terms(connection, actor, region, gib=body.size_gib, tags=body.tags, settings=settings)
    await VOLUME_QUOTA.require(
        connection,
        project_id=actor.project_id,
        region=region,
        more=body.size_gib,
        default=settings.volume_gib_limit,
    )
    source = await source_of(connection, actor, body)
    volume_id = await VOLUMES.insert(
        connection, actor, terms, name=body.name, tags=body.tags, region=region, size_gib=body.size_gib
    )
    if source is not None:
        await connection.execute(_MADE_FROM, {"id": volume_id, "project_id": actor.project_id, "snapshot_id": source})
    return volume_id


async def resize(
    connection: AsyncConnection, actor: Actor, volume_id: UUID, body: VolumeResize, *, settings: Settings
) -> None:
    """Let a volume grow; asking again for the size that it grows to, or has, changes nothing.

    Raises `Problem`: not_found, state_conflict, validation_failed, quota_exceeded, budget_reached, payment_overdue,
    cost_limit_reached.
    """
    await projects.lock(connection, actor.project_id)
    volume = await VOLUMES.lock(connection, actor.project_id, volume_id)
    if body.size_gib == (volume.wanted_gib or volume.size_gib) and volume.state in {
        _S.RESIZING,
        _S.AVAILABLE,
        _S.ATTACHED,
    }:
        return
    if volume.state not in {_S.AVAILABLE, _S.ATTACHED}:
        raise VOLUMES.conflict(volume, "be resized")
    if body.size_gib < volume.size_gib:
        sentence = (
            f"Volume {volume.name} has {volume.size_gib} GiB, and volumes only grow. Make a smaller volume, and copy"
            " what you need."
        )
        raise VOLUMES.invalid(FieldError("/size_gib", "too_small", sentence))
    await VOLUMES.terms(connection, actor, volume.region, gib=body.size_gib, tags=volume.tags, settings=settings)
    await VOLUME_QUOTA.require(
        connection,
        project_id=actor.project_id,
        region=volume.region,
        more=body.size_gib - volume.size_gib,
        default=settings.volume_gib_limit,
    )
    await VOLUMES.move(connection, volume._replace(wanted_gib=body.size_gib), _S.RESIZING)
    await VOLUMES.wake(connection, volume)
