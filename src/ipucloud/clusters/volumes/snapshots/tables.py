"""Snapshots, and which volumes were made from them."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, same_project, tenant_key
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
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("volume_id", sa.Uuid, comment="that it is a copy of"),
    sa.Column("cluster_id", sa.Uuid),
    sa.Column("server_id", sa.Uuid, comment="whose disk it is a copy of"),
    sa.Column("image", sa.Text, comment="of the catalogue, which that server had"),
    sa.Column("name", sa.Text, nullable=False),
    json_column("tags", default="'{}'"),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("external_name", sa.Text, nullable=False, comment="at the site: the id and the incarnation"),
    sa.Column("size_gib", sa.Integer, comment="of the volume at that time, or of what was on the disk; as billed"),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default=SnapshotState.CREATING.value),
    sa.Column("state_reason", sa.Text),
    instant("state_entered_at", default_now=True),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    instant("delete_requested_at"),
    instant("deleted_at"),
    tenant_key("snapshots"),
    same_project("snapshots", "volume_id", "volumes"),
    same_project("snapshots", "cluster_id", "clusters"),
    same_project("snapshots", "server_id", "poplar_servers"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("external_name"),
    one_of("state", SnapshotState),
    sa.CheckConstraint("size_gib > 0", name="size"),
    sa.CheckConstraint("num_nulls(volume_id, server_id) = 1", name="source"),
    sa.CheckConstraint("num_nulls(cluster_id, server_id, image) IN (0, 3)", name="server"),
    sa.CheckConstraint("size_gib IS NOT NULL OR volume_id IS NULL AND state <> 'available'", name="size_is_known"),
    sa.CheckConstraint("(delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))", name="requested"),
    sa.CheckConstraint("(deleted_at IS NOT NULL) = (state = 'deleted')", name="deleted"),
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
