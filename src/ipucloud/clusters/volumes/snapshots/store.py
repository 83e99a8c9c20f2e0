"""What requests do with snapshots."""

from __future__ import annotations

from uuid import UUID

import orjson
import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.catalogue.queries import SNAPSHOT_SKU
from ipucloud.clusters.admission import Terms, refuse_by_terms, storage_terms
from ipucloud.clusters.cost_limits.store import refused_storage
from ipucloud.clusters.volumes.quota import require_volume_quota
from ipucloud.clusters.volumes.record import Volume
from ipucloud.clusters.volumes.record import lock as lock_volume
from ipucloud.clusters.volumes.snapshots.record import lock, move, report, wake_snapshot
from ipucloud.config import Settings
from ipucloud.contract.event_types.projects import SNAPSHOT_CREATED, SNAPSHOT_UPDATED
from ipucloud.contract.snapshots import SnapshotCreate, SnapshotPatch, SnapshotState
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import IN_USE, NAME_TAKEN, STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.ids import new_id

_S = SnapshotState
_READABLE = frozenset({VolumeState.AVAILABLE, VolumeState.ATTACHED})

_INSERT = sa.text(
    """
    INSERT INTO snapshots (id, project_id, volume_id, name, tags, region, external_name, size_gib, sku, currency,
                           created_by)
    VALUES (:id, :project_id, :volume_id, :name, CAST(:tags AS jsonb), :region, :external_name, :size_gib, :sku,
            :currency, :created_by)
    """
)
_CHANGE = sa.text(
    "UPDATE snapshots SET name = :name, tags = CAST(:tags AS jsonb) WHERE project_id = :project_id AND id = :id"
)
_VOLUME = Query(
    """
    SELECT id FROM volumes
     WHERE project_id = :project_id AND state <> 'deleted' AND :ref IN (name, id::text)
     ORDER BY name = :ref DESC LIMIT 1
    """,
    UUID,
)
_ANY = Query("SELECT EXISTS (SELECT FROM snapshots WHERE project_id = :project_id AND state <> 'deleted')", bool)
_FILLING = Query(
    """
    SELECT v.name FROM volume_origins o JOIN volumes v ON (v.project_id, v.id) = (o.project_id, o.volume_id)
     WHERE o.project_id = :project_id AND o.snapshot_id = :id AND v.state = 'creating' ORDER BY v.name LIMIT 1
    """,
    str,
)


async def create(connection: AsyncConnection, actor: Actor, body: SnapshotCreate, *, settings: Settings) -> UUID:
    """Record a snapshot to take, with its event and work item; its id.

    Raises `Problem`: validation_failed, quota_exceeded, name_taken, budget_reached, payment_overdue,
    cost_limit_reached, state_conflict.
    """
    await projects.lock(connection, actor.project_id)
    volume = await _source(connection, actor, body.volume)
    terms = await _admitted(connection, actor, volume, tags=body.tags, settings=settings)
    await require_volume_quota(
        connection,
        project_id=actor.project_id,
        region=volume.region,
        more=volume.size_gib,
        default=settings.volume_gib_limit,
    )
    made = new_id()
    values = {
        "id": made,
        "project_id": actor.project_id,
        "volume_id": volume.id,
        "name": body.name,
        "tags": orjson.dumps(body.tags).decode(),
        "region": volume.region,
        "external_name": f"{made}-1",
        "size_gib": volume.size_gib,
        "sku": SNAPSHOT_SKU,
        "currency": terms.per_minute.currency,
        "created_by": actor.token_id,
    }
    await _named(connection, _INSERT, values, body.name)
    snapshot = await lock(connection, project_id=actor.project_id, snapshot_id=made)
    await report(connection, SNAPSHOT_CREATED, snapshot, request_id=actor.request_id)
    await wake_snapshot(connection, snapshot)
    return made


