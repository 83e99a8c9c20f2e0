"""Jobs, and what their programs wrote."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa

from ipucloud.contract.jobs import JobEndedBy, JobState
from ipucloud.contract.operations import ActorKind
from ipucloud.db.base import instant, json_column, metadata, one_of, same_project, tenant_key

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("server_id", sa.Uuid, nullable=False),
    sa.Column("number", sa.Integer, nullable=False, comment="counted per cluster"),
    json_column("command", default="'[]'"),
    sa.Column("directory", sa.Text),
    json_column("environment", default="'{}'"),
    sa.Column("state", sa.Text, nullable=False, server_default="queued"),
    sa.Column("state_reason", sa.Text),
    sa.Column("ended_by", sa.Text),
    sa.Column("exit_status", sa.Integer),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("retries", sa.Integer, nullable=False),
    sa.Column("max_minutes", sa.Integer),
    sa.Column("max_cost", sa.Numeric),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("cost", sa.Numeric, comment="of the cluster since started_at; NULL: not started, or without a price"),
    instant("sent_at"),
    sa.Column("log_bytes", sa.BigInteger, nullable=False, server_default="0", comment="read of the present attempt's"),
    sa.Column("log_parts", sa.Integer, nullable=False, server_default="0", comment="of all attempts"),
    instant("stop_requested_at"),
    sa.Column("stop_cause", sa.Text),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    sa.Column(
        "actor",
        sa.Text,
        server_default=sa.text("nullif(current_setting('ipucloud.actor', true), '')"),
        comment="e-mail of the person, or name of the token, that asked",
    ),
    sa.Column(
        "actor_kind",
        sa.Text,
        nullable=False,
        server_default=sa.text("coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform')"),
    ),
    instant("created_at", default_now=True),
    instant("started_at"),
    instant("ended_at"),
    instant("observed_at"),
    tenant_key("jobs"),
    same_project("jobs", "cluster_id", "clusters"),
    same_project("jobs", "server_id", "poplar_servers"),
    one_of("actor_kind", ActorKind),
    one_of("state", JobState),
    one_of("ended_by", get_args(JobEndedBy)),
    one_of("stop_cause", ("request", "time_limit", "cost_limit")),
    sa.CheckConstraint("(ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'stopped'))", name="ended"),
    sa.CheckConstraint("(ended_at IS NOT NULL) = (ended_by IS NOT NULL)", name="ended_by_something"),
    sa.CheckConstraint("state <> 'running' OR (started_at IS NOT NULL AND sent_at IS NOT NULL)", name="running"),
    sa.CheckConstraint("state <> 'succeeded' OR exit_status = 0", name="succeeded"),
    sa.CheckConstraint("(stop_requested_at IS NULL) = (stop_cause IS NULL)", name="stop"),
    sa.CheckConstraint("attempt BETWEEN 1 AND retries + 1", name="attempts"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("cluster_id", "number"),
)
sa.Index("ix_jobs_cluster", jobs.c.project_id, jobs.c.cluster_id, jobs.c.created_at, jobs.c.id)
sa.Index(
    "uq_jobs_running", jobs.c.project_id, jobs.c.server_id, unique=True, postgresql_where=sa.text("state = 'running'")
)
sa.Index("ix_jobs_unfinished", jobs.c.project_id, jobs.c.cluster_id, postgresql_where=sa.text("ended_at IS NULL"))
sa.Index("ix_jobs_server", jobs.c.project_id, jobs.c.server_id)

job_logs = sa.Table(
    "job_logs",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("job_id", sa.Uuid, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    instant("read_at", default_now=True),
    tenant_key("job_logs"),
    same_project("job_logs", "job_id", "jobs"),
    comment="what programs wrote, in order",
)
