"""The noun `snapshot`, and how the API shows it."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import SNAPSHOT_SKU
from ipucloud.clusters.resources.queries import SERVER, STATE, documents
from ipucloud.clusters.resources.resource import Resources
from ipucloud.clusters.volumes.snapshots.tables import SNAPSHOT_STATES
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import IN_USE, STATE_CONFLICT, Problem


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


class Snapshots(Resources[Snapshot]):
    noun, nouns, sku = "snapshot", "snapshots", SNAPSHOT_SKU
    row, states = Snapshot, SNAPSHOT_STATES
    new = ("volume_id", "cluster_id", "server_id", "image", "size_gib")
    moved = "size_gib = :size_gib"

    def require_changeable(self, row: Snapshot, name: str) -> None:
        if row.state in {SnapshotState.DELETING, SnapshotState.DELETED}:
            raise Problem(STATE_CONFLICT, f"Snapshot {row.name} is `{row.state}` and cannot be changed.")

    async def require_deletable(self, connection: AsyncConnection, row: Snapshot) -> None:
        needed = await _NEEDED.one_or_none(connection, {"project_id": row.project_id, "id": row.id})
        if needed is not None:
            raise Problem(IN_USE, f"{needed.what} from snapshot {row.name}. {needed.first}, then delete the snapshot.")


SNAPSHOTS = Snapshots()


DOCUMENTS = documents(
    "snapshots",
    f"""
    'volume', page.volume_id, 'volume_name', volume.name, {SERVER}, 'image', page.image, 'size_gib', page.size_gib,
    {STATE}
    """,
    "LEFT JOIN volumes AS volume ON (volume.project_id, volume.id) = (page.project_id, page.volume_id)",
)
