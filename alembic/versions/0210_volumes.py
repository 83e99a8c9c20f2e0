"""Volumes: storage that outlives clusters, billed by the GiB and minute.

Revision ID: 0210
Revises: 0220
"""

from __future__ import annotations

from alembic import op

revision = "0210"
down_revision = "0220"
branch_labels = None
depends_on = None

CLUSTERS = """
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at{kind}
  FROM clusters
"""
RESERVATIONS = """
SELECT id, project_id, name, '{{}}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true, NULL{kind}
  FROM reservations
"""
VOLUMES = """
SELECT id, project_id, name, tags, region, sku, 'volume', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'volume'
  FROM volumes
"""
VIEW = "CREATE VIEW billed_clusters WITH (security_invoker = true) AS"
BEFORE = f"{VIEW}{CLUSTERS.format(kind='')}UNION ALL{RESERVATIONS.format(kind='')}"
OF_CLUSTERS, OF_RESERVATIONS = ", 'cluster' AS kind", ", 'reservation'"
AFTER = (
    f"{VIEW}{CLUSTERS.format(kind=OF_CLUSTERS)}UNION ALL{RESERVATIONS.format(kind=OF_RESERVATIONS)}UNION ALL{VOLUMES}"
)

UP = (
    """
    CREATE TABLE volumes (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        name TEXT NOT NULL,
        tags JSONB DEFAULT '{}' NOT NULL,
        region TEXT NOT NULL,
        external_name TEXT NOT NULL,
        size_gib INTEGER NOT NULL,
        wanted_gib INTEGER,
        sku TEXT NOT NULL,
        currency TEXT NOT NULL,
        state TEXT DEFAULT 'creating' NOT NULL,
        state_reason TEXT,
        state_entered_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        cluster_id UUID,
        server_id UUID,
        revision INTEGER DEFAULT '0' NOT NULL,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        delete_requested_at TIMESTAMP WITH TIME ZONE,
        deleted_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_volumes PRIMARY KEY (id),
        CONSTRAINT fk_volumes_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_volumes_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_volumes_project_id_server_id FOREIGN KEY(project_id, server_id)
            REFERENCES poplar_servers (project_id, id),
        CONSTRAINT uq_volumes_project_id_id UNIQUE (project_id, id),
        CONSTRAINT uq_volumes_external_name UNIQUE (external_name),
        CONSTRAINT ck_volumes_state CHECK (state IN ('creating', 'available', 'attaching', 'attached', 'detaching',
            'resizing', 'deleting', 'deleted', 'error')),
        CONSTRAINT ck_volumes_size CHECK (size_gib > 0 AND wanted_gib > size_gib),
        CONSTRAINT ck_volumes_wanted CHECK ((wanted_gib IS NOT NULL) = (state = 'resizing')),
        CONSTRAINT ck_volumes_attachment CHECK (num_nulls(cluster_id, server_id) =
            CASE WHEN state IN ('attaching', 'attached', 'detaching') THEN 0
                 WHEN state = 'resizing' AND cluster_id IS NOT NULL THEN 0 ELSE 2 END),
        CONSTRAINT ck_volumes_requested CHECK ((delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))),
        CONSTRAINT ck_volumes_deleted CHECK ((deleted_at IS NOT NULL) = (state = 'deleted'))
    )
    """,
    "COMMENT ON TABLE volumes IS 'storage that outlives clusters'",
    "COMMENT ON COLUMN volumes.external_name IS 'at the site: the id and the incarnation'",
    "COMMENT ON COLUMN volumes.size_gib IS 'as billed'",
    "COMMENT ON COLUMN volumes.wanted_gib IS 'the size it grows to'",
    "COMMENT ON COLUMN volumes.cluster_id IS 'whose server has it, gets it or loses it'",
    "COMMENT ON COLUMN volumes.revision IS 'of its attachment; it only grows'",
    "COMMENT ON COLUMN volumes.created_by IS 'token'",
    "CREATE INDEX ix_volumes_project ON volumes (project_id, created_at, id)",
    "CREATE UNIQUE INDEX uq_volumes_name ON volumes (project_id, name) WHERE state <> 'deleted'",
    "CREATE INDEX ix_volumes_cluster ON volumes (project_id, cluster_id)",
    "CREATE INDEX ix_volumes_server ON volumes (project_id, server_id)",
    "GRANT SELECT, INSERT, UPDATE ON volumes TO ipucloud_app",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT ck_usage_intervals_dimension,
      ADD COLUMN volume_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'volume' THEN cluster_id END) STORED,
      ADD CONSTRAINT ck_usage_intervals_resource_kind CHECK (resource_kind IN ('cluster', 'reservation', 'volume')),
      ADD CONSTRAINT ck_usage_intervals_dimension
          CHECK (dimension = CASE resource_kind WHEN 'volume' THEN 'gib' ELSE 'machine' END),
      ADD CONSTRAINT fk_usage_intervals_project_id_volume_id
          FOREIGN KEY (project_id, volume_id) REFERENCES volumes (project_id, id)
    """,
    "COMMENT ON COLUMN usage_intervals.volume_id IS 'the resource, if it is a volume'",
    "COMMENT ON COLUMN usage_intervals.flavor IS 'of a cluster or reservation, at that time; of a volume its SKU'",
    "CREATE INDEX ix_usage_intervals_volume ON usage_intervals (project_id, volume_id) WHERE volume_id IS NOT NULL",
    "DROP VIEW billed_clusters",
    AFTER,
    "GRANT SELECT ON billed_clusters TO ipucloud_app",
)
DOWN = (
    "DROP VIEW billed_clusters",
    BEFORE,
    "GRANT SELECT ON billed_clusters TO ipucloud_app",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT fk_usage_intervals_project_id_volume_id,
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT ck_usage_intervals_dimension,
      DROP COLUMN volume_id,
      ADD CONSTRAINT ck_usage_intervals_resource_kind CHECK (resource_kind IN ('cluster', 'reservation')),
      ADD CONSTRAINT ck_usage_intervals_dimension CHECK (dimension = 'machine')
    """,
    "COMMENT ON COLUMN usage_intervals.flavor IS 'of a cluster or reservation, at that time'",
    "DROP TABLE volumes",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
