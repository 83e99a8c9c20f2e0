"""The noun `volume`, how the API shows it, and the quota of volumes and snapshots, in GiB."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import VOLUME_SKU
from ipucloud.clusters.resources.attachable import ATTACHMENT, Attachables
from ipucloud.clusters.resources.queries import SERVER, STATE, documents
from ipucloud.clusters.resources.quota import CountedQuota
from ipucloud.clusters.volumes.tables import VOLUME_STATES
from ipucloud.contract.volumes import MOUNT_FOLDER, VolumeState
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import IN_USE, STATE_CONFLICT, Problem
from ipucloud.resources.tables import ResourceKind

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


DOCUMENTS = documents(
    "volumes",
    f"""
    'size_gib', page.size_gib, 'resizing_to_gib', page.wanted_gib, {STATE}, {SERVER},
    'mount_path', CASE WHEN page.cluster_id IS NOT NULL THEN '{MOUNT_FOLDER}/' || page.name END,
    'snapshot', origin.snapshot_id
    """,
    "LEFT JOIN volume_origins AS origin ON (origin.project_id, origin.volume_id) = (page.project_id, page.id)",
)


class VolumeQuota(CountedQuota):
    """A volume that grows counts with its new size."""

    sku, kinds = VOLUME_SKU, (ResourceKind.VOLUME, ResourceKind.SNAPSHOT)

    @staticmethod
    def used(project: str, region: str) -> str:
        return f"""(
  SELECT coalesce(sum(held.gib), 0)::bigint
    FROM (SELECT coalesce(v.wanted_gib, v.size_gib) AS gib, v.project_id, v.region, v.state FROM volumes v
           UNION ALL SELECT coalesce(s.size_gib, 1), s.project_id, s.region, s.state FROM snapshots s) AS held
   WHERE held.project_id = {project} AND held.region = {region}
     AND held.state NOT IN ('deleted', 'deleting', 'error'))
"""  # noqa: S608  # our own text

    def exceeded(self, region: str, more: int, used: int, limit: int) -> str:
        return (
            f"{more} GiB more are needed; of the {limit} GiB that volumes and snapshots of the project may have in"
            f" {region} there are {max(0, limit - used)} left. Delete one, choose a smaller size, or ask for a"
            f" higher quota (`ipucloud quotas request {region} {self.sku} {used + more} REASON`)."
        )

    def above(self, region: str, used: int) -> str:
        return f"The project's volumes and snapshots in {region} have {used} GiB"


VOLUME_QUOTA = VolumeQuota()
