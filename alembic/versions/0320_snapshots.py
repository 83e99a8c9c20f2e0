"""Snapshots: copies of volumes and of the disks of servers, billed by the GiB and minute.

Revision ID: 0320
Revises: 0310
"""

from __future__ import annotations

from alembic import op

revision = "0320"
down_revision = "0310"
branch_labels = None
depends_on = None

OTHERS = """
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at,
       'cluster' AS kind
  FROM clusters
UNION ALL
SELECT id, project_id, name, '{}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true, NULL, 'reservation'
  FROM reservations
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'volume', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'volume'
  FROM volumes
"""
SNAPSHOTS = """
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'snapshot', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'snapshot'
  FROM snapshots WHERE size_gib IS NOT NULL
"""
VIEW = "CREATE OR REPLACE VIEW billed_clusters WITH (security_invoker = true) AS"

FUNCTION = """
CREATE OR REPLACE FUNCTION set_region_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cluster uuid;
BEGIN
  CASE NEW.subject_type
    WHEN 'cluster' THEN cluster := NEW.subject_id;
    WHEN 'partition' THEN
      SELECT cluster_id INTO cluster FROM partitions WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'job' THEN
      SELECT cluster_id INTO cluster FROM jobs WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'service' THEN
      SELECT cluster_id INTO cluster FROM services WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'terminal' THEN
      SELECT cluster_id INTO cluster FROM terminals WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'fault_report' THEN
      SELECT cluster_id INTO cluster FROM fault_reports WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'volume' THEN
      SELECT region INTO NEW.region FROM volumes WHERE project_id = NEW.project_id AND id = NEW.subject_id;{snapshot}
    WHEN 'reservation' THEN
      SELECT region INTO NEW.region FROM reservations WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    ELSE
      NEW.region := NEW.data ->> 'region';
  END CASE;
  IF cluster IS NOT NULL THEN
    SELECT region INTO NEW.region FROM clusters WHERE project_id = NEW.project_id AND id = cluster;
  END IF;
  RETURN NEW;
END $$
"""
OF_SNAPSHOTS = """
    WHEN 'snapshot' THEN
      SELECT region INTO NEW.region FROM snapshots WHERE project_id = NEW.project_id AND id = NEW.subject_id;"""
TRIGGER = """
CREATE TRIGGER event_region BEFORE INSERT ON events FOR EACH ROW
  WHEN (NEW.region IS NULL AND NEW.project_id IS NOT NULL AND NEW.subject_type IN (
    'cluster', 'partition', 'job', 'service', 'terminal', 'fault_report', 'volume', {snapshot}'reservation',
    'quota_request'))
  EXECUTE FUNCTION set_region_of_event()
"""

