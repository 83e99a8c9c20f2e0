"""Volumes that a new cluster gets: checked, and set apart for it, in the transaction that creates it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.contract.volumes import ClusterVolume, VolumeState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.failpoints import failpoint


class _Row(NamedTuple):
    id: UUID | None
    name: str | None
    region: str | None
    state: VolumeState | None


# In the order of ids, so that two creates that name the same volumes do not wait for each other.
_LOCK = Query(
    """
    SELECT id FROM volumes
     WHERE project_id = :project_id AND state <> 'deleted'
       AND (name = ANY (CAST(:refs AS text[])) OR id::text = ANY (CAST(:refs AS text[])))
     ORDER BY id FOR NO KEY UPDATE
    """,
    UUID,
)
_FIND = Query(
    """
    SELECT DISTINCT ON (requested.place) v.id, v.name, v.region, v.state
      FROM unnest(CAST(:refs AS text[])) WITH ORDINALITY AS requested (ref, place)
      LEFT JOIN volumes v
        ON v.project_id = :project_id AND v.state <> 'deleted' AND requested.ref IN (v.name, v.id::text)
     ORDER BY requested.place, v.name = requested.ref DESC
    """,
    _Row,
)
_SERVERS = Query(
    "SELECT id FROM poplar_servers WHERE project_id = :project_id AND cluster_id = :cluster_id ORDER BY ordinal", UUID
)


async def refuse_unfit(
    connection: Statements, choices: Sequence[ClusterVolume], *, project_id: UUID, region: str, servers: int
) -> None:
    """Raise `Problem` validation_failed or state_conflict for volumes that a new cluster in `region` with so many
    Poplar servers could not get; lock nothing."""
    if choices:
        await _fitting(connection, choices, project_id, region, servers)


async def attach_new(
    connection: AsyncConnection, choices: Sequence[ClusterVolume], *, project_id: UUID, cluster_id: UUID, region: str
) -> None:
    """Set volumes apart for the Poplar servers of a cluster that this transaction creates. Raises as `refuse_unfit`."""
    servers = await _SERVERS.all(connection, {"project_id": project_id, "cluster_id": cluster_id})
    await _LOCK.all(connection, {"project_id": project_id, "refs": _refs(choices)})
    fitting = await _fitting(connection, choices, project_id, region, len(servers))
    for volume_id, choice in sorted(zip(fitting, choices, strict=True), key=lambda pair: pair[0]):
        volume = await VOLUMES.lock(connection, project_id, volume_id)
        await VOLUMES.begin_attach(connection, volume, cluster_id, servers[choice.server])
    failpoint("create.volumes_taken")


async def _fitting(
    connection: Statements, choices: Sequence[ClusterVolume], project_id: UUID, region: str, servers: int
) -> list[UUID]:
    rows = await _FIND.all(connection, {"project_id": project_id, "refs": _refs(choices)})
    faults = [*_faults(rows, choices, region, servers)]
    if faults:
        raise Problem(VALIDATION_FAILED, "The cluster cannot get these volumes; `errors` lists the reasons.", faults)
    for row in rows:
        if row.state is not VolumeState.AVAILABLE:
            raise Problem(
                STATE_CONFLICT,
                f"Volume {row.name} is `{row.state}`, and only one that is `available` can be given to a new cluster."
                " Detach it, or wait, and try again; or create the cluster without it.",
            )
    return [each.id for each in rows if each.id is not None]


def _faults(rows: Sequence[_Row], choices: Sequence[ClusterVolume], region: str, servers: int) -> Iterable[FieldError]:
    before: set[UUID] = set()
    for place, (row, choice) in enumerate(zip(rows, choices, strict=True)):
        pointer = f"/volumes/{place}/volume"
        if row.id is None:
            sentence = f"The project has no volume {choice.volume}; `GET …/volumes` lists those it has."
            yield FieldError(pointer, "unknown_volume", sentence)
        elif row.id in before:
            yield FieldError(pointer, "duplicate", f"Volume {row.name} is named twice; one server can have it.")
        elif row.region != region:
            sentence = f"Volume {row.name} is in {row.region}: create the cluster there, or choose another volume."
            yield FieldError(pointer, "other_region", sentence)
        if choice.server >= servers:
            has = "one Poplar server" if servers == 1 else f"{servers} Poplar servers"
            sentence = f"The cluster has {has}, counted from 0."
            yield FieldError(f"/volumes/{place}/server", "unknown_poplar_server", sentence)
        before |= set() if row.id is None else {row.id}


def _refs(choices: Sequence[ClusterVolume]) -> list[str]:
    return [each.volume for each in choices]
