"""Volumes, and their states: as data, from which the documentation's diagram is drawn."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.contract.volumes import VolumeState
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, same_project, tenant_key
from ipucloud.kernel.transitions import TransitionTable
from ipucloud.resources.tables import ResourceKind, copied

_S = VolumeState
VOLUME_STATES: TransitionTable[VolumeState] = TransitionTable(
    "volume",
    _S.CREATING,
    {
        _S.CREATING: frozenset({_S.AVAILABLE, _S.ERROR, _S.DELETING}),
        _S.AVAILABLE: frozenset({_S.ATTACHING, _S.RESIZING, _S.DELETING}),
        _S.ATTACHING: frozenset({_S.ATTACHED, _S.DETACHING}),
        _S.ATTACHED: frozenset({_S.ATTACHING, _S.DETACHING, _S.RESIZING}),
        _S.DETACHING: frozenset({_S.AVAILABLE}),
        _S.RESIZING: frozenset({_S.AVAILABLE, _S.ATTACHING, _S.DETACHING}),
        _S.DELETING: frozenset({_S.DELETED}),
        _S.DELETED: frozenset(),
        _S.ERROR: frozenset({_S.DELETING}),
    },
)
EXISTING = frozenset({_S.AVAILABLE, _S.ATTACHING, _S.ATTACHED, _S.DETACHING, _S.RESIZING})
"""The states in which it is billed."""


volumes = sa.Table(
    "volumes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    json_column("tags", default="'{}'"),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("external_name", sa.Text, nullable=False, comment="at the site: the id and the incarnation"),
    sa.Column("size_gib", sa.Integer, nullable=False, comment="as billed"),
    sa.Column("wanted_gib", sa.Integer, comment="the size it grows to"),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default=VolumeState.CREATING.value),
    sa.Column("state_reason", sa.Text),
    instant("state_entered_at", default_now=True),
    sa.Column("cluster_id", sa.Uuid, comment="whose server has it, gets it or loses it"),
    sa.Column("server_id", sa.Uuid),
    sa.Column("revision", sa.Integer, nullable=False, server_default="0", comment="of its attachment; it only grows"),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    instant("delete_requested_at"),
    instant("deleted_at"),
    tenant_key("volumes"),
    same_project("volumes", "cluster_id", "clusters"),
    same_project("volumes", "server_id", "poplar_servers"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("external_name"),
    one_of("state", VolumeState),
    sa.CheckConstraint("size_gib > 0 AND wanted_gib > size_gib", name="size"),
    sa.CheckConstraint("(wanted_gib IS NOT NULL) = (state = 'resizing')", name="wanted"),
    sa.CheckConstraint(
        "num_nulls(cluster_id, server_id) = CASE WHEN state IN ('attaching', 'attached', 'detaching') THEN 0"
        " WHEN state = 'resizing' AND cluster_id IS NOT NULL THEN 0 ELSE 2 END",
        name="attachment",
    ),
    sa.CheckConstraint("(delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))", name="requested"),
    sa.CheckConstraint("(deleted_at IS NOT NULL) = (state = 'deleted')", name="deleted"),
    comment="storage that outlives clusters",
)
sa.Index("ix_volumes_project", volumes.c.project_id, volumes.c.created_at, volumes.c.id)
sa.Index("ix_volumes_cluster", volumes.c.project_id, volumes.c.cluster_id)
sa.Index("ix_volumes_server", volumes.c.project_id, volumes.c.server_id)
make_with(volumes, *copied("volumes", ResourceKind.VOLUME, quantity="NEW.size_gib"))
