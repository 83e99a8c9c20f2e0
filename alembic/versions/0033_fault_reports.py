"""Faults that customers report; events of the platform, which operators read.

Revision ID: 0033
Revises: 0032
"""

from __future__ import annotations

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE fault_reports (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        machine_id UUID,
        host_id UUID,
        name TEXT NOT NULL,
        category TEXT NOT NULL,
        description TEXT NOT NULL,
        since TIMESTAMP WITH TIME ZONE,
        state TEXT DEFAULT 'open' NOT NULL,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        answer TEXT,
        answered_by UUID,
        answered_at TIMESTAMP WITH TIME ZONE,
        report_id UUID,
        repaired_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_fault_reports PRIMARY KEY (id),
        CONSTRAINT fk_fault_reports_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_fault_reports_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT fk_fault_reports_machine_id FOREIGN KEY(machine_id) REFERENCES machines (id),
        CONSTRAINT fk_fault_reports_host_id FOREIGN KEY(host_id) REFERENCES hosts (id),
        CONSTRAINT fk_fault_reports_report_id FOREIGN KEY(report_id) REFERENCES health_reports (id),
        CONSTRAINT ck_fault_reports_state CHECK (state IN ('open', 'confirmed', 'dismissed', 'repaired')),
        CONSTRAINT ck_fault_reports_category CHECK
            (category IN ('ipu', 'link', 'server', 'disk', 'network', 'performance', 'other')),
        CONSTRAINT ck_fault_reports_one_object CHECK (num_nonnulls(machine_id, host_id) = 1),
        CONSTRAINT ck_fault_reports_answered CHECK
            (num_nulls(answer, answered_by, answered_at) = CASE WHEN state = 'open' THEN 3 ELSE 0 END),
        CONSTRAINT ck_fault_reports_confirmed CHECK
            ((report_id IS NOT NULL) = (state IN ('confirmed', 'repaired'))),
        CONSTRAINT ck_fault_reports_repaired CHECK ((repaired_at IS NOT NULL) = (state = 'repaired'))
    )
    """,
    "COMMENT ON COLUMN fault_reports.name IS 'of the machine or Poplar server, when it was reported'",
    "COMMENT ON COLUMN fault_reports.since IS 'as the customer says; nothing is computed from it'",
    "COMMENT ON COLUMN fault_reports.created_by IS 'token'",
    "COMMENT ON COLUMN fault_reports.answer IS 'the operator''s, for the customer'",
    "COMMENT ON COLUMN fault_reports.answered_by IS 'token'",
    "CREATE UNIQUE INDEX uq_fault_reports_unsettled ON fault_reports (cluster_id, machine_id, host_id)"
    " NULLS NOT DISTINCT WHERE state IN ('open', 'confirmed')",
    "CREATE INDEX ix_fault_reports_project ON fault_reports (project_id, created_at, id)",
    "CREATE INDEX ix_fault_reports_cluster ON fault_reports (project_id, cluster_id, created_at, id)",
    "CREATE INDEX ix_fault_reports_machine ON fault_reports (machine_id) WHERE machine_id IS NOT NULL",
    "CREATE INDEX ix_fault_reports_host ON fault_reports (host_id) WHERE host_id IS NOT NULL",
    "CREATE INDEX ix_fault_reports_report ON fault_reports (report_id) WHERE report_id IS NOT NULL",
    "GRANT SELECT, INSERT ON fault_reports TO ipucloud_app",
    "GRANT UPDATE (state, answer, answered_by, answered_at, report_id, repaired_at) ON fault_reports TO ipucloud_app",
    "ALTER TABLE events ALTER project_id DROP NOT NULL",
    "ALTER TABLE events ALTER subject_id DROP NOT NULL",
    "ALTER TABLE events ADD operators BOOLEAN DEFAULT false NOT NULL",
    "ALTER TABLE events ADD region TEXT",
    "COMMENT ON COLUMN events.project_id IS 'NULL: of the platform, for operators only'",
    "COMMENT ON COLUMN events.subject_id IS 'NULL: the region'",
    "COMMENT ON COLUMN events.operators IS 'operators read it too'",
    "COMMENT ON COLUMN events.region IS 'of an event that operators read; NULL: none, or the cluster''s'",
    "ALTER TABLE events ADD CONSTRAINT ck_events_reader CHECK (project_id IS NOT NULL OR operators)",
    "ALTER TABLE events ADD CONSTRAINT ck_events_subject CHECK (project_id IS NULL OR subject_id IS NOT NULL)",
    "CREATE INDEX ix_events_operators ON events (transaction, id) WHERE operators",
)
DOWN = (
    "DELETE FROM events WHERE project_id IS NULL",
    "ALTER TABLE events DROP operators",
    "ALTER TABLE events DROP region",
    "ALTER TABLE events ALTER project_id SET NOT NULL",
    "ALTER TABLE events ALTER subject_id SET NOT NULL",
    "COMMENT ON COLUMN events.project_id IS NULL",
    "COMMENT ON COLUMN events.subject_id IS NULL",
    "ALTER TABLE events DROP CONSTRAINT ck_events_subject",
    "DROP TABLE fault_reports",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
