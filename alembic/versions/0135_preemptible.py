"""Preemptible clusters, and their notices.

Revision ID: 0135
Revises: 0146
"""

from __future__ import annotations

from alembic import op

revision = "0135"
down_revision = "0146"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE clusters ADD COLUMN preemptible BOOLEAN NOT NULL DEFAULT false",
    "ALTER TABLE clusters ADD COLUMN notice_revision INTEGER NOT NULL DEFAULT 0",
    "COMMENT ON COLUMN clusters.preemptible IS 'suspended, with notice, when an ordinary cluster needs its machines'",
    "COMMENT ON COLUMN clusters.notice_revision IS"
    " 'counts notices of its preemption, and their ends; 0: it never had one'",
    "CREATE INDEX ix_clusters_preemptible ON clusters (region, machine_type) WHERE deleted_at IS NULL AND preemptible",
    "ALTER TABLE poplar_servers ADD COLUMN notice_revision INTEGER",
    "COMMENT ON COLUMN poplar_servers.notice_revision IS 'as in clusters; the one it was last seen to have'",
    "ALTER TABLE capacity_waits ADD COLUMN preemptible BOOLEAN NOT NULL DEFAULT false",
    "COMMENT ON COLUMN capacity_waits.preemptible IS 'as the cluster is'",
    """
    CREATE TABLE preemptions (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        noticed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        preempt_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        outcome TEXT,
        operation_id UUID,
        CONSTRAINT pk_preemptions PRIMARY KEY (id),
        CONSTRAINT fk_preemptions_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_preemptions_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT fk_preemptions_project_id_operation_id
            FOREIGN KEY(project_id, operation_id) REFERENCES operations (project_id, id),
        CONSTRAINT ck_preemptions_outcome CHECK (outcome IN ('suspended', 'not_needed', 'not_in_use')),
        CONSTRAINT ck_preemptions_preempt_at CHECK (preempt_at >= noticed_at),
        CONSTRAINT ck_preemptions_ended CHECK ((ended_at IS NULL) = (outcome IS NULL)),
        CONSTRAINT ck_preemptions_operation_id
            CHECK ((operation_id IS NOT NULL) = (outcome IS NOT DISTINCT FROM 'suspended'))
    )
    """,
    "COMMENT ON TABLE preemptions IS 'a preemptible cluster was told that it is suspended at preempt_at'",
    "COMMENT ON COLUMN preemptions.operation_id IS 'suspends the cluster'",
    "CREATE UNIQUE INDEX uq_preemptions_open ON preemptions (cluster_id) WHERE ended_at IS NULL",
    "CREATE INDEX ix_preemptions_cluster ON preemptions (project_id, cluster_id)",
    "CREATE INDEX ix_preemptions_operation ON preemptions (project_id, operation_id) WHERE operation_id IS NOT NULL",
    "GRANT SELECT, INSERT, UPDATE ON preemptions TO ipucloud_app",
)
DOWN = (
    "DROP TABLE preemptions",
    "ALTER TABLE capacity_waits DROP COLUMN preemptible",
    "ALTER TABLE poplar_servers DROP COLUMN notice_revision",
    "DROP INDEX ix_clusters_preemptible",
    "ALTER TABLE clusters DROP COLUMN notice_revision",
    "ALTER TABLE clusters DROP COLUMN preemptible",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
