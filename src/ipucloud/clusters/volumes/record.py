"""The noun `volume`."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import VOLUME_SKU
from ipucloud.clusters.resources.attachable import ATTACHMENT, Attachables
from ipucloud.clusters.volumes.tables import VOLUME_STATES
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import IN_USE, STATE_CONFLICT, Problem

_COPIED = Query(
    """
    SELECT name FROM snapshots WHERE project_id = :project_id AND volume_id = :id AND state = 'creating'
     ORDER BY name LIMIT 1
    """,
    str,
)


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


class Volumes(Attachables[Volume]):
    noun, nouns, sku = "volume", "volumes", VOLUME_SKU
    row, states = Volume, VOLUME_STATES
    new = ("size_gib",)
    moved = f"{ATTACHMENT}, size_gib = :size_gib, wanted_gib = :wanted_gib"

    def require_changeable(self, row: Volume, name: str) -> None:
        super().require_changeable(row, name)
        if name != row.name and row.cluster_id is not None:
            raise Problem(
                STATE_CONFLICT,
                f"Volume {row.name} is attached, and its folder is named after it. Detach it before you rename it.",
            )

    async def require_deletable(self, connection: AsyncConnection, row: Volume) -> None:
        await super().require_deletable(connection, row)
        if row.state is VolumeState.RESIZING:
            raise self.conflict(row, "be deleted")
        copied = await _COPIED.one_or_none(connection, {"project_id": row.project_id, "id": row.id})
        if copied is not None:
            raise Problem(
                IN_USE,
                f"Snapshot {copied} of volume {row.name} is being taken. Wait until it is `available`, or delete it,"
                " then delete the volume.",
            )


VOLUMES = Volumes()
