"""Schedules by which clusters are suspended and resumed.

Revision ID: 0064
Revises: 0063
"""

from __future__ import annotations

from alembic import op

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE cluster_schedules (
        cluster_id UUID NOT NULL,
        project_id UUID NOT NULL,
        time_zone TEXT NOT NULL,
        periods JSONB DEFAULT '[]' NOT NULL,
        holidays JSONB DEFAULT '[]' NOT NULL,
        next_action TEXT,
        next_at TIMESTAMP WITH TIME ZONE,
        computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
        due_action TEXT,
        due_at TIMESTAMP WITH TIME ZONE,
        retry_at TIMESTAMP WITH TIME ZONE,
        waits_for TEXT,
        detail TEXT,
        operation_id UUID,
        CONSTRAINT pk_cluster_schedules PRIMARY KEY (cluster_id),
        CONSTRAINT fk_cluster_schedules_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_cluster_schedules_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT fk_cluster_schedules_project_id_operation_id
            FOREIGN KEY(project_id, operation_id) REFERENCES operations (project_id, id),
        CONSTRAINT ck_cluster_schedules_next_action CHECK (next_action IN ('suspend', 'resume')),
        CONSTRAINT ck_cluster_schedules_due_action CHECK (due_action IN ('suspend', 'resume')),
        CONSTRAINT ck_cluster_schedules_waits_for CHECK (waits_for IN
            ('operation', 'budget_reached', 'capacity_exhausted', 'funds_exhausted', 'payment_overdue',
             'quota_exceeded', 'state_conflict', 'resume_failed')),
        CONSTRAINT ck_cluster_schedules_next CHECK ((next_action IS NULL) = (next_at IS NULL)),
        CONSTRAINT ck_cluster_schedules_due CHECK (num_nulls(due_action, due_at) IN (0, 2)),
        CONSTRAINT ck_cluster_schedules_nothing_due CHECK
            (due_action IS NOT NULL OR num_nonnulls(retry_at, waits_for, detail, operation_id) = 0)
    )
    """,
    "COMMENT ON COLUMN cluster_schedules.next_at IS 'of the calendar, later than what is due'",
    "COMMENT ON COLUMN cluster_schedules.due_action IS 'what is to be done now'",
    "COMMENT ON COLUMN cluster_schedules.operation_id IS 'the resume that was begun for it'",
    "CREATE INDEX ix_cluster_schedules_cluster ON cluster_schedules (project_id, cluster_id)",
    "CREATE INDEX ix_cluster_schedules_operation ON cluster_schedules (project_id, operation_id)"
    " WHERE operation_id IS NOT NULL",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON cluster_schedules TO ipucloud_app",
)
DOWN = ("DROP TABLE cluster_schedules",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
