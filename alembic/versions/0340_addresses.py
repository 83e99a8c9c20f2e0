"""Addresses: public ones of a project that outlive clusters, billed by the minute.

Revision ID: 0340
Revises: 0331
"""

from __future__ import annotations

from alembic import op

revision = "0340"
down_revision = "0331"
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
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'snapshot', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'snapshot'
  FROM snapshots WHERE size_gib IS NOT NULL
"""
ADDRESSES = """
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'address', 1, 1, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'address'
  FROM addresses
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
      SELECT region INTO NEW.region FROM volumes WHERE project_id = NEW.project_id AND id = NEW.subject_id;
    WHEN 'snapshot' THEN
      SELECT region INTO NEW.region FROM snapshots WHERE project_id = NEW.project_id AND id = NEW.subject_id;{address}
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
OF_ADDRESSES = """
    WHEN 'address' THEN
      SELECT region INTO NEW.region FROM addresses WHERE project_id = NEW.project_id AND id = NEW.subject_id;"""
TRIGGER = """
CREATE TRIGGER event_region BEFORE INSERT ON events FOR EACH ROW
  WHEN (NEW.region IS NULL AND NEW.project_id IS NOT NULL AND NEW.subject_type IN (
    'cluster', 'partition', 'job', 'service', 'terminal', 'fault_report', 'volume', 'snapshot', {address}'reservation',
    'quota_request'))
  EXECUTE FUNCTION set_region_of_event()
"""

