"""Clusters that are suspended when nobody uses them, and what sites show of the use of their servers.

Revision ID: 0065
Revises: 0064
"""

from __future__ import annotations

from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE clusters ADD idle_suspend_minutes INTEGER",
    "COMMENT ON COLUMN clusters.idle_suspend_minutes IS 'suspended after so long without use; NULL: never'",
    "ALTER TABLE clusters ADD idle_counted_from TIMESTAMP WITH TIME ZONE",
    "COMMENT ON COLUMN clusters.idle_counted_from IS 'when idle_suspend_minutes was changed'",
    "ALTER TABLE clusters ADD CONSTRAINT ck_clusters_idle_suspend_minutes CHECK (idle_suspend_minutes > 0)",
    "CREATE INDEX ix_clusters_region_idle ON clusters (region)"
    " WHERE deleted_at IS NULL AND idle_suspend_minutes IS NOT NULL",
    """
    CREATE TABLE server_uses (
        server_id UUID NOT NULL,
        project_id UUID NOT NULL,
        sessions INTEGER,
        attached_ipus INTEGER,
        idle_since TIMESTAMP WITH TIME ZONE,
        observed_at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_server_uses PRIMARY KEY (server_id),
        CONSTRAINT fk_server_uses_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_server_uses_project_id_server_id
            FOREIGN KEY(project_id, server_id) REFERENCES poplar_servers (project_id, id),
        CONSTRAINT ck_server_uses_idle_since CHECK (idle_since IS NULL OR (sessions = 0 AND attached_ipus = 0))
    )
    """,
    "COMMENT ON TABLE server_uses IS 'written by observation alone, of clusters with idle_suspend_minutes'",
    "COMMENT ON COLUMN server_uses.sessions IS 'logins that are open; NULL: the site does not show it'",
    "COMMENT ON COLUMN server_uses.attached_ipus IS 'IPUs that programs hold; NULL: the site does not show it'",
    "COMMENT ON COLUMN server_uses.idle_since IS 'NULL: it is in use, or nobody knows'",
    "CREATE INDEX ix_server_uses_server ON server_uses (project_id, server_id)",
    "GRANT SELECT, INSERT, UPDATE ON server_uses TO ipucloud_app",
)
DOWN = (
    "DROP TABLE server_uses",
    "DROP INDEX ix_clusters_region_idle",
    "ALTER TABLE clusters DROP idle_counted_from",
    "ALTER TABLE clusters DROP idle_suspend_minutes",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
