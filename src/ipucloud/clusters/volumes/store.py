"""What requests do with volumes, and what follows from changes of clusters."""

from __future__ import annotations

from uuid import UUID

import orjson
import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.catalogue.queries import VOLUME_SKU, Catalogue
from ipucloud.clusters.admission import Terms, refuse_by_terms, storage_terms
from ipucloud.clusters.attaching import lock_cluster_to_attach_to, server_to_attach_to
from ipucloud.clusters.cost_limits.store import refused_storage
from ipucloud.clusters.volumes.attached import take, wake_volume
from ipucloud.clusters.volumes.quota import require_volume_quota
from ipucloud.clusters.volumes.record import Volume, lock, move, report
from ipucloud.clusters.volumes.source import source_of
from ipucloud.config import Settings
from ipucloud.contract.event_types.projects import VOLUME_CREATED, VOLUME_UPDATED
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate, VolumePatch, VolumeResize, VolumeState
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    IN_USE,
    NAME_TAKEN,
    STATE_CONFLICT,
    VALIDATION_FAILED,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id

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
        raise _invalid(unknown)
    terms = await _admitted(connection, actor, region.slug, body.size_gib, tags=body.tags, settings=settings)
    await require_volume_quota(
        connection,
        project_id=actor.project_id,
        region=region.slug,
        more=body.size_gib,
        default=settings.volume_gib_limit,
    )
    source = await source_of(connection, actor, body)
    made = new_id()
    values = {
        "id": made,
        "project_id": actor.project_id,
        "name": body.name,
        "tags": orjson.dumps(body.tags).decode(),
        "region": region.slug,
        "external_name": f"{made}-1",
        "size_gib": body.size_gib,
        "sku": VOLUME_SKU,
        "currency": terms.per_minute.currency,
        "created_by": actor.token_id,
    }
    await _named(connection, _INSERT, values, body.name)
    if source is not None:
        await connection.execute(_MADE_FROM, {"id": made, "project_id": actor.project_id, "snapshot_id": source})
    volume = await lock(connection, project_id=actor.project_id, volume_id=made)
    await report(connection, VOLUME_CREATED, volume, request_id=actor.request_id)
    await wake_volume(connection, volume)
    return made


async def change(connection: AsyncConnection, actor: Actor, volume_id: UUID, body: VolumePatch) -> None:
    """Change the given fields. Raises `Problem`: not_found, state_conflict, name_taken."""
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    if volume.state in {_S.DELETING, _S.DELETED}:
        raise _conflict(volume, "be changed")
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
    await _named(connection, _CHANGE, values, name)
    await report(connection, VOLUME_UPDATED, volume._replace(name=name), request_id=actor.request_id)


async def attach(connection: AsyncConnection, actor: Actor, volume_id: UUID, body: VolumeAttach) -> None:
    """Let a server of a cluster in use have the volume; asking again for the same server changes nothing.

    Raises `Problem`: not_found, state_conflict, validation_failed.
    """
    if await _OWN.one_or_none(connection, {"project_id": actor.project_id, "id": volume_id}) is None:
        raise not_found()
    cluster = await lock_cluster_to_attach_to(connection, actor, body.cluster, "Volumes are attached to servers")
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    server = await server_to_attach_to(connection, actor, cluster, body.poplar_server, "volume")
    if volume.server_id == server.id and volume.state in {_S.ATTACHING, _S.ATTACHED}:
        return
    if cluster.region != volume.region:
        raise Problem(
            STATE_CONFLICT,
            f"Volume {volume.name} is in {volume.region}, and cluster {cluster.name} in {cluster.region}. Choose a"
            " cluster in the region of the volume.",
        )
    if volume.cluster_id is not None:
        raise Problem(
            STATE_CONFLICT,
            f"Another server has volume {volume.name}, or it is {volume.state}. Detach it, and wait until it is"
            " `available`.",
        )
    if volume.state is not _S.AVAILABLE:
        raise _conflict(volume, "be attached")
    wanted = volume._replace(cluster_id=cluster.id, server_id=server.id, revision=volume.revision + 1)
    await move(connection, wanted, _S.ATTACHING)
    await wake_volume(connection, volume)


async def detach(connection: AsyncConnection, actor: Actor, volume_id: UUID) -> None:
    """Take the volume from its server; one that no server has stays as it is. Raises `Problem`: not_found,
    state_conflict."""
    volume = await lock(connection, project_id=actor.project_id, volume_id=volume_id)
    if volume.state in {_S.AVAILABLE, _S.DETACHING}:
        return
    if volume.state not in {_S.ATTACHING, _S.ATTACHED}:
        raise _conflict(volume, "be detached")
    await take(connection, volume)


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
        raise _conflict(volume, "be resized")
    if body.size_gib < volume.size_gib:
        sentence = (
            f"Volume {volume.name} has {volume.size_gib} GiB, and volumes only grow. Make a smaller volume, and copy"
            " what you need."
        )
        raise _invalid(FieldError("/size_gib", "too_small", sentence))
    await _admitted(connection, actor, volume.region, body.size_gib, tags=volume.tags, settings=settings)
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
        raise _conflict(volume, "be deleted")
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


async def _named(connection: AsyncConnection, statement: sa.TextClause, values: dict[str, object], name: str) -> None:
    try:
        await connection.execute(statement, values)
    except sa.exc.IntegrityError as error:
        if isinstance(error.orig, pg_errors.UniqueViolation):
            raise Problem(
                NAME_TAKEN, f"Another volume of the project is named {name}. Choose another name, or delete that one."
            ) from error
        raise


async def _admitted(
    connection: AsyncConnection, actor: Actor, region: str, gib: int, *, tags: dict[str, str], settings: Settings
) -> Terms:
    terms = await storage_terms(connection, actor, VOLUME_SKU, region, gib=gib, tags=tags, currency=settings.currency)
    if terms is None:
        sentence = (
            f"Volumes are not offered in {region}: the operator has set no price of {VOLUME_SKU} there in the currency"
            " of the account that pays."
        )
        raise _invalid(FieldError("/region", "not_offered", sentence))
    refuse_by_terms(terms)
    if terms.has_cost_limit:
        raise refused_storage()
    return terms


def _invalid(fault: FieldError) -> Problem:
    return Problem(VALIDATION_FAILED, "The volume cannot be as requested; `errors` lists what to change.", [fault])


def _conflict(volume: Volume, what: str) -> Problem:
    return Problem(
        STATE_CONFLICT,
        f"Volume {volume.name} is `{volume.state}` and cannot {what} now. Read it, and wait or choose another one.",
    )
