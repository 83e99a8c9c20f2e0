"""Jobs, and what their programs wrote."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa

from ipucloud.contract.jobs import JobEndedBy, JobState
from ipucloud.db.base import instant, metadata, one_of
from ipucloud.programs.tables import log_read, log_table, placed, requested, rules, started_as, state_of

jobs = sa.Table(
    "jobs",
    metadata,
    *placed(),
    sa.Column("number", sa.Integer, nullable=False, comment="counted per cluster"),
    *started_as(),
    *state_of("queued"),
    sa.Column("exit_status", sa.Integer),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("retries", sa.Integer, nullable=False),
    sa.Column("max_minutes", sa.Integer),
    sa.Column("max_cost", sa.Numeric),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("cost", sa.Numeric, comment="of the cluster since started_at; NULL: not started, or without a price"),
    instant("sent_at"),
    *log_read(),
    instant("stop_requested_at"),
    sa.Column("stop_cause", sa.Text),
    *requested(),
    instant("started_at"),
    instant("ended_at"),
    instant("observed_at"),
    *rules("jobs", ended=("succeeded", "failed", "stopped")),
    one_of("state", JobState),
    one_of("ended_by", get_args(JobEndedBy)),
    one_of("stop_cause", ("request", "time_limit", "cost_limit")),
    sa.CheckConstraint("state <> 'succeeded' OR exit_status = 0", name="succeeded"),
    sa.CheckConstraint("(stop_requested_at IS NULL) = (stop_cause IS NULL)", name="stop"),
    sa.CheckConstraint("attempt BETWEEN 1 AND retries + 1", name="attempts"),
    sa.UniqueConstraint("cluster_id", "number"),
)
sa.Index("ix_jobs_cluster", jobs.c.project_id, jobs.c.cluster_id, jobs.c.created_at, jobs.c.id)
sa.Index(
    "uq_jobs_running", jobs.c.project_id, jobs.c.server_id, unique=True, postgresql_where=sa.text("state = 'running'")
)
sa.Index("ix_jobs_unfinished", jobs.c.project_id, jobs.c.cluster_id, postgresql_where=sa.text("ended_at IS NULL"))
sa.Index("ix_jobs_server", jobs.c.project_id, jobs.c.server_id)

job_logs = log_table("job_logs", "job_id", "jobs", comment="what programs wrote, in order")
