"""Rebuilds of Poplar servers: what they are to be written with, and how often each was.

Revision ID: 0061
Revises: 0060
"""

from __future__ import annotations

from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

_STATES = "ALTER TABLE poplar_servers ADD CONSTRAINT ck_poplar_servers_state CHECK (state IN ({}))"
UP = (
    """
    CREATE TABLE cluster_rebuilds (
        project_id UUID NOT NULL,
        operation_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        disk TEXT NOT NULL,
        image TEXT NOT NULL,
        user_data TEXT,
        ssh_keys JSONB DEFAULT '[]' NOT NULL,
        keys_revision INTEGER NOT NULL,
        begun_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_cluster_rebuilds PRIMARY KEY (project_id, operation_id),
        CONSTRAINT fk_cluster_rebuilds_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_cluster_rebuilds_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_cluster_rebuilds_project_id_operation_id FOREIGN KEY(project_id, operation_id)
            REFERENCES operations (project_id, id),
        CONSTRAINT ck_cluster_rebuilds_disk CHECK (disk IN ('keep', 'wipe'))
    )
    """,
    "COMMENT ON TABLE cluster_rebuilds IS"
    " 'what Poplar servers are to be written with; the cluster has it once a server was written'",
    "CREATE INDEX ix_cluster_rebuilds_cluster ON cluster_rebuilds (project_id, cluster_id)",
    "GRANT SELECT, INSERT ON cluster_rebuilds TO ipucloud_app",
    "GRANT UPDATE (begun_at) ON cluster_rebuilds TO ipucloud_app",
    "ALTER TABLE poplar_servers ADD COLUMN generation integer DEFAULT 1 NOT NULL",
    "COMMENT ON COLUMN poplar_servers.generation IS 'how often its system was to be written'",
    "ALTER TABLE poplar_servers DROP CONSTRAINT ck_poplar_servers_state",
    _STATES.format("'pending', 'running', 'rebooting', 'rebuilding', 'off', 'deleted'"),
)
DOWN = (
    "UPDATE poplar_servers SET state = 'running' WHERE state = 'rebuilding'",
    "ALTER TABLE poplar_servers DROP CONSTRAINT ck_poplar_servers_state",
    _STATES.format("'pending', 'running', 'rebooting', 'off', 'deleted'"),
    "ALTER TABLE poplar_servers DROP COLUMN generation",
    "DROP TABLE cluster_rebuilds",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
