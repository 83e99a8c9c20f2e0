"""What requests do with snapshots."""

from __future__ import annotations

from typing import NamedTuple, cast
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.clusters.nouns import SNAPSHOT
from ipucloud.clusters.servers import UNKNOWN_SERVER, lock_cluster_in_use, server_of
from ipucloud.clusters.volumes.quota import require_volume_quota
from ipucloud.clusters.volumes.record import lock as lock_volume
from ipucloud.clusters.volumes.snapshots.record import lock, move, report, wake_snapshot
from ipucloud.config import Settings
from ipucloud.contract.event_types.projects import SNAPSHOT_CREATED, SNAPSHOT_UPDATED
from ipucloud.contract.snapshots import SnapshotCreate, SnapshotPatch, SnapshotState
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.rows import Query
from ipucloud.identity import projects
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import IN_USE, STATE_CONFLICT, FieldError, Problem
from ipucloud.kernel.ids import new_id

_S = SnapshotState
LEAST_GIB = 1
"""What a snapshot of a server has at least. How much is on its disk is not known before it is copied."""
_READABLE = frozenset({VolumeState.AVAILABLE, VolumeState.ATTACHED})

_INSERT = sa.text(
    """
    INSERT INTO snapshots (id, project_id, volume_id, cluster_id, server_id, image, name, tags, region, external_name,
                           size_gib, sku, currency, created_by)
    VALUES (:id, :project_id, :volume_id, :cluster_id, :server_id, :image, :name, CAST(:tags AS jsonb), :region,
            :external_name, :size_gib, :sku, :currency, :created_by)
    """
).bindparams(
    sa.bindparam("volume_id", type_=sa.Uuid),
    sa.bindparam("cluster_id", type_=sa.Uuid),
    sa.bindparam("server_id", type_=sa.Uuid),
    sa.bindparam("image", type_=sa.Text),
    sa.bindparam("size_gib", type_=sa.Integer),
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
_CLUSTER = Query("SELECT EXISTS (SELECT FROM clusters WHERE project_id = :project_id AND id = :id)", bool)
_IMAGE = Query(
    """
    SELECT coalesce(own.image, c.image)
      FROM clusters c LEFT JOIN snapshots own ON (own.project_id, own.external_name) = (c.project_id, c.image)
     WHERE c.project_id = :project_id AND c.id = :id
    """,
    str,
)
_ANY = Query("SELECT EXISTS (SELECT FROM snapshots WHERE project_id = :project_id AND state <> 'deleted')", bool)


class _Needed(NamedTuple):
    """What is made from a snapshot, and what to do before the snapshot can be deleted."""

    what: str
    first: str


_NEEDED = Query(
    """
    SELECT format('Volume %s is being made', v.name) AS what, 'Wait until it is `available`' AS first
      FROM volume_origins o JOIN volumes v ON (v.project_id, v.id) = (o.project_id, o.volume_id)
     WHERE o.project_id = :project_id AND o.snapshot_id = :id AND v.state = 'creating'
     UNION ALL
    SELECT format('Cluster %s has servers that are made', c.name),
           'Delete the cluster, or rebuild it with another image'
      FROM snapshots s JOIN clusters c ON (c.project_id, c.image) = (s.project_id, s.external_name)
     WHERE s.project_id = :project_id AND s.id = :id AND c.state NOT IN ('deleting', 'deleted')
     UNION ALL
    SELECT format('Servers of cluster %s are to be made', c.name),
           'Wait for the rebuild, and rebuild it with another image'
      FROM snapshots s JOIN cluster_rebuilds r ON (r.project_id, r.image) = (s.project_id, s.external_name)
      JOIN operations o ON (o.project_id, o.id) = (r.project_id, r.operation_id)
      JOIN clusters c ON (c.project_id, c.id) = (r.project_id, r.cluster_id)
     WHERE s.project_id = :project_id AND s.id = :id AND o.finished_at IS NULL
     LIMIT 1
    """,
    _Needed,
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
    terms = await SNAPSHOT.terms(
        connection, actor, source.region, gib=gib, tags=body.tags, settings=settings, pointer=pointer
    )
    await require_volume_quota(
        connection,
        project_id=actor.project_id,
        region=source.region,
        more=gib,
        default=settings.volume_gib_limit,
    )
    snapshot_id = new_id()
    values = source._asdict() | {
        "id": snapshot_id,
        "project_id": actor.project_id,
        "name": body.name,
        "tags": orjson.dumps(body.tags).decode(),
        "external_name": f"{snapshot_id}-1",
        "sku": SNAPSHOT.sku,
        "currency": terms.per_minute.currency,
        "created_by": actor.token_id,
    }
    await SNAPSHOT.write(connection, _INSERT, values, name=body.name)
    snapshot = await lock(connection, project_id=actor.project_id, snapshot_id=snapshot_id)
    await report(connection, SNAPSHOT_CREATED, snapshot, request_id=actor.request_id)
    await wake_snapshot(connection, snapshot)
    return snapshot_id


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
    await SNAPSHOT.write(connection, _CHANGE, values, name=name)
    await report(connection, SNAPSHOT_UPDATED, snapshot._replace(name=name), request_id=actor.request_id)


async def delete(connection: AsyncConnection, actor: Actor, snapshot_id: UUID) -> None:
    """Have the snapshot deleted, and bill it no longer. Raises `Problem`: not_found, in_use, state_conflict."""
    snapshot = await lock(connection, project_id=actor.project_id, snapshot_id=snapshot_id)
    if snapshot.state is _S.DELETED:
        raise Problem(STATE_CONFLICT, f"Snapshot {snapshot.name} is deleted already.")
    if snapshot.state is _S.DELETING:
        return
    needed = await _NEEDED.one_or_none(connection, {"project_id": snapshot.project_id, "id": snapshot.id})
    if needed is not None:
        raise Problem(
            IN_USE,
            f"{needed.what} from snapshot {snapshot.name}. {needed.first}, then delete the snapshot.",
        )
    await move(connection, snapshot, _S.DELETING)
    await wake_snapshot(connection, snapshot)
    await close_stored(connection, project_id=snapshot.project_id, resource_id=snapshot.id)


async def refuse_if_any(connection: AsyncConnection, project_id: UUID) -> None:
    """Raise `Problem` in_use while a project that is being deleted has snapshots."""
    if await _ANY.one(connection, {"project_id": project_id}):
        raise Problem(IN_USE, "Delete the project's snapshots first, and wait until they are `deleted`.")


async def _source(connection: AsyncConnection, actor: Actor, body: SnapshotCreate) -> _Source:
    """The locked volume or cluster to copy from."""
    if (body.volume is None) == (body.cluster is None):
        sentence = "A snapshot is of a volume or of a server: name a `volume`, or a `cluster`."
        raise SNAPSHOT.invalid(FieldError("/volume", "one_source", sentence))
    if body.volume is None:
        return await _of_server(connection, actor, body)
    if body.poplar_server is not None:
        raise SNAPSHOT.invalid(FieldError("/poplar_server", "no_cluster", "Only together with `cluster`."))
    return await _of_volume(connection, actor, body.volume)


async def _of_volume(connection: AsyncConnection, actor: Actor, ref: str) -> _Source:
    volume_id = await _VOLUME.one_or_none(connection, {"project_id": actor.project_id, "ref": ref})
    if volume_id is None:
        sentence = f"The project has no volume {ref}; `GET …/volumes` lists those it has."
        raise SNAPSHOT.invalid(FieldError("/volume", "unknown_volume", sentence))
    volume = await lock_volume(connection, project_id=actor.project_id, volume_id=volume_id)
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
        raise SNAPSHOT.invalid(FieldError("/cluster", "unknown_cluster", sentence))
    what = "Snapshots are taken of servers"
    cluster = await lock_cluster_in_use(connection, actor, cast("UUID", body.cluster), what)
    server = await server_of(connection, actor, cluster.id, body.poplar_server)
    if server is None:
        raise SNAPSHOT.invalid(UNKNOWN_SERVER)
    image = await _IMAGE.one(connection, {"project_id": actor.project_id, "id": cluster.id})
    return _Source(cluster.region, None, cluster_id=cluster.id, server_id=server.id, image=image)
