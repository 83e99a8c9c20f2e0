"""A volume under the lock of the transaction that changes it, and its changes of state."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.volumes.tables import VOLUME_STATES
from ipucloud.contract.event_payloads.projects import VolumeAttachedTo, VolumeFailed, VolumeOf
from ipucloud.contract.event_types.projects import VOLUME_ATTACHED, VOLUME_DETACHED, VOLUME_FAILED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.errors import not_found

VOLUMES = "volumes"
"""Kind of the work items; the key is the volume's id."""


class Volume(NamedTuple):
    id: UUID
    project_id: UUID
    name: str
    tags: dict[str, str]
    region: str
    size_gib: int
    wanted_gib: int | None
    state: VolumeState
    state_reason: str | None
    cluster_id: UUID | None
    server_id: UUID | None
    revision: int


_LOCK = Query(
    """
    SELECT id, project_id, name, tags, region, size_gib, wanted_gib, state, state_reason, cluster_id, server_id,
           revision
      FROM volumes WHERE project_id = :project_id AND id = :volume_id FOR NO KEY UPDATE
    """,
    Volume,
)
_MOVE = sa.text(
    """
    UPDATE volumes
       SET state = :state, state_reason = :state_reason, state_entered_at = app_now(), size_gib = :size_gib,
           wanted_gib = :wanted_gib, cluster_id = :cluster_id, server_id = :server_id, revision = :revision,
           delete_requested_at = CASE WHEN :state IN ('deleting', 'deleted')
                                      THEN coalesce(delete_requested_at, app_now()) END,
           deleted_at = CASE WHEN :state = 'deleted' THEN app_now() END
     WHERE project_id = :project_id AND id = :id
    """
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("state_reason", type_=sa.Text),
    sa.bindparam("wanted_gib", type_=sa.Integer),
    sa.bindparam("cluster_id", type_=sa.Uuid),
    sa.bindparam("server_id", type_=sa.Uuid),
)
_NOTE = sa.text(
    """
    UPDATE volumes SET state_reason = :why
     WHERE project_id = :project_id AND id = :id AND state_reason IS DISTINCT FROM :why
    """
).bindparams(sa.bindparam("why", type_=sa.Text))
_ADVANCE = sa.text("UPDATE volumes SET revision = :revision WHERE project_id = :project_id AND id = :id")
_SERVER = Query("SELECT name FROM poplar_servers WHERE project_id = :project_id AND id = :id", str)


async def lock(connection: AsyncConnection, *, project_id: UUID, volume_id: UUID) -> Volume:
    """The volume until this transaction ends. Raises `Problem` not_found."""
    volume = await _LOCK.one_or_none(connection, {"project_id": project_id, "volume_id": volume_id})
    if volume is None:
        raise not_found()
    return volume


async def move(connection: AsyncConnection, volume: Volume, state: VolumeState, *, reason: str | None = None) -> Volume:
    """Enter a state, with the other fields of `volume`; raises IllegalTransition."""
    VOLUME_STATES.require(volume.state, state)
    moved = volume._replace(state=state, state_reason=reason)
    values = moved._asdict()
    await connection.execute(_MOVE, {name: values[name] for name in values if name not in {"name", "tags", "region"}})
    return moved


async def note(connection: AsyncConnection, volume: Volume, why: str | None) -> None:
    """Record what the volume waits for."""
    await connection.execute(_NOTE, {"project_id": volume.project_id, "id": volume.id, "why": why})


async def advance(connection: AsyncConnection, volume: Volume, revision: int) -> None:
    """Request its attachment under a later revision."""
    await connection.execute(_ADVANCE, {"project_id": volume.project_id, "id": volume.id, "revision": revision})


async def report(
    connection: AsyncConnection, event: EventType, volume: Volume, *, request_id: str | None = None
) -> None:
    """Record an event of the volume; of an attachment while `volume` still names the server."""
    facts = {"name": volume.name, "region": volume.region, "size_gib": volume.size_gib}
    data: VolumeOf
    if event in {VOLUME_ATTACHED, VOLUME_DETACHED}:
        server = await _SERVER.one(connection, {"project_id": volume.project_id, "id": volume.server_id})
        data = VolumeAttachedTo.model_validate({**facts, "cluster": volume.cluster_id, "poplar_server": server})
    elif event is VOLUME_FAILED:
        data = VolumeFailed.model_validate({**facts, "reason": volume.state_reason})
    else:
        data = VolumeOf.model_validate(facts)
    await record(
        connection, event, project_id=volume.project_id, subject_id=volume.id, request_id=request_id, data=data
    )
