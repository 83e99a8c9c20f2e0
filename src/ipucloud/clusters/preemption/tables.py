"""Notices of preemptible clusters."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa

from ipucloud.contract.capacity import PreemptionOutcome
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key

preemptions = sa.Table(
    "preemptions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    instant("noticed_at", default_now=True),
    instant("preempt_at", nullable=False),
    instant("ended_at"),
    sa.Column("outcome", sa.Text),
    sa.Column("operation_id", sa.Uuid, comment="suspends the cluster"),
    tenant_key("preemptions"),
    same_project("preemptions", "cluster_id", "clusters"),
    same_project("preemptions", "operation_id", "operations"),
    one_of("outcome", get_args(PreemptionOutcome)),
    sa.CheckConstraint("preempt_at >= noticed_at", name="preempt_at"),
    sa.CheckConstraint("(ended_at IS NULL) = (outcome IS NULL)", name="ended"),
    sa.CheckConstraint("(operation_id IS NOT NULL) = (outcome IS NOT DISTINCT FROM 'suspended')", name="operation_id"),
    comment="a preemptible cluster was told that it is suspended at preempt_at",
)
sa.Index(
    "uq_preemptions_open", preemptions.c.cluster_id, unique=True, postgresql_where=preemptions.c.ended_at.is_(None)
)
sa.Index("ix_preemptions_cluster", preemptions.c.project_id, preemptions.c.cluster_id)
sa.Index(
    "ix_preemptions_operation",
    preemptions.c.project_id,
    preemptions.c.operation_id,
    postgresql_where=preemptions.c.operation_id.is_not(None),
)