async def change(connection: AsyncConnection, actor: Actor, snapshot_id: UUID, body: SnapshotPatch) -> None:
    """Change the given fields. Raises `Problem`: not_found, state_conflict, name_taken."""
    snapshot = await lock(connection, project_id=actor.project_id, snapshot_id=snapshot_id)
    if snapshot.state in {_S.DELETING, _S.DELETED}:
        raise Problem(STATE_CONFLICT, f"Snapshot {snapshot.name} is `{snapshot.state}` and cannot be changed.")
    name = snapshot.name if body.name is None else body.name
    tags = snapshot.tags if body.tags is None else body.tags
    if (name, tags) == (snapshot.name, snapshot.tags):
        return
    values = {"project_id": snapshot.project_id, "id": snapshot.id, "name": name, "tags": orjson.dumps(tags).decode()}
    await _named(connection, _CHANGE, values, name)
    await report(connection, SNAPSHOT_UPDATED, snapshot._replace(name=name), request_id=actor.request_id)


async def delete(connection: AsyncConnection, actor: Actor, snapshot_id: UUID) -> None:
    """Have the snapshot deleted, and bill it no longer. Raises `Problem`: not_found, in_use, state_conflict."""
    snapshot = await lock(connection, project_id=actor.project_id, snapshot_id=snapshot_id)
    if snapshot.state is _S.DELETED:
        raise Problem(STATE_CONFLICT, f"Snapshot {snapshot.name} is deleted already.")
    if snapshot.state is _S.DELETING:
        return
    filling = await _FILLING.one_or_none(connection, {"project_id": snapshot.project_id, "id": snapshot.id})
    if filling is not None:
        raise Problem(
            IN_USE,
            f"Volume {filling} is being made from snapshot {snapshot.name}. Wait until it is `available`, then delete"
            " the snapshot.",
        )
    await move(connection, snapshot, _S.DELETING)
    await wake_snapshot(connection, snapshot)
    await close_stored(connection, project_id=snapshot.project_id, resource_id=snapshot.id)


async def refuse_if_any(connection: AsyncConnection, project_id: UUID) -> None:
    """Raise `Problem` in_use while a project that is being deleted has snapshots."""
    if await _ANY.one(connection, {"project_id": project_id}):
        raise Problem(IN_USE, "Delete the project's snapshots first, and wait until they are `deleted`.")


async def _source(connection: AsyncConnection, actor: Actor, ref: str) -> Volume:
    """The locked volume to copy."""
    found = await _VOLUME.one_or_none(connection, {"project_id": actor.project_id, "ref": ref})
    if found is None:
        sentence = f"The project has no volume {ref}; `GET …/volumes` lists those it has."
        raise _invalid(FieldError("/volume", "unknown_volume", sentence))
    volume = await lock_volume(connection, project_id=actor.project_id, volume_id=found)
    if volume.state not in _READABLE:
        raise Problem(
            STATE_CONFLICT,
            f"Volume {volume.name} is `{volume.state}`; snapshots are taken of volumes that are `available` or"
            " `attached`. Wait, and try again.",
        )
    return volume


async def _admitted(
    connection: AsyncConnection, actor: Actor, volume: Volume, *, tags: dict[str, str], settings: Settings
) -> Terms:
    terms = await storage_terms(
        connection, actor, SNAPSHOT_SKU, volume.region, gib=volume.size_gib, tags=tags, currency=settings.currency
    )
    if terms is None:
        sentence = f"Snapshots are not offered in {volume.region}: the operator has set no price of {SNAPSHOT_SKU}."
        raise _invalid(FieldError("/volume", "not_offered", sentence))
    refuse_by_terms(terms)
    if terms.has_cost_limit:
        raise refused_storage()
    return terms


async def _named(connection: AsyncConnection, statement: sa.TextClause, values: dict[str, object], name: str) -> None:
    try:
        await connection.execute(statement, values)
    except sa.exc.IntegrityError as error:
        if isinstance(error.orig, pg_errors.UniqueViolation):
            raise Problem(
                NAME_TAKEN,
                f"Another snapshot of the project is named {name}. Choose another name, or delete that one.",
            ) from error
        raise


def _invalid(fault: FieldError) -> Problem:
    return Problem(VALIDATION_FAILED, "The snapshot cannot be as requested; `errors` lists what to change.", [fault])
