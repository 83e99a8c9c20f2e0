"""Partitions: those that we made or were asked to make, and others that a controller shows."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.contract.partitions import Origin, PartitionState
from ipucloud.db.base import instant, json_column, make_with, metadata, one_of, same_project, tenant_key
from ipucloud.events.tables import events
from ipucloud.partitions import functions
from ipucloud.partitions.states import DesiredState

partitions = sa.Table(
    "partitions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, comment="of those asked for by the API, counted per cluster"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("external_name", sa.Text, nullable=False, comment="its id at the controller"),
    sa.Column("desired_state", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("state_reason", sa.Text),
    instant("state_entered_at", default_now=True),
    json_column("requested"),
    json_column("observed"),
    instant("observed_at"),
    json_column("status", comment="what its controller says while it is not active"),
    instant("status_at"),
    json_column("ipuof"),
    instant("ipuof_at"),
    sa.Column("reset_relocatable", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("reset_fence", sa.BigInteger, comment="fence under which a reset was to be sent"),
    instant("reset_sent_at"),
    sa.Column("reset_confirmed", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column(
        "lost", sa.Boolean, nullable=False, server_default=sa.false(), comment="with its allocation, which is restored"
    ),
    instant("created_at", default_now=True),
    instant("removed_at"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    tenant_key("partitions"),
    same_project("partitions", "cluster_id", "clusters"),
    one_of("origin", Origin),
    one_of("desired_state", DesiredState),
    one_of("state", PartitionState),
    sa.CheckConstraint("(state = 'removed') = (removed_at IS NOT NULL)", name="removed"),
    sa.CheckConstraint("(origin = 'api') = (requested IS NOT NULL AND number IS NOT NULL)", name="requested"),
    sa.CheckConstraint("origin <> 'customer' OR desired_state = 'unmanaged'", name="customers_own_are_unmanaged"),
    sa.CheckConstraint(
        "desired_state = 'absent' OR origin = 'customer' OR removed_at IS NULL", name="removed_are_absent"
    ),
    sa.CheckConstraint("(observed IS NULL) = (observed_at IS NULL)", name="observed"),
    sa.CheckConstraint("(status IS NULL) = (status_at IS NULL)", name="status"),
    sa.CheckConstraint("state <> 'error' OR state_reason IS NOT NULL", name="error_has_reason"),
    sa.CheckConstraint("(ipuof IS NULL) = (ipuof_at IS NULL)", name="ipuof"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("cluster_id", "external_name"),
)
vipu_links = sa.Table(
    "vipu_links",
    metadata,
    sa.Column("cluster_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("links", pg.JSONB, nullable=False),
    instant("observed_at", default_now=True),
    tenant_key("vipu_links"),
    same_project("vipu_links", "cluster_id", "clusters"),
    comment="the links of clusters in use, as their controllers showed them last",
)
sa.Index("ix_vipu_links_cluster", vipu_links.c.project_id, vipu_links.c.cluster_id)
sa.Index(
    "uq_partitions_living_name",
    partitions.c.cluster_id,
    partitions.c.name,
    unique=True,
    postgresql_where=sa.text("removed_at IS NULL AND origin = 'api'"),
)
sa.Index("ix_partitions_cluster", partitions.c.project_id, partitions.c.cluster_id, partitions.c.created_at)
sa.Index(
    "ix_partitions_in_error",
    partitions.c.project_id,
    partitions.c.cluster_id,
    postgresql_where=sa.text("state IN ('error', 'resetting')"),
)
partitions.add_is_dependent_on(events)
make_with(
    partitions,
    functions.RECORD_FIRST_PARTITION,
    functions.REMOVE_PARTITIONS,
    functions.KEEP_PARTITIONS,
    functions.LOSE_PARTITIONS,
    functions.RENAME_PARTITIONS,
    functions.KEPT_PARTITIONS,
    functions.SHOWN_PARTITIONS,
    functions.SET_REGION_OF_EVENT,
    functions.EVENT_REGION,
)
