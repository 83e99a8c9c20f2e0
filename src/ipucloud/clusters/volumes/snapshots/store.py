"""What only requests for snapshots do."""

from __future__ import annotations

from typing import NamedTuple, cast
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.servers import UNKNOWN_SERVER, lock_cluster_in_use, server_of
from ipucloud.clusters.volumes.record import VOLUME_QUOTA, VOLUMES
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.config import Settings
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError, Problem

LEAST_GIB = 1
"""What a snapshot of a server has at least. How much is on its disk is not known before it is copied."""
_READABLE = frozenset({VolumeState.AVAILABLE, VolumeState.ATTACHED})

_VOLUME = Query(
    """
    SELECT id FROM volumes
     WHERE project_id = :project_id AND state <> 'deleted' AND :ref IN (name, id::text)
     ORDER BY name = :ref DESC LIMIT 1
    """,
    UUID,
)
_CLUSTER = Query("SELECT EXISTS (SELECT FROM clusters WHERE project_id = :project_id AND id = :id)", bool)
_IMAGE = Query(
    """
    SELECT coalesce(own.image, c.image)
      FROM clusters c LEFT JOIN snapshots own ON (own.project_id, own.external_name) = (c.project_id, c.image)
     WHERE c.project_id = :project_id AND c.id = :id
    """,
    str,
)


class _Source(NamedTuple):
    """What is copied: a volume of so many GiB, or the disk of a server with an image of the catalogue."""

    region: str
    size_gib: int | None
    volume_id: UUID | None = None
    cluster_id: UUID | None = None
    server_id: UUID | None = None
    image: str | None = None


async def create(connection: AsyncConnection, actor: Actor, body: SnapshotCreate, *, settings: Settings) -> UUID:
    """Record a snapshot to take, with its event and work item; its id.

    Raises `Problem`: validation_failed, not_found, quota_exceeded, name_taken, budget_reached, payment_overdue,
    cost_limit_reached, state_conflict.
    """
    await projects.lock(connection, actor.project_id)
    source = await _source(connection, actor, body)
    gib = source.size_gib or LEAST_GIB
    pointer = "/cluster" if source.volume_id is None else "/volume"
    terms = await SNAPSHOTS.terms(
        connection, actor, source.region, gib=gib, tags=body.tags, settings=settings, pointer=pointer
    )
    await VOLUME_QUOTA.require(
        connection,
        project_id=actor.project_id,
        region=source.region,
        more=gib,
        default=settings.volume_gib_limit,
    )
    return await SNAPSHOTS.insert(connection, actor, terms, name=body.name, tags=body.tags, **source._asdict())


async def _source(connection: AsyncConnection, actor: Actor, body: SnapshotCreate) -> _Source:
    """The locked volume or cluster to copy from."""
    if (body.volume is None) == (body.cluster is None):
        sentence = "A snapshot is of a volume or of a server: name a `volume`, or a `cluster`."
        raise SNAPSHOTS.invalid(FieldError("/volume", "one_source", sentence))
    if body.volume is None:
        return await _of_server(connection, actor, body)
    if body.poplar_server is not None:
        raise SNAPSHOTS.invalid(FieldError("/poplar_server", "no_cluster", "Only together with `cluster`."))
    return await _of_volume(connection, actor, body.volume)


async def _of_volume(connection: AsyncConnection, actor: Actor, ref: str) -> _Source:
    volume_id = await _VOLUME.one_or_none(connection, {"project_id": actor.project_id, "ref": ref})
    if volume_id is None:
        sentence = f"The project has no volume {ref}; `GET …/volumes` lists those it has."
        raise SNAPSHOTS.invalid(FieldError("/volume", "unknown_volume", sentence))
    volume = await VOLUMES.lock(connection, actor.project_id, volume_id)
    if volume.state not in _READABLE:
        raise Problem(
            STATE_CONFLICT,
            f"Volume {volume.name} is `{volume.state}`; snapshots are taken of volumes that are `available` or"
            " `attached`. Wait, and try again.",
        )
    return _Source(volume.region, volume.size_gib, volume_id=volume.id)


async def _of_server(connection: AsyncConnection, actor: Actor, body: SnapshotCreate) -> _Source:
    if not await _CLUSTER.one(connection, {"project_id": actor.project_id, "id": body.cluster}):
        sentence = f"The project has no cluster {body.cluster}; `GET …/clusters` lists those it has."
        raise SNAPSHOTS.invalid(FieldError("/cluster", "unknown_cluster", sentence))
    what = "Snapshots are taken of servers"
    cluster = await lock_cluster_in_use(connection, actor, cast("UUID", body.cluster), what)
    server = await server_of(connection, actor, cluster.id, body.poplar_server)
    if server is None:
        raise SNAPSHOTS.invalid(UNKNOWN_SERVER)
    image = await _IMAGE.one(connection, {"project_id": actor.project_id, "id": cluster.id})
    return _Source(cluster.region, None, cluster_id=cluster.id, server_id=server.id, image=image)
