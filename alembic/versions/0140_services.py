"""Services.

Revision ID: 0140
Revises: 0135
"""

from __future__ import annotations

from alembic import op

revision = "0140"
down_revision = "0135"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE services (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        server_id UUID NOT NULL,
        name TEXT NOT NULL,
        command JSONB DEFAULT '[]' NOT NULL,
        directory TEXT,
        environment JSONB DEFAULT '{}' NOT NULL,
        port INTEGER NOT NULL,
        max_restarts INTEGER NOT NULL,
        state TEXT DEFAULT 'starting' NOT NULL,
        state_reason TEXT,
        ended_by TEXT,
        attempt INTEGER DEFAULT '1' NOT NULL,
        failures INTEGER DEFAULT '0' NOT NULL,
        exit_status INTEGER,
        next_start_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        sent_at TIMESTAMP WITH TIME ZONE,
        started_at TIMESTAMP WITH TIME ZONE,
        log_bytes BIGINT DEFAULT '0' NOT NULL,
        log_parts INTEGER DEFAULT '0' NOT NULL,
        stop_requested_at TIMESTAMP WITH TIME ZONE,
        created_by UUID NOT NULL,
        actor TEXT DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
        actor_kind TEXT DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform') NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        observed_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_services PRIMARY KEY (id),
        CONSTRAINT fk_services_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_services_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_services_project_id_server_id FOREIGN KEY(project_id, server_id)
            REFERENCES poplar_servers (project_id, id),
        CONSTRAINT ck_services_actor_kind CHECK (actor_kind IN ('user', 'token', 'operator', 'platform')),
        CONSTRAINT ck_services_state CHECK (state IN ('starting', 'running', 'failed', 'stopped')),
        CONSTRAINT ck_services_ended_by CHECK (ended_by IN ('program', 'request', 'server', 'cluster')),
        CONSTRAINT ck_services_ended CHECK ((ended_at IS NOT NULL) = (state IN ('failed', 'stopped'))),
        CONSTRAINT ck_services_ended_by_something CHECK ((ended_at IS NOT NULL) = (ended_by IS NOT NULL)),
        CONSTRAINT ck_services_running
            CHECK (state <> 'running' OR (started_at IS NOT NULL AND sent_at IS NOT NULL)),
        CONSTRAINT ck_services_port CHECK (port BETWEEN 1024 AND 65535),
        CONSTRAINT ck_services_failures CHECK (failures BETWEEN 0 AND max_restarts + 1),
        CONSTRAINT uq_services_project_id_id UNIQUE (project_id, id)
    )
    """,
    "CREATE INDEX ix_services_cluster ON services (project_id, cluster_id, created_at, id)",
    "CREATE UNIQUE INDEX uq_services_name ON services (cluster_id, name) WHERE ended_at IS NULL",
    "CREATE UNIQUE INDEX uq_services_port ON services (server_id, port) WHERE ended_at IS NULL",
    "CREATE INDEX ix_services_server ON services (project_id, server_id)",
    """
    CREATE TABLE service_logs (
        project_id UUID NOT NULL,
        service_id UUID NOT NULL,
        number INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        text TEXT NOT NULL,
        read_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_service_logs PRIMARY KEY (project_id, service_id, number),
        CONSTRAINT fk_service_logs_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_service_logs_project_id_service_id FOREIGN KEY(project_id, service_id)
            REFERENCES services (project_id, id)
    )
    """,
    "COMMENT ON TABLE services IS 'programs that are kept running'",
    "COMMENT ON COLUMN services.failures IS 'in a row'",
    "COMMENT ON COLUMN services.exit_status IS 'of the start before'",
    "COMMENT ON COLUMN services.log_bytes IS 'read of the present attempt''s'",
    "COMMENT ON COLUMN services.log_parts IS 'of all attempts'",
    "COMMENT ON COLUMN services.created_by IS 'token'",
    "COMMENT ON COLUMN services.actor IS 'e-mail of the person, or name of the token, that asked'",
    "COMMENT ON TABLE service_logs IS 'what programs wrote, in order; the newest parts'",
    "GRANT SELECT, INSERT ON services TO ipucloud_app",
    "GRANT SELECT, INSERT, DELETE ON service_logs TO ipucloud_app",
    "GRANT UPDATE (state, state_reason, ended_by, attempt, failures, exit_status, next_start_at, sent_at, started_at,"
    " log_bytes, log_parts, stop_requested_at, ended_at, observed_at) ON services TO ipucloud_app",
)
DOWN = ("DELETE FROM work WHERE kind = 'services'", "DROP TABLE service_logs", "DROP TABLE services")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
