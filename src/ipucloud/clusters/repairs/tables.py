"""Scheduled repairs of clusters."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.contract.repairs import RepairOutcome, RepairReason, WaitsFor
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key

scheduled_repairs = sa.Table(
    "scheduled_repairs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("hardware", pg.ARRAY(sa.Text), nullable=False, comment="names of the machines and hosts to replace"),
    instant("announced_at", default_now=True),
    instant("starts_at", nullable=False),
    instant("latest_at", nullable=False),
    sa.Column("waits_for", sa.Text, comment="why it has not begun although its time has come"),
    instant("started_at"),
    sa.Column("operation_id", sa.Uuid, comment="carries it out"),
    instant("ended_at"),
    sa.Column("outcome", sa.Text),
    tenant_key("scheduled_repairs"),
    same_project("scheduled_repairs", "cluster_id", "clusters"),
    same_project("scheduled_repairs", "operation_id", "operations"),
    one_of("reason", get_args(RepairReason)),
    one_of("waits_for", get_args(WaitsFor)),
    one_of("outcome", get_args(RepairOutcome)),
    sa.CheckConstraint("starts_at <= latest_at", name="latest_at"),
    sa.CheckConstraint("(operation_id IS NULL) = (started_at IS NULL)", name="started"),
    sa.CheckConstraint("(ended_at IS NULL) = (outcome IS NULL)", name="ended"),
)
sa.Index(
    "uq_scheduled_repairs_open",
    scheduled_repairs.c.cluster_id,
    unique=True,
    postgresql_where=scheduled_repairs.c.ended_at.is_(None),
)
sa.Index("ix_scheduled_repairs_cluster", scheduled_repairs.c.project_id, scheduled_repairs.c.cluster_id)
sa.Index(
    "ix_scheduled_repairs_operation",
    scheduled_repairs.c.project_id,
    scheduled_repairs.c.operation_id,
    postgresql_where=scheduled_repairs.c.operation_id.is_not(None),
)
sa.Index("ix_scheduled_repairs_started", scheduled_repairs.c.started_at)
