"""The snapshot that a new volume is made from."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.contract.volumes import VolumeCreate
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError, Problem


class _Source(NamedTuple):
    id: UUID
    name: str
    region: str
    of_volume: bool
    size_gib: int | None
    state: SnapshotState


# Locked, so that it is not deleted before the volume is recorded.
_FIND = Query(
    """
    SELECT id, name, region, volume_id IS NOT NULL AS of_volume, size_gib, state FROM snapshots
     WHERE project_id = :project_id AND state <> 'deleted' AND :ref IN (name, id::text)
     ORDER BY name = :ref DESC LIMIT 1 FOR NO KEY UPDATE
    """,
    _Source,
)


async def source_of(connection: AsyncConnection, actor: Actor, body: VolumeCreate) -> UUID | None:
    """The id of the snapshot that the volume is to be made from; None: it is made empty.

    Raises `Problem`: validation_failed, state_conflict.
    """
    if body.snapshot is None:
        return None
    snapshot = await _FIND.one_or_none(connection, {"project_id": actor.project_id, "ref": body.snapshot})
    if snapshot is None:
        sentence = f"The project has no snapshot {body.snapshot}; `GET …/snapshots` lists those it has."
        raise VOLUMES.invalid(FieldError("/snapshot", "unknown_snapshot", sentence))
    if snapshot.region != body.region:
        sentence = (
            f"Snapshot {snapshot.name} is in {snapshot.region}: create the volume there, or choose another snapshot."
        )
        raise VOLUMES.invalid(FieldError("/snapshot", "other_region", sentence))
    if not snapshot.of_volume:
        sentence = f"{snapshot.name} is a snapshot of a server, from which servers are made. Choose one of a volume."
        raise VOLUMES.invalid(FieldError("/snapshot", "not_of_volume", sentence))
    if snapshot.size_gib is not None and snapshot.size_gib > body.size_gib:
        sentence = f"Snapshot {snapshot.name} has {snapshot.size_gib} GiB; the volume must not be smaller."
        raise VOLUMES.invalid(FieldError("/size_gib", "too_small", sentence))
    if snapshot.state is not SnapshotState.AVAILABLE:
        raise Problem(
            STATE_CONFLICT,
            f"Snapshot {snapshot.name} is `{snapshot.state}`, and volumes are made from one that is `available`. Wait,"
            " or choose another one.",
        )
    return snapshot.id
