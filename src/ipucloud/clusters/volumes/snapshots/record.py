"""A snapshot under the lock of the transaction that changes it, and its changes of state."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.volumes.snapshots.tables import SNAPSHOT_STATES
from ipucloud.contract.event_payloads.projects import SnapshotFailed, SnapshotOf
from ipucloud.contract.event_types.projects import SNAPSHOT_FAILED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.errors import not_found
from ipucloud.reconcile.wake import wake

SNAPSHOTS = "snapshots"
"""Kind of the work items; the key is the snapshot's id."""


class Snapshot(NamedTuple):
    id: UUID
    project_id: UUID
    volume_id: UUID | None
    cluster_id: UUID | None
    server_id: UUID | None
    name: str
    tags: dict[str, str]
    region: str
    size_gib: int | None
    state: SnapshotState
    state_reason: str | None


_LOCK = Query(
    """
    SELECT id, project_id, volume_id, cluster_id, server_id, name, tags, region, size_gib, state, state_reason
      FROM snapshots WHERE project_id = :project_id AND id = :snapshot_id FOR NO KEY UPDATE
    """,
    Snapshot,
)
_MOVE = sa.text(
    """
    UPDATE snapshots
       SET state = :state, state_reason = :state_reason, state_entered_at = app_now(), size_gib = :size_gib,
           delete_requested_at = CASE WHEN :state IN ('deleting', 'deleted')
                                      THEN coalesce(delete_requested_at, app_now()) END,
           deleted_at = CASE WHEN :state = 'deleted' THEN app_now() END
     WHERE project_id = :project_id AND id = :id
    """
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("state_reason", type_=sa.Text),
    sa.bindparam("size_gib", type_=sa.Integer),
)
_SERVER = Query("SELECT name FROM poplar_servers WHERE project_id = :project_id AND id = :id", str)
_NOTE = sa.text(
    """
    UPDATE snapshots SET state_reason = :why
     WHERE project_id = :project_id AND id = :id AND state_reason IS DISTINCT FROM :why
    """
).bindparams(sa.bindparam("why", type_=sa.Text))


async def lock(connection: AsyncConnection, *, project_id: UUID, snapshot_id: UUID) -> Snapshot:
    """The snapshot until this transaction ends. Raises `Problem` not_found."""
    snapshot = await _LOCK.one_or_none(connection, {"project_id": project_id, "snapshot_id": snapshot_id})
    if snapshot is None:
        raise not_found()
    return snapshot


async def move(
    connection: AsyncConnection, snapshot: Snapshot, state: SnapshotState, *, reason: str | None = None
) -> Snapshot:
    """Enter a state, with the size of `snapshot`; raises IllegalTransition."""
    SNAPSHOT_STATES.require(snapshot.state, state)
    moved = snapshot._replace(state=state, state_reason=reason)
    values = moved._asdict()
    names = ("project_id", "id", "state", "state_reason", "size_gib")
    await connection.execute(_MOVE, {name: values[name] for name in names})
    return moved


async def note(connection: AsyncConnection, snapshot: Snapshot, why: str | None) -> None:
    """Record what the snapshot waits for."""
    await connection.execute(_NOTE, {"project_id": snapshot.project_id, "id": snapshot.id, "why": why})


async def wake_snapshot(connection: AsyncConnection, snapshot: Snapshot) -> None:
    await wake(connection, kind=SNAPSHOTS, key=str(snapshot.id), project_id=snapshot.project_id)


async def report(
    connection: AsyncConnection, event: EventType, snapshot: Snapshot, *, request_id: str | None = None
) -> None:
    """Record an event of the snapshot."""
    facts: dict[str, object] = {
        "name": snapshot.name,
        "region": snapshot.region,
        "volume": snapshot.volume_id,
        "cluster": snapshot.cluster_id,
        "size_gib": snapshot.size_gib,
    }
    if snapshot.server_id is not None:
        ids = {"project_id": snapshot.project_id, "id": snapshot.server_id}
        facts["poplar_server"] = await _SERVER.one(connection, ids)
    data = SnapshotOf.model_validate(facts)
    if event is SNAPSHOT_FAILED:
        data = SnapshotFailed.model_validate({**facts, "reason": snapshot.state_reason})
    await record(
        connection, event, project_id=snapshot.project_id, subject_id=snapshot.id, request_id=request_id, data=data
    )
