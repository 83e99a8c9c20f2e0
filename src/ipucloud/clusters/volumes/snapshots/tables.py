"""Snapshots, and which volumes were made from them."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.clusters.resources.columns import of_resource
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.base import make_with, metadata, same_project, tenant_key
from ipucloud.kernel.transitions import TransitionTable
from ipucloud.resources.tables import ResourceKind, copied

_S = SnapshotState
SNAPSHOT_STATES: TransitionTable[SnapshotState] = TransitionTable(
    "snapshot",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.AVAILABLE, _S.ERROR, _S.DELETING}),
        _S.AVAILABLE: frozenset({_S.DELETING}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
        _S.ERROR: frozenset({_S.DELETING}),
    },
)


snapshots = sa.Table(
    "snapshots",
    metadata,
    *of_resource("snapshots", SnapshotState),
    sa.Column("volume_id", sa.Uuid, comment="that it is a copy of"),
    sa.Column("cluster_id", sa.Uuid),
    sa.Column("server_id", sa.Uuid, comment="whose disk it is a copy of"),
    sa.Column("image", sa.Text, comment="of the catalogue, which that server had"),
    sa.Column("size_gib", sa.Integer, comment="of the volume at that time, or of what was on the disk; as billed"),
    same_project("snapshots", "volume_id", "volumes"),
    same_project("snapshots", "cluster_id", "clusters"),
    same_project("snapshots", "server_id", "poplar_servers"),
    sa.CheckConstraint("size_gib > 0", name="size"),
    sa.CheckConstraint("num_nulls(volume_id, server_id) = 1", name="source"),
    sa.CheckConstraint("num_nulls(cluster_id, server_id, image) IN (0, 3)", name="server"),
    sa.CheckConstraint("size_gib IS NOT NULL OR volume_id IS NULL AND state <> 'available'", name="size_is_known"),
    comment="copies of volumes, and of the disks of Poplar servers",
)
sa.Index("ix_snapshots_project", snapshots.c.project_id, snapshots.c.created_at, snapshots.c.id)
sa.Index("ix_snapshots_volume", snapshots.c.project_id, snapshots.c.volume_id)
sa.Index("ix_snapshots_cluster", snapshots.c.project_id, snapshots.c.cluster_id)
sa.Index("ix_snapshots_server", snapshots.c.project_id, snapshots.c.server_id)
make_with(snapshots, *copied("snapshots", ResourceKind.SNAPSHOT, quantity="NEW.size_gib"))

volume_origins = sa.Table(
    "volume_origins",
    metadata,
    sa.Column("volume_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("snapshot_id", sa.Uuid, nullable=False),
    tenant_key("volume_origins"),
    same_project("volume_origins", "volume_id", "volumes"),
    same_project("volume_origins", "snapshot_id", "snapshots"),
    comment="the snapshot that a volume was made from",
)
sa.Index("ix_volume_origins_volume", volume_origins.c.project_id, volume_origins.c.volume_id)
sa.Index("ix_volume_origins_snapshot", volume_origins.c.project_id, volume_origins.c.snapshot_id)