UP = (
    """
    CREATE TABLE addresses (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        name TEXT NOT NULL,
        tags JSONB DEFAULT '{}' NOT NULL,
        region TEXT NOT NULL,
        external_name TEXT NOT NULL,
        ip TEXT,
        port INTEGER,
        observed_at TIMESTAMP WITH TIME ZONE,
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
        CONSTRAINT pk_addresses PRIMARY KEY (id),
        CONSTRAINT fk_addresses_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_addresses_project_id_cluster_id FOREIGN KEY(project_id, cluster_id)
            REFERENCES clusters (project_id, id),
        CONSTRAINT fk_addresses_project_id_server_id FOREIGN KEY(project_id, server_id)
            REFERENCES poplar_servers (project_id, id),
        CONSTRAINT uq_addresses_project_id_id UNIQUE (project_id, id),
        CONSTRAINT uq_addresses_external_name UNIQUE (external_name),
        CONSTRAINT ck_addresses_state CHECK (state IN (
            'creating', 'available', 'attaching', 'attached', 'detaching', 'deleting', 'deleted', 'error')),
        CONSTRAINT ck_addresses_port CHECK (port BETWEEN 1 AND 65535),
        CONSTRAINT ck_addresses_observed CHECK (
            CASE WHEN state IN ('creating', 'error') THEN num_nulls(ip, port, observed_at) = 3
                 WHEN state IN ('deleting', 'deleted') THEN num_nulls(ip, port, observed_at) IN (0, 3)
                 ELSE num_nulls(ip, port, observed_at) = 0 END),
        CONSTRAINT ck_addresses_attachment CHECK (num_nulls(cluster_id, server_id) =
            CASE WHEN state IN ('attaching', 'attached', 'detaching') THEN 0 ELSE 2 END),
        CONSTRAINT ck_addresses_requested
            CHECK ((delete_requested_at IS NOT NULL) = (state IN ('deleting', 'deleted'))),
        CONSTRAINT ck_addresses_deleted CHECK ((deleted_at IS NOT NULL) = (state = 'deleted'))
    )
    """,
    "COMMENT ON TABLE addresses IS 'public addresses that outlive clusters'",
    "COMMENT ON COLUMN addresses.external_name IS 'at the site: the id and the incarnation'",
    "COMMENT ON COLUMN addresses.ip IS 'as its site chose it'",
    "COMMENT ON COLUMN addresses.port IS 'of SSH at it'",
    "COMMENT ON COLUMN addresses.cluster_id IS 'whose server has it, gets it or loses it'",
    "COMMENT ON COLUMN addresses.revision IS 'of its attachment; it only grows'",
    "COMMENT ON COLUMN addresses.created_by IS 'token'",
    "CREATE INDEX ix_addresses_project ON addresses (project_id, created_at, id)",
    "CREATE UNIQUE INDEX uq_addresses_name ON addresses (project_id, name) WHERE state <> 'deleted'",
    "CREATE INDEX ix_addresses_cluster ON addresses (project_id, cluster_id)",
    "CREATE INDEX ix_addresses_server ON addresses (project_id, server_id)",
    "GRANT SELECT, INSERT, UPDATE ON addresses TO ipucloud_app",
    """
    CREATE TABLE address_quotas (
        project_id UUID NOT NULL,
        region TEXT NOT NULL,
        address_limit INTEGER NOT NULL,
        CONSTRAINT pk_address_quotas PRIMARY KEY (project_id, region),
        CONSTRAINT fk_address_quotas_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_address_quotas_address_limit CHECK (address_limit >= 0)
    )
    """,
    "COMMENT ON TABLE address_quotas IS 'without a row the limit is that of the settings'",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON address_quotas TO ipucloud_app",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT ck_usage_intervals_dimension,
      ADD COLUMN address_id uuid
          GENERATED ALWAYS AS (CASE WHEN resource_kind = 'address' THEN resource_id END) STORED,
      ADD CONSTRAINT ck_usage_intervals_resource_kind
          CHECK (resource_kind IN ('cluster', 'reservation', 'volume', 'snapshot', 'address')),
      ADD CONSTRAINT ck_usage_intervals_dimension
          CHECK (dimension = CASE WHEN resource_kind IN ('volume', 'snapshot') THEN 'gib'
                                  WHEN resource_kind = 'address' THEN 'address' ELSE 'machine' END),
      ADD CONSTRAINT fk_usage_intervals_project_id_address_id
          FOREIGN KEY (project_id, address_id) REFERENCES addresses (project_id, id)
    """,
    "COMMENT ON COLUMN usage_intervals.address_id IS 'the resource, if it is an address'",
    "CREATE INDEX ix_usage_intervals_address ON usage_intervals (project_id, address_id) WHERE address_id IS NOT NULL",
    f"{VIEW}{OTHERS}{ADDRESSES}",
    FUNCTION.replace("{address}", OF_ADDRESSES),
    "DROP TRIGGER event_region ON events",
    TRIGGER.format(address="'address', "),
)
OWN = "project_id = (SELECT tenant_id())"
SHOWN = {
    "addresses": f"{OWN} OR (SELECT payer_id()) IS NOT NULL AND project_id IN (SELECT payees())",
    "address_quotas": OWN,
}
CHANGED = "((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project()))"
CHANGES = (
    f"changes ON address_quotas AS RESTRICTIVE TO ipucloud_app USING ({CHANGED})",
    # Whoever pays is charged for those of all its projects, so a change reads them together.
    f"inserts ON addresses AS RESTRICTIVE FOR INSERT TO ipucloud_app WITH CHECK ({CHANGED})",
    f"updates ON addresses AS RESTRICTIVE FOR UPDATE TO ipucloud_app USING ({CHANGED})",
    f"deletes ON addresses AS RESTRICTIVE FOR DELETE TO ipucloud_app USING ({CHANGED})",
)
DOWN = (
    "DROP TRIGGER event_region ON events",
    FUNCTION.replace("{address}", ""),
    TRIGGER.format(address=""),
    f"{VIEW}{OTHERS}",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT fk_usage_intervals_project_id_address_id,
      DROP CONSTRAINT ck_usage_intervals_resource_kind,
      DROP CONSTRAINT ck_usage_intervals_dimension,
      DROP COLUMN address_id,
      ADD CONSTRAINT ck_usage_intervals_resource_kind
          CHECK (resource_kind IN ('cluster', 'reservation', 'volume', 'snapshot')),
      ADD CONSTRAINT ck_usage_intervals_dimension
          CHECK (dimension = CASE WHEN resource_kind IN ('volume', 'snapshot') THEN 'gib' ELSE 'machine' END)
    """,
    "DROP TABLE address_quotas, addresses",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)
    for table, shown in SHOWN.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY platform ON {table} TO ipucloud_app, CURRENT_USER USING (true) WITH CHECK (true)")
        op.execute(f"CREATE POLICY tenant ON {table} FOR SELECT TO ipucloud_tenant USING ({shown})")
        op.execute(f"GRANT SELECT ON {table} TO ipucloud_tenant")
    for policy in CHANGES:
        op.execute(f"CREATE POLICY {policy}")


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
