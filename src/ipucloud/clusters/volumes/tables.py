"""Volumes, and their states: as data, from which the documentation's diagram is drawn."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.clusters.resources.columns import of_attachment, of_resource
from ipucloud.contract.volumes import VolumeState
from ipucloud.db.base import make_with, metadata
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
    *of_resource("volumes", VolumeState),
    *of_attachment("volumes"),
    sa.Column("size_gib", sa.Integer, nullable=False, comment="as billed"),
    sa.Column("wanted_gib", sa.Integer, comment="the size it grows to"),
    sa.CheckConstraint("size_gib > 0 AND wanted_gib > size_gib", name="size"),
    sa.CheckConstraint("(wanted_gib IS NOT NULL) = (state = 'resizing')", name="wanted"),
    sa.CheckConstraint(
        "num_nulls(cluster_id, server_id) = CASE WHEN state IN ('attaching', 'attached', 'detaching') THEN 0"
        " WHEN state = 'resizing' AND cluster_id IS NOT NULL THEN 0 ELSE 2 END",
        name="attachment",
    ),
    comment="storage that outlives clusters",
)
sa.Index("ix_volumes_project", volumes.c.project_id, volumes.c.created_at, volumes.c.id)
sa.Index("ix_volumes_cluster", volumes.c.project_id, volumes.c.cluster_id)
sa.Index("ix_volumes_server", volumes.c.project_id, volumes.c.server_id)
make_with(volumes, *copied("volumes", ResourceKind.VOLUME, quantity="NEW.size_gib"))
