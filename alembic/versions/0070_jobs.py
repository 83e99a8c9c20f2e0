"""Jobs: programs that the service runs on Poplar servers.

Revision ID: 0070
Revises: 0081
"""

from __future__ import annotations

from alembic import op

revision = "0070"
down_revision = "0081"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE jobs (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        server_id UUID NOT NULL,
        number INTEGER NOT NULL,
        command JSONB DEFAULT '[]' NOT NULL,
        directory TEXT,
        environment JSONB DEFAULT '{}' NOT NULL,
        state TEXT DEFAULT 'queued' NOT NULL,
        state_reason TEXT,
        ended_by TEXT,
        exit_status INTEGER,
        attempt INTEGER DEFAULT '1' NOT NULL,
        retries INTEGER NOT NULL,
        max_minutes INTEGER,
        max_cost NUMERIC,
        currency TEXT NOT NULL,
        cost NUMERIC,
        sent_at TIMESTAMP WITH TIME ZONE,
        log_bytes BIGINT DEFAULT '0' NOT NULL,
        log_parts INTEGER DEFAULT '0' NOT NULL,
        stop_requested_at TIMESTAMP WITH TIME ZONE,
        stop_cause TEXT,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE,
        ended_at TIMESTAMP WITH TIME ZONE,
        observed_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_jobs PRIMARY KEY (id),
        CONSTRAINT fk_jobs_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_jobs_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_jobs_project_id_server_id FOREIGN KEY(project_id, server_id)
            REFERENCES poplar_servers (project_id, id),
        CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'stopped')),
        CONSTRAINT ck_jobs_ended_by
            CHECK (ended_by IN ('program', 'request', 'time_limit', 'cost_limit', 'server', 'cluster', 'site')),
        CONSTRAINT ck_jobs_stop_cause CHECK (stop_cause IN ('request', 'time_limit', 'cost_limit')),
        CONSTRAINT ck_jobs_ended CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'stopped'))),
        CONSTRAINT ck_jobs_ended_by_something CHECK ((ended_at IS NOT NULL) = (ended_by IS NOT NULL)),
        CONSTRAINT ck_jobs_running CHECK (state <> 'running' OR (started_at IS NOT NULL AND sent_at IS NOT NULL)),
        CONSTRAINT ck_jobs_succeeded CHECK (state <> 'succeeded' OR exit_status = 0),
        CONSTRAINT ck_jobs_stop CHECK ((stop_requested_at IS NULL) = (stop_cause IS NULL)),
        CONSTRAINT ck_jobs_attempts CHECK (attempt BETWEEN 1 AND retries + 1),
        CONSTRAINT uq_jobs_project_id_id UNIQUE (project_id, id),
        CONSTRAINT uq_jobs_cluster_id_number UNIQUE (cluster_id, number)
    )
    """,
    "CREATE INDEX ix_jobs_unfinished ON jobs (project_id, cluster_id) WHERE ended_at IS NULL",
    "CREATE UNIQUE INDEX uq_jobs_running ON jobs (project_id, server_id) WHERE state = 'running'",
    "CREATE INDEX ix_jobs_cluster ON jobs (project_id, cluster_id, created_at, id)",
    "CREATE INDEX ix_jobs_server ON jobs (project_id, server_id)",
    """
    CREATE TABLE job_logs (
        project_id UUID NOT NULL,
        job_id UUID NOT NULL,
        number INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        text TEXT NOT NULL,
        read_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_job_logs PRIMARY KEY (project_id, job_id, number),
        CONSTRAINT fk_job_logs_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_job_logs_project_id_job_id FOREIGN KEY(project_id, job_id) REFERENCES jobs (project_id, id)
    )
    """,
    "COMMENT ON COLUMN jobs.number IS 'counted per cluster'",
    "COMMENT ON COLUMN jobs.cost IS 'of the cluster since started_at; NULL: not started, or without a price'",
    "COMMENT ON COLUMN jobs.log_bytes IS 'read of the present attempt''s'",
    "COMMENT ON COLUMN jobs.log_parts IS 'of all attempts'",
    "COMMENT ON COLUMN jobs.created_by IS 'token'",
    "COMMENT ON TABLE job_logs IS 'what programs wrote, in order'",
    "GRANT SELECT, INSERT ON jobs, job_logs TO ipucloud_app",
    "GRANT UPDATE (state, state_reason, ended_by, exit_status, attempt, cost, sent_at, log_bytes, log_parts,"
    " stop_requested_at, stop_cause, started_at, ended_at, observed_at) ON jobs TO ipucloud_app",
)
DOWN = ("DROP TABLE job_logs", "DROP TABLE jobs")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
