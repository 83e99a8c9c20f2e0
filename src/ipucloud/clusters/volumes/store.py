"""What requests do with volumes, and what follows from changes of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.attaching import lock_cluster_to_attach_to, refuse_unless_free, server_to_attach_to
from ipucloud.clusters.nouns import VOLUME
from ipucloud.clusters.volumes.quota import require_volume_quota
from ipucloud.clusters.volumes.record import VOLUMES, Volume, lock, move, report
from ipucloud.clusters.volumes.source import source_of
from ipucloud.config import Settings
from ipucloud.contract.event_types.projects import VOLUME_CREATED, VOLUME_UPDATED
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate, VolumePatch, VolumeResize, VolumeState
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    IN_USE,
    STATE_CONFLICT,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id
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


async def detach_all(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """A locked cluster is being deleted: its volumes are detached, and stay."""
    for volume_id in await _OF_CLUSTER.all(connection, {"project_id": project_id, "cluster_id": cluster_id}):
        volume = await lock(connection, project_id=project_id, volume_id=volume_id)
        if volume.state is VolumeState.RESIZING:  # it follows once it has its new size
            continue
        await begin_detach(connection, volume)


async def renew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, ordinals: Sequence[int]) -> None:
    """Servers of a locked cluster have started: look again at whether they have their volumes."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "ordinals": [*ordinals]}
    for volume_id in await _OF_SERVERS.all(connection, values):
        await wake(connection, kind=VOLUMES, key=str(volume_id), project_id=project_id)


async def begin_detach(connection: AsyncConnection, volume: Volume) -> None:
    """Have a locked volume detached."""
    await move(connection, volume._replace(revision=volume.revision + 1), VolumeState.DETACHING)
    await wake_volume(connection, volume)


async def wake_volume(connection: AsyncConnection, volume: Volume) -> None:
    await wake(connection, kind=VOLUMES, key=str(volume.id), project_id=volume.project_id)


_S = VolumeState

_INSERT = sa.text(
    """
    INSERT INTO volumes (id, project_id, name, tags, region, external_name, size_gib, sku, currency, created_by)
    VALUES (:id, :project_id, :name, CAST(:tags AS jsonb), :region, :external_name, :size_gib, :sku, :currency,
            :created_by)
    """
)
_MADE_FROM = sa.text(
    "INSERT INTO volume_origins (volume_id, project_id, snapshot_id) VALUES (:id, :project_id, :snapshot_id)"
)
_CHANGE = sa.text(
    """
    UPDATE volumes SET name = :name, tags = CAST(:tags AS jsonb) WHERE project_id = :project_id AND id = :id
    """
)
_COPIED = Query(
    """
    SELECT name FROM snapshots WHERE project_id = :project_id AND volume_id = :id AND state = 'creating'
     ORDER BY name LIMIT 1
    """,
    str,
)
# Locked, so that none of another project is found; the lock lets every change pass.
_OWN = Query("SELECT id FROM volumes WHERE project_id = :project_id AND id = :id FOR KEY SHARE", UUID)
_ANY = Query("SELECT EXISTS (SELECT FROM volumes WHERE project_id = :project_id AND state <> 'deleted')", bool)


async def create(
    connection: AsyncConnection, actor: Actor, body: VolumeCreate, *, catalogue: Catalogue, settings: Settings
) -> UUID:
    """Record a volume to make, with its event and work item; its id.

    Raises `Problem`: validation_failed, quota_exceeded, name_taken, budget_reached, payment_overdue,
    cost_limit_reached, state_conflict.
    """
    await projects.lock(connection, actor.project_id)
    region = catalogue.find_region(body.region)
    if region is None:
        unknown = FieldError("/region", "unknown_region", "This region does not exist; `GET /v1/regions` lists them.")
        raise VOLUME.invalid(unknown)
    terms = await VOLUME.terms(connection, actor, region.slug, gib=body.size_gib, tags=body.tags, settings=settings)
    await require_volume_quota(
        connection,
        project_id=actor.project_id,
        region=region.slug,
        more=body.size_gib,
        default=settings.volume_gib_limit,
    )
    source = await source_of(connection, actor, body)
    volume_id = new_id()
    values = {
        "id": volume_id,
        "project_id": actor.project_id,
        "name": body.name,
        "tags": orjson.dumps(body.tags).decode(),
        "region": region.slug,
        "external_name": f"{volume_id}-1",
        "size_gib": body.size_gib,
        "sku": VOLUME.sku,
        "currency": terms.per_minute.currency,
        "created_by": actor.token_id,
    }
    await VOLUME.write(connection, _INSERT, values, name=body.name)
    if source is not None:
        await connection.execute(_MADE_FROM, {"id": volume_id, "project_id": actor.project_id, "snapshot_id": source})
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    await report(connection, VOLUME_CREATED, volume, request_id=actor.request_id)
    await wake_volume(connection, volume)
    return volume_id


