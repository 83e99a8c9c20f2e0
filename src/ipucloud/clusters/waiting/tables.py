"""Clusters that wait for capacity, or have waited."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, same_project, tenant_key

capacity_waits = sa.Table(
    "capacity_waits",
    metadata,
    sa.Column("operation_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("preemptible", sa.Boolean, nullable=False, server_default=sa.false(), comment="as the cluster is"),
    instant("since", nullable=False),
    instant("until", nullable=False),
    instant("granted_at"),
    instant("looked_at"),
    sa.Column("held_up_by", sa.Text, comment="code of the problem, if it is another than the lack of capacity"),
    tenant_key("capacity_waits"),
    same_project("capacity_waits", "cluster_id", "clusters"),
    same_project("capacity_waits", "operation_id", "operations"),
    sa.CheckConstraint("until > since", name="until"),
    comment="creates that wait for machines; they hold none, and no quota, until granted_at",
)
sa.Index("ix_capacity_waits_operation", capacity_waits.c.project_id, capacity_waits.c.operation_id)
sa.Index("uq_capacity_waits_cluster", capacity_waits.c.project_id, capacity_waits.c.cluster_id, unique=True)
sa.Index("ix_capacity_waits_queue", capacity_waits.c.region, capacity_waits.c.machine_type, capacity_waits.c.project_id)
