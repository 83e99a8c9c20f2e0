"""Scheduled repairs: when clusters get other hardware, and when drained hardware is to be maintained.

Revision ID: 0031
Revises: 0030
"""

from __future__ import annotations

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE clusters ADD auto_repair BOOLEAN DEFAULT true NOT NULL",
    "ALTER TABLE clusters ADD repair_window JSONB",
    "COMMENT ON COLUMN clusters.repair_window IS 'as in the API; NULL: repairs begin at any time'",
    "ALTER TABLE health_reports ADD maintenance_at TIMESTAMP WITH TIME ZONE",
    "COMMENT ON COLUMN health_reports.maintenance_at IS 'of a drain: when its planned maintenance begins'",
    "GRANT UPDATE (maintenance_at) ON health_reports TO ipucloud_app",
    "ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_maintenance_at"
    " CHECK (maintenance_at IS NULL OR code = 'drain')",
    """
    CREATE TABLE scheduled_repairs (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        reason TEXT NOT NULL,
        hardware TEXT[] NOT NULL,
        announced_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        starts_at TIMESTAMP WITH TIME ZONE NOT NULL,
        latest_at TIMESTAMP WITH TIME ZONE NOT NULL,
        waits_for TEXT,
        started_at TIMESTAMP WITH TIME ZONE,
        operation_id UUID,
        ended_at TIMESTAMP WITH TIME ZONE,
        outcome TEXT,
        CONSTRAINT pk_scheduled_repairs PRIMARY KEY (id),
        CONSTRAINT fk_scheduled_repairs_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_scheduled_repairs_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT fk_scheduled_repairs_project_id_operation_id
            FOREIGN KEY(project_id, operation_id) REFERENCES operations (project_id, id),
        CONSTRAINT ck_scheduled_repairs_reason CHECK (reason IN ('fault', 'maintenance')),
        CONSTRAINT ck_scheduled_repairs_waits_for CHECK (waits_for IN ('capacity', 'limit', 'operator')),
        CONSTRAINT ck_scheduled_repairs_outcome CHECK
            (outcome IN ('repaired', 'failed', 'cancelled', 'not_needed', 'superseded', 'maintained')),
        CONSTRAINT ck_scheduled_repairs_latest_at CHECK (starts_at <= latest_at),
        CONSTRAINT ck_scheduled_repairs_started CHECK ((operation_id IS NULL) = (started_at IS NULL)),
        CONSTRAINT ck_scheduled_repairs_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
    )
    """,
    "COMMENT ON COLUMN scheduled_repairs.hardware IS 'names of the machines and hosts to replace'",
    "COMMENT ON COLUMN scheduled_repairs.waits_for IS 'why it has not begun although its time has come'",
    "COMMENT ON COLUMN scheduled_repairs.operation_id IS 'carries it out'",
    "CREATE UNIQUE INDEX uq_scheduled_repairs_open ON scheduled_repairs (cluster_id) WHERE ended_at IS NULL",
    "CREATE INDEX ix_scheduled_repairs_cluster ON scheduled_repairs (project_id, cluster_id)",
    "CREATE INDEX ix_scheduled_repairs_operation ON scheduled_repairs (project_id, operation_id)"
    " WHERE operation_id IS NOT NULL",
    "CREATE INDEX ix_scheduled_repairs_started ON scheduled_repairs (started_at)",
    "GRANT SELECT, INSERT, UPDATE ON scheduled_repairs TO ipucloud_app",
)
DOWN = (
    "DROP TABLE scheduled_repairs",
    "ALTER TABLE health_reports DROP maintenance_at",
    "ALTER TABLE clusters DROP repair_window",
    "ALTER TABLE clusters DROP auto_repair",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
