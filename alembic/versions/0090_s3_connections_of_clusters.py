"""S3 connections of clusters: which they have, what servers were seen to have; results of tests.

Revision ID: 0090
Revises: 0097
"""

from __future__ import annotations

from alembic import op

revision = "0090"
down_revision = "0097"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE s3_connections
      ADD COLUMN attachable boolean DEFAULT false NOT NULL,
      ADD COLUMN tested_at timestamp with time zone,
      ADD COLUMN test_failed text,
      ADD COLUMN test_detail text,
      ADD CONSTRAINT ck_s3_connections_test_failed CHECK (test_failed IN ('secret', 'name', 'address', 'connection',
        'tls', 'credentials', 'bucket', 'region', 'permission', 'service')),
      ADD CONSTRAINT ck_s3_connections_test CHECK (num_nulls(test_failed, test_detail) IN (0, 2))
    """,
    "COMMENT ON COLUMN s3_connections.tested_at IS 'NULL: not since its last change'",
    "COMMENT ON COLUMN s3_connections.test_failed IS 'NULL: the test succeeded'",
    "GRANT UPDATE (endpoint, region, bucket, prefix, access_key_id, attachable, tested_at, test_failed, test_detail)"
    " ON s3_connections TO ipucloud_app",
    "ALTER TABLE clusters ADD COLUMN s3_revision integer DEFAULT 0 NOT NULL",
    "COMMENT ON COLUMN clusters.s3_revision IS 'counts changes of its S3 connections; 0: it never had one'",
    """
    ALTER TABLE poplar_servers
      ADD COLUMN s3_revision integer,
      ADD COLUMN s3_connections jsonb,
      ADD COLUMN s3_mounts jsonb,
      ADD COLUMN s3_observed_at timestamp with time zone
    """,
    "COMMENT ON COLUMN poplar_servers.s3_revision IS 'as in clusters; the one it was last seen to have, NULL: not seen'",
    "COMMENT ON COLUMN poplar_servers.s3_connections IS 'names of those it was last seen to have'",
    "COMMENT ON COLUMN poplar_servers.s3_mounts IS 'folders at which it was last seen to have mounted some of them'",
    """
    CREATE TABLE cluster_s3_connections (
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        connection_id UUID NOT NULL,
        place INTEGER NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_cluster_s3_connections PRIMARY KEY (project_id, cluster_id, connection_id),
        CONSTRAINT fk_cluster_s3_connections_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_cluster_s3_connections_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_cluster_s3_connections_project_id_connection_id FOREIGN KEY(project_id, connection_id)
            REFERENCES s3_connections (project_id, id)
    )
    """,
    "COMMENT ON TABLE cluster_s3_connections IS 'S3 connections that the servers of a cluster are to have'",
    "CREATE INDEX ix_cluster_s3_connections_connection ON cluster_s3_connections (project_id, connection_id)",
    "GRANT SELECT, INSERT, DELETE ON cluster_s3_connections TO ipucloud_app",
)
DOWN = (
    "DROP TABLE cluster_s3_connections",
    "ALTER TABLE poplar_servers DROP COLUMN s3_observed_at, DROP COLUMN s3_mounts, DROP COLUMN s3_connections,"
    " DROP COLUMN s3_revision",
    "ALTER TABLE clusters DROP COLUMN s3_revision",
    "ALTER TABLE s3_connections DROP COLUMN test_detail, DROP COLUMN test_failed, DROP COLUMN tested_at,"
    " DROP COLUMN attachable",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
