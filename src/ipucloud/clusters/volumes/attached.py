"""What follows for volumes from changes of the clusters that have them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.volumes.record import VOLUMES, Volume, lock, move
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.rows import Query
from ipucloud.reconcile.wake import wake

_OF_CLUSTER = Query(
    """
    SELECT id FROM volumes WHERE project_id = :project_id AND cluster_id = :cluster_id
       AND state IN ('attaching', 'attached', 'resizing')
     ORDER BY id FOR NO KEY UPDATE
    """,
    UUID,
)
_OF_SERVERS = Query(
    """
    SELECT v.id FROM volumes v JOIN poplar_servers s ON (s.project_id, s.id) = (v.project_id, v.server_id)
     WHERE v.project_id = :project_id AND v.cluster_id = :cluster_id AND s.ordinal = ANY (CAST(:ordinals AS integer[]))
     ORDER BY v.id
    """,
    UUID,
)


async def let_go(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """A locked cluster is being deleted: its volumes are detached, and stay."""
    for each in await _OF_CLUSTER.all(connection, {"project_id": project_id, "cluster_id": cluster_id}):
        volume = await lock(connection, project_id=project_id, volume_id=each)
        if volume.state is VolumeState.RESIZING:  # it follows once it has its new size
            continue
        await take(connection, volume)


async def renew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]) -> None:
    """Servers of a locked cluster have started: look again at whether they have their volumes."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals]}
    for each in await _OF_SERVERS.all(connection, values):
        await wake(connection, kind=VOLUMES, key=str(each), project_id=project_id)


async def take(connection: AsyncConnection, volume: Volume) -> None:
    """Have a locked volume detached."""
    await move(connection, volume._replace(revision=volume.revision + 1), VolumeState.DETACHING)
    await wake_volume(connection, volume)


async def wake_volume(connection: AsyncConnection, volume: Volume) -> None:
    await wake(connection, kind=VOLUMES, key=str(volume.id), project_id=volume.project_id)
