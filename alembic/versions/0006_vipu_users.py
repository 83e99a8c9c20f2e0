"""V-IPU users of clusters: which controllers are secure, digests of access keys; links as controllers show them.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE site_regions ADD COLUMN vipu_secure BOOLEAN DEFAULT false NOT NULL",
    """
    CREATE TABLE vipu_access_keys (
        name TEXT NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        number INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        ends_server_key BOOLEAN NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        replaced_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_vipu_access_keys PRIMARY KEY (name),
        CONSTRAINT fk_vipu_access_keys_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_vipu_access_keys_project_id_cluster_id FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT ck_vipu_access_keys_sha256 CHECK (sha256 ~ '^[0-9a-f]{64}$'),
        CONSTRAINT uq_vipu_access_keys_cluster_id_number UNIQUE (cluster_id, number)
    )
    """,
    "COMMENT ON TABLE vipu_access_keys IS 'keys that customers have to secure V-IPU controllers'",
    "COMMENT ON COLUMN vipu_access_keys.name IS 'its id at the controller, never reused'",
    "COMMENT ON COLUMN vipu_access_keys.number IS 'counted per cluster'",
    "COMMENT ON COLUMN vipu_access_keys.sha256 IS 'of the secret, which is stored nowhere'",
    "CREATE INDEX ix_vipu_access_keys_cluster ON vipu_access_keys (project_id, cluster_id)",
    "CREATE UNIQUE INDEX uq_vipu_access_keys_valid ON vipu_access_keys (cluster_id) WHERE replaced_at IS NULL",
    """
    CREATE TABLE vipu_links (
        cluster_id UUID NOT NULL,
        project_id UUID NOT NULL,
        links JSONB NOT NULL,
        observed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_vipu_links PRIMARY KEY (cluster_id),
        CONSTRAINT fk_vipu_links_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_vipu_links_project_id_cluster_id FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id)
    )
    """,
    "COMMENT ON TABLE vipu_links IS 'the links of clusters in use, as their controllers showed them last'",
    "CREATE INDEX ix_vipu_links_cluster ON vipu_links (project_id, cluster_id)",
    "GRANT SELECT, INSERT ON vipu_access_keys, vipu_links TO ipucloud_app",
    "GRANT UPDATE (replaced_at) ON vipu_access_keys TO ipucloud_app",
    "GRANT UPDATE (links, observed_at) ON vipu_links TO ipucloud_app",
)
DOWN = (
    "DROP TABLE vipu_links",
    "DROP TABLE vipu_access_keys",
    "ALTER TABLE site_regions DROP COLUMN vipu_secure",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
