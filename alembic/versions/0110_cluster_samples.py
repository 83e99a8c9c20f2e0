"""What sites show of the load of clusters in use, minute by minute.

Revision ID: 0110
Revises: 0130
"""

from __future__ import annotations

from alembic import op

revision = "0110"
down_revision = "0130"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE cluster_samples (
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        minute TIMESTAMP WITH TIME ZONE NOT NULL,
        observed_at TIMESTAMP WITH TIME ZONE NOT NULL,
        machines INTEGER NOT NULL,
        machines_answered INTEGER NOT NULL,
        utilisation REAL,
        power REAL,
        temperature REAL,
        link_errors BIGINT,
        attached_ipus INTEGER,
        partitions INTEGER NOT NULL,
        partitions_active INTEGER NOT NULL,
        cpu REAL,
        memory_used BIGINT,
        memory BIGINT,
        CONSTRAINT pk_cluster_samples PRIMARY KEY (project_id, cluster_id, minute),
        CONSTRAINT fk_cluster_samples_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_cluster_samples_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id)
    )
    """,
    "COMMENT ON TABLE cluster_samples IS"
    " 'written by observation alone, of clusters in use: the last look of a minute; NULL was not observed'",
    "COMMENT ON COLUMN cluster_samples.utilisation IS 'percent, mean of the machines that answered'",
    "COMMENT ON COLUMN cluster_samples.power IS 'watts, sum of the machines that answered'",
    "COMMENT ON COLUMN cluster_samples.temperature IS 'degrees Celsius, of the hottest IPU'",
    "COMMENT ON COLUMN cluster_samples.link_errors IS 'as counted by the IPUs since they were switched on'",
    "COMMENT ON COLUMN cluster_samples.attached_ipus IS 'held by programs on all servers'",
    "COMMENT ON COLUMN cluster_samples.cpu IS 'percent, mean of the servers'",
    "COMMENT ON COLUMN cluster_samples.memory_used IS 'bytes, sum of the servers'",
    "COMMENT ON COLUMN cluster_samples.memory IS 'bytes, sum of the servers'",
    "CREATE INDEX ix_cluster_samples_minute ON cluster_samples (minute)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON cluster_samples TO ipucloud_app",
)
DOWN = ("DROP TABLE cluster_samples",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
