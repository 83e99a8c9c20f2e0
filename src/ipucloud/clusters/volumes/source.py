"""The snapshot that a new volume is made from."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.snapshots import SnapshotState
from ipucloud.contract.volumes import VolumeCreate
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem


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
    found = await _FIND.one_or_none(connection, {"project_id": actor.project_id, "ref": body.snapshot})
    if found is None:
        sentence = f"The project has no snapshot {body.snapshot}; `GET …/snapshots` lists those it has."
        raise _invalid(FieldError("/snapshot", "unknown_snapshot", sentence))
    if found.region != body.region:
        sentence = f"Snapshot {found.name} is in {found.region}: create the volume there, or choose another snapshot."
        raise _invalid(FieldError("/snapshot", "other_region", sentence))
    if not found.of_volume:
        sentence = f"{found.name} is a snapshot of a server, from which servers are made. Choose one of a volume."
        raise _invalid(FieldError("/snapshot", "not_of_volume", sentence))
    if found.size_gib is not None and found.size_gib > body.size_gib:
        sentence = f"Snapshot {found.name} has {found.size_gib} GiB; the volume must not be smaller."
        raise _invalid(FieldError("/size_gib", "too_small", sentence))
    if found.state is not SnapshotState.AVAILABLE:
        raise Problem(
            STATE_CONFLICT,
            f"Snapshot {found.name} is `{found.state}`, and volumes are made from one that is `available`. Wait, or"
            " choose another one.",
        )
    return found.id


def _invalid(fault: FieldError) -> Problem:
    return Problem(VALIDATION_FAILED, "The volume cannot be as requested; `errors` lists what to change.", [fault])
