"""One row for each cluster in use and minute."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, same_project, tenant_key

cluster_samples = sa.Table(
    "cluster_samples",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("cluster_id", sa.Uuid, primary_key=True),
    sa.Column("minute", sa.DateTime(timezone=True), primary_key=True),
    instant("observed_at", nullable=False),
    sa.Column("machines", sa.Integer, nullable=False),
    sa.Column("machines_answered", sa.Integer, nullable=False),
    sa.Column("utilisation", sa.REAL, comment="percent, mean of the machines that answered"),
    sa.Column("power", sa.REAL, comment="watts, sum of the machines that answered"),
    sa.Column("temperature", sa.REAL, comment="degrees Celsius, of the hottest IPU"),
    sa.Column("link_errors", sa.BigInteger, comment="as counted by the IPUs since they were switched on"),
    sa.Column("attached_ipus", sa.Integer, comment="held by programs on all servers"),
    sa.Column("partitions", sa.Integer, nullable=False),
    sa.Column("partitions_active", sa.Integer, nullable=False),
    sa.Column("cpu", sa.REAL, comment="percent, mean of the servers"),
    sa.Column("memory_used", sa.BigInteger, comment="bytes, sum of the servers"),
    sa.Column("memory", sa.BigInteger, comment="bytes, sum of the servers"),
    tenant_key("cluster_samples"),
    same_project("cluster_samples", "cluster_id", "clusters"),
    comment="written by observation alone, of clusters in use: the last look of a minute; NULL was not observed",
)
sa.Index("ix_cluster_samples_minute", cluster_samples.c.minute)