UP = (
    """
    CREATE TABLE snapshots (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        volume_id UUID,
        cluster_id UUID,
        server_id UUID,
        image TEXT,
        name TEXT NOT NULL,
        tags JSONB DEFAULT '{}' NOT NULL,
        region TEXT NOT NULL,
        external_name TEXT NOT NULL,
        size_gib INTEGER,
        sku TEXT NOT NULL,
        currency TEXT NOT NULL,
        state TEXT DEFAULT 'creating' NOT NULL,
        state_reason TEXT,
        state_entered_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        delete_requested_at TIMESTAMP WITH TIME ZONE,
        deleted_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_snapshots PRIMARY KEY (id),
        CONSTRAINT fk_snapshots_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_snapshots_project_id_volume_id FOREIGN KEY(project_id, volume_id)
            REFERENCES volumes (project_id, id),
        CONSTRAINT fk_snapshots_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_snapshots_project_id_server_id FOREIGN KEY(project_id, server_id)
            REFERENCES poplar_servers (project_id, id),
        CONSTRAINT uq_snapshots_project_id_id UNIQUE (project_id, id),
        CONSTRAINT uq_snapshots_external_name UNIQUE (external_name),
        CONSTRAINT ck_snapshots_state CHECK (state IN ('creating', 'available', 'deleting', 'deleted', 'error')),
        CONSTRAINT ck_snapshots_size CHECK (size_gib > 0),
        CONSTRAINT ck_snapshots_source CHECK (num_nulls(volume_id, server_id) = 1),
        CONSTRAINT ck_snapshots_server CHECK (num_nulls(cluster_id, server_id, image) IN (0, 3)),
        CONSTRAINT ck_snapshots_size_is_known
            CHECK (size_gib IS NOT NULL OR volume_id IS NULL AND state <> 'available'),
        CONSTRAINT ck_snapshots_requested
            CHECK ((delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))),
        CONSTRAINT ck_snapshots_deleted CHECK ((deleted_at IS NOT NULL) = (state = 'deleted'))
    )
    """,
    "COMMENT ON TABLE snapshots IS 'copies of volumes, and of the disks of Poplar servers'",
    "COMMENT ON COLUMN snapshots.volume_id IS 'that it is a copy of'",
    "COMMENT ON COLUMN snapshots.server_id IS 'whose disk it is a copy of'",
    "COMMENT ON COLUMN snapshots.image IS 'of the catalogue, which that server had'",
    "COMMENT ON COLUMN snapshots.external_name IS 'at the site: the id and the incarnation'",
    "COMMENT ON COLUMN snapshots.size_gib IS 'of the volume at that time, or of what was on the disk; as billed'",
    "COMMENT ON COLUMN snapshots.created_by IS 'token'",
    "CREATE INDEX ix_snapshots_project ON snapshots (project_id, created_at, id)",
    "CREATE UNIQUE INDEX uq_snapshots_name ON snapshots (project_id, name) WHERE state <> 'deleted'",
    "CREATE INDEX ix_snapshots_volume ON snapshots (project_id, volume_id)",
    "CREATE INDEX ix_snapshots_cluster ON snapshots (project_id, cluster_id)",
    "CREATE INDEX ix_snapshots_server ON snapshots (project_id, server_id)",
    "GRANT SELECT, INSERT, UPDATE ON snapshots TO ipucloud_app",
    """
    CREATE TABLE volume_origins (
        volume_id UUID NOT NULL,
        project_id UUID NOT NULL,
        snapshot_id UUID NOT NULL,
        CONSTRAINT pk_volume_origins PRIMARY KEY (volume_id),
        CONSTRAINT fk_volume_origins_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_volume_origins_project_id_volume_id FOREIGN KEY(project_id, volume_id)
            REFERENCES volumes (project_id, id),
        CONSTRAINT fk_volume_origins_project_id_snapshot_id FOREIGN KEY(project_id, snapshot_id)
            REFERENCES snapshots (project_id, id)
    )
    """,
    "COMMENT ON TABLE volume_origins IS 'the snapshot that a volume was made from'",
    "CREATE INDEX ix_volume_origins_volume ON volume_origins (project_id, volume_id)",
    "CREATE INDEX ix_volume_origins_snapshot ON volume_origins (project_id, snapshot_id)",
    "GRANT SELECT, INSERT ON volume_origins TO ipucloud_app",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT ck_usage_intervals_dimension,
      ADD COLUMN snapshot_id uuid
          GENERATED ALWAYS AS (CASE WHEN resource_kind = 'snapshot' THEN resource_id END) STORED,
      ADD CONSTRAINT ck_usage_intervals_resource_kind
          CHECK (resource_kind IN ('cluster', 'reservation', 'volume', 'snapshot')),
      ADD CONSTRAINT ck_usage_intervals_dimension
          CHECK (dimension = CASE WHEN resource_kind IN ('volume', 'snapshot') THEN 'gib' ELSE 'machine' END),
      ADD CONSTRAINT fk_usage_intervals_project_id_snapshot_id
          FOREIGN KEY (project_id, snapshot_id) REFERENCES snapshots (project_id, id)
    """,
    "COMMENT ON COLUMN usage_intervals.snapshot_id IS 'the resource, if it is a snapshot'",
    "COMMENT ON COLUMN usage_intervals.flavor IS 'of a cluster or reservation, at that time; otherwise the SKU'",
    "CREATE INDEX ix_usage_intervals_snapshot ON usage_intervals (project_id, snapshot_id)"
    " WHERE snapshot_id IS NOT NULL",
    f"{VIEW}{OTHERS}{SNAPSHOTS}",
    FUNCTION.replace("{snapshot}", OF_SNAPSHOTS),
    "DROP TRIGGER event_region ON events",
    TRIGGER.format(snapshot="'snapshot', "),
)
TENANT_TABLES = ("snapshots", "volume_origins")
DOWN = (
    "DROP TRIGGER event_region ON events",
    FUNCTION.replace("{snapshot}", ""),
    TRIGGER.format(snapshot=""),
    f"{VIEW}{OTHERS}",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT fk_usage_intervals_project_id_snapshot_id,
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT ck_usage_intervals_dimension,
      DROP COLUMN snapshot_id,
      ADD CONSTRAINT ck_usage_intervals_resource_kind CHECK (resource_kind IN ('cluster', 'reservation', 'volume')),
      ADD CONSTRAINT ck_usage_intervals_dimension
          CHECK (dimension = CASE resource_kind WHEN 'volume' THEN 'gib' ELSE 'machine' END)
    """,
    "COMMENT ON COLUMN usage_intervals.flavor IS 'of a cluster or reservation, at that time; of a volume its SKU'",
    "DROP TABLE volume_origins, snapshots",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)
    for table in TENANT_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY platform ON {table} TO ipucloud_app, CURRENT_USER USING (true) WITH CHECK (true)")
        op.execute(
            f"CREATE POLICY tenant ON {table} FOR SELECT TO ipucloud_tenant USING (project_id = (SELECT tenant_id()))"
        )
        op.execute(f"GRANT SELECT ON {table} TO ipucloud_tenant")


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
