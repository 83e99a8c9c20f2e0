"""Schedules of clusters, and what they have to do."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa

from ipucloud.contract.schedules import ScheduledAction, ScheduleWaitsFor
from ipucloud.db.base import instant, json_column, metadata, one_of, same_project, tenant_key

cluster_schedules = sa.Table(
    "cluster_schedules",
    metadata,
    sa.Column("cluster_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("time_zone", sa.Text, nullable=False),
    json_column("periods", default="'[]'"),
    json_column("holidays", default="'[]'"),
    sa.Column("next_action", sa.Text),
    sa.Column("next_at", sa.DateTime(timezone=True), comment="of the calendar, later than what is due"),
    instant("computed_at", nullable=False),
    sa.Column("due_action", sa.Text, comment="what is to be done now"),
    instant("due_at"),
    instant("retry_at"),
    sa.Column("waits_for", sa.Text),
    sa.Column("detail", sa.Text),
    sa.Column("operation_id", sa.Uuid, comment="the resume that was begun for it"),
    tenant_key("cluster_schedules"),
    same_project("cluster_schedules", "cluster_id", "clusters"),
    same_project("cluster_schedules", "operation_id", "operations"),
    one_of("next_action", ScheduledAction),
    one_of("due_action", ScheduledAction),
    one_of("waits_for", get_args(ScheduleWaitsFor)),
    sa.CheckConstraint("(next_action IS NULL) = (next_at IS NULL)", name="next"),
    sa.CheckConstraint("num_nulls(due_action, due_at) IN (0, 2)", name="due"),
    sa.CheckConstraint(
        "due_action IS NOT NULL OR num_nonnulls(retry_at, waits_for, detail, operation_id) = 0", name="nothing_due"
    ),
)
sa.Index("ix_cluster_schedules_cluster", cluster_schedules.c.project_id, cluster_schedules.c.cluster_id)
sa.Index(
    "ix_cluster_schedules_operation",
    cluster_schedules.c.project_id,
    cluster_schedules.c.operation_id,
    postgresql_where=cluster_schedules.c.operation_id.is_not(None),
)