async def change(connection: AsyncConnection, actor: Actor, volume_id: UUID, body: VolumePatch) -> None:
    """Change the given fields. Raises `Problem`: not_found, state_conflict, name_taken."""
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    if volume.state in {_S.DELETING, _S.DELETED}:
        raise VOLUME.conflict(volume.name, volume.state, "be changed")
    name = volume.name if body.name is None else body.name
    tags = volume.tags if body.tags is None else body.tags
    if name != volume.name and volume.cluster_id is not None:
        raise Problem(
            STATE_CONFLICT,
            f"Volume {volume.name} is attached, and its folder is named after it. Detach it before you rename it.",
        )
    if (name, tags) == (volume.name, volume.tags):
        return
    values = {"project_id": volume.project_id, "id": volume.id, "name": name, "tags": orjson.dumps(tags).decode()}
    await VOLUME.write(connection, _CHANGE, values, name=name)
    await report(connection, VOLUME_UPDATED, volume._replace(name=name), request_id=actor.request_id)


async def attach(connection: AsyncConnection, actor: Actor, volume_id: UUID, body: VolumeAttach) -> None:
    """Let a server of a cluster in use have the volume; asking again for the same server changes nothing.

    Raises `Problem`: not_found, state_conflict, validation_failed.
    """
    if await _OWN.one_or_none(connection, {"project_id": actor.project_id, "id": volume_id}) is None:
        raise not_found()
    cluster = await lock_cluster_to_attach_to(connection, actor, body.cluster, VOLUME)
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    server = await server_to_attach_to(connection, actor, cluster, body.poplar_server, VOLUME)
    if volume.server_id == server.id and volume.state in {_S.ATTACHING, _S.ATTACHED}:
        return
    refuse_unless_free(VOLUME, volume, cluster)
    desired = volume._replace(cluster_id=cluster.id, server_id=server.id, revision=volume.revision + 1)
    await move(connection, desired, _S.ATTACHING)
    await wake_volume(connection, volume)


async def detach(connection: AsyncConnection, actor: Actor, volume_id: UUID) -> None:
    """Take the volume from its server; one that no server has stays as it is. Raises `Problem`: not_found,
    state_conflict."""
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    if volume.state in {_S.AVAILABLE, _S.DETACHING}:
        return
    if volume.state not in {_S.ATTACHING, _S.ATTACHED}:
        raise VOLUME.conflict(volume.name, volume.state, "be detached")
    await begin_detach(connection, volume)


async def resize(
    connection: AsyncConnection, actor: Actor, volume_id: UUID, body: VolumeResize, *, settings: Settings
) -> None:
    """Let a volume grow; asking again for the size that it grows to, or has, changes nothing.

    Raises `Problem`: not_found, state_conflict, validation_failed, quota_exceeded, budget_reached, payment_overdue,
    cost_limit_reached.
    """
    await projects.lock(connection, actor.project_id)
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    if body.size_gib == (volume.wanted_gib or volume.size_gib) and volume.state in {
        _S.RESIZING,
        _S.AVAILABLE,
        _S.ATTACHED,
    }:
        return
    if volume.state not in {_S.AVAILABLE, _S.ATTACHED}:
        raise VOLUME.conflict(volume.name, volume.state, "be resized")
    if body.size_gib < volume.size_gib:
        sentence = (
            f"Volume {volume.name} has {volume.size_gib} GiB, and volumes only grow. Make a smaller volume, and copy"
            " what you need."
        )
        raise VOLUME.invalid(FieldError("/size_gib", "too_small", sentence))
    await VOLUME.terms(connection, actor, volume.region, gib=body.size_gib, tags=volume.tags, settings=settings)
    await require_volume_quota(
        connection,
        project_id=actor.project_id,
        region=volume.region,
        more=body.size_gib - volume.size_gib,
        default=settings.volume_gib_limit,
    )
    await move(connection, volume._replace(wanted_gib=body.size_gib), _S.RESIZING)
    await wake_volume(connection, volume)


async def delete(connection: AsyncConnection, actor: Actor, volume_id: UUID) -> None:
    """Have the volume deleted with its data, and bill it no longer. Raises `Problem`: not_found, in_use,
    state_conflict."""
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    if volume.state is _S.DELETED:
        raise Problem(STATE_CONFLICT, f"Volume {volume.name} is deleted already.")
    if volume.state is _S.DELETING:
        return
    if volume.cluster_id is not None:
        raise Problem(
            IN_USE, f"A server has volume {volume.name}. Detach it, and wait until it is `available`, then delete it."
        )
    if volume.state is _S.RESIZING:
        raise VOLUME.conflict(volume.name, volume.state, "be deleted")
    copied = await _COPIED.one_or_none(connection, {"project_id": volume.project_id, "id": volume.id})
    if copied is not None:
        raise Problem(
            IN_USE,
            f"Snapshot {copied} of volume {volume.name} is being taken. Wait until it is `available`, or delete it,"
            " then delete the volume.",
        )
    await move(connection, volume, _S.DELETING)
    await wake_volume(connection, volume)
    await close_stored(connection, project_id=volume.project_id, resource_id=volume.id)


async def refuse_if_any(connection: AsyncConnection, project_id: UUID) -> None:
    """Raise `Problem` in_use while a project that is being deleted has volumes."""
    if await _ANY.one(connection, {"project_id": project_id}):
        raise Problem(IN_USE, "Delete the project's volumes first, and wait until they are `deleted`.")
