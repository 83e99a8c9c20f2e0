"""One table for what projects hold and may pay for, to which usage intervals refer.

Revision ID: 0008_resources
Revises: 0007_billing_rule_of_clusters
"""

from __future__ import annotations

from collections.abc import Iterator

from alembic import context, op

revision = "0008_resources"
down_revision = "0007_billing_rule_of_clusters"
branch_labels = None
depends_on = None

_TABLE = """
CREATE TABLE resources (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    tags jsonb DEFAULT '{}' NOT NULL,
    region text NOT NULL,
    sku text NOT NULL,
    currency text NOT NULL,
    quantity integer,
    dimension text GENERATED ALWAYS AS (CASE WHEN kind IN ('volume', 'snapshot') THEN 'gib' WHEN kind = 'address' THEN
        'address' ELSE 'machine' END) STORED,
    flavor text,
    machine_type text,
    machine_ipus integer,
    ends_at timestamptz,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT pk_resources PRIMARY KEY (id),
    CONSTRAINT fk_resources_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT uq_resources_project_id_id UNIQUE (project_id, id),
    CONSTRAINT ck_resources_kind CHECK (kind IN ('cluster', 'reservation', 'volume', 'snapshot', 'address')),
    CONSTRAINT ck_resources_quantity CHECK (quantity > 0),
    CONSTRAINT ck_resources_machines
        CHECK (num_nulls(flavor, machine_type, machine_ipus) = CASE dimension WHEN 'machine' THEN 0 ELSE 3 END)
);
COMMENT ON TABLE resources IS
    'what projects hold and may pay for; what differs between the kinds is in tables of their own';
COMMENT ON COLUMN resources.id IS 'that of the noun''s own row';
COMMENT ON COLUMN resources.sku IS 'that it is billed as';
COMMENT ON COLUMN resources.quantity IS 'of the dimension; NULL: not known yet';
COMMENT ON COLUMN resources.dimension IS 'what the quantity counts';
COMMENT ON COLUMN resources.flavor IS 'of a cluster or reservation';
COMMENT ON COLUMN resources.machine_type IS 'of a cluster or reservation';
COMMENT ON COLUMN resources.machine_ipus IS 'IPUs of each machine of a cluster or reservation';
COMMENT ON COLUMN resources.ends_at IS 'when it is to end by itself; NULL: never';
ALTER TABLE resources ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY platform ON resources TO ipucloud_app, CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY tenant ON resources FOR SELECT TO ipucloud_tenant USING (project_id = (SELECT tenant_id())
    OR (SELECT payer_id()) IS NOT NULL AND project_id IN (SELECT payees()));
CREATE POLICY inserts ON resources AS RESTRICTIVE FOR INSERT TO ipucloud_app
    WITH CHECK (((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project())));
CREATE POLICY updates ON resources AS RESTRICTIVE FOR UPDATE TO ipucloud_app
    USING (((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project())));
CREATE POLICY deletes ON resources AS RESTRICTIVE FOR DELETE TO ipucloud_app
    USING (((SELECT changed_project()) IS NULL OR project_id = (SELECT changed_project())));
GRANT SELECT ON resources TO ipucloud_tenant;
GRANT SELECT, INSERT, UPDATE ON resources TO ipucloud_app;
"""
_VALUES = {
    "name": "NEW.name",
    "tags": "NEW.tags",
    "region": "NEW.region",
    "sku": "NEW.sku",
    "currency": "NEW.currency",
    "quantity": "NULL",
    "flavor": "NULL",
    "machine_type": "NULL",
    "machine_ipus": "NULL",
    "ends_at": "NULL",
    "created_at": "NEW.created_at",
    "deleted_at": "NEW.deleted_at",
}
_MACHINES = {
    "flavor": "NEW.flavor",
    "machine_type": "NEW.machine_type",
    "machine_ipus": "NEW.ipus / NEW.machines",
}
_NOUNS = (
    (
        "clusters",
        "cluster",
        _MACHINES
        | {"quantity": "NEW.machines", "ends_at": "CASE WHEN NOT NEW.delete_protection THEN NEW.expires_at END"},
        "created_at, currency, delete_protection, deleted_at, expires_at, flavor, ipus, machine_type, machines, name,"
        " region, sku, tags",
    ),
    (
        "reservations",
        "reservation",
        _MACHINES
        | {
            "tags": "'{}'",
            "quantity": "NEW.blocks * NEW.machines",
            "ends_at": "NEW.ends_at",
            "deleted_at": "CASE WHEN NEW.state IN ('ended', 'cancelled') THEN NEW.state_entered_at END",
        },
        "blocks, created_at, currency, ends_at, flavor, ipus, machine_type, machines, name, region, sku, state,"
        " state_entered_at",
    ),
    *(
        (
            table,
            kind,
            {"quantity": "NEW.size_gib"},
            "created_at, currency, deleted_at, name, region, size_gib, sku, tags",
        )
        for table, kind in (("volumes", "volume"), ("snapshots", "snapshot"))
    ),
    ("addresses", "address", {"quantity": "1"}, "created_at, currency, deleted_at, name, region, sku, tags"),
)
_INTERVALS = """
ALTER TABLE usage_intervals
  DROP COLUMN of_cluster, DROP COLUMN reservation_id, DROP COLUMN volume_id, DROP COLUMN snapshot_id,
  DROP COLUMN address_id, DROP COLUMN dimension, DROP COLUMN resource_kind,
  ADD CONSTRAINT fk_usage_intervals_project_id_resource_id FOREIGN KEY (project_id, resource_id)
    REFERENCES resources (project_id, id);
COMMENT ON COLUMN usage_intervals.quantity IS 'of the resource''s dimension';
"""
_CLUSTER_LIVES = """
CREATE VIEW cluster_lives WITH (security_invoker = true) AS
SELECT id, project_id, state, state_entered_at, delete_requested_at, ready_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at
  FROM clusters;
GRANT SELECT ON cluster_lives TO ipucloud_app, ipucloud_tenant;
CREATE OR REPLACE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM cluster_lives
              WHERE project_id = OLD.project_id AND id = OLD.resource_id AND ready_at IS NULL) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
DROP VIEW billed_clusters;
"""
_FORMER_INTERVALS = """
ALTER TABLE usage_intervals
  ADD COLUMN resource_kind text DEFAULT 'cluster' NOT NULL,
  ADD COLUMN dimension text DEFAULT 'machine' NOT NULL,
  DISABLE TRIGGER USER;
UPDATE usage_intervals u SET resource_kind = r.kind, dimension = r.dimension FROM resources r
 WHERE r.id = u.resource_id;
ALTER TABLE usage_intervals
  ENABLE TRIGGER USER,
  DROP CONSTRAINT fk_usage_intervals_project_id_resource_id,
  ADD COLUMN of_cluster uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'cluster' THEN resource_id END) STORED,
  ADD COLUMN reservation_id uuid
    GENERATED ALWAYS AS (CASE WHEN resource_kind = 'reservation' THEN resource_id END) STORED,
  ADD COLUMN volume_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'volume' THEN resource_id END) STORED,
  ADD COLUMN snapshot_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'snapshot' THEN resource_id END) STORED,
  ADD COLUMN address_id uuid GENERATED ALWAYS AS (CASE WHEN resource_kind = 'address' THEN resource_id END) STORED,
  ADD CONSTRAINT fk_usage_intervals_project_id_of_cluster FOREIGN KEY (project_id, of_cluster)
    REFERENCES clusters (project_id, id),
  ADD CONSTRAINT fk_usage_intervals_project_id_reservation_id FOREIGN KEY (project_id, reservation_id)
    REFERENCES reservations (project_id, id),
  ADD CONSTRAINT fk_usage_intervals_project_id_volume_id FOREIGN KEY (project_id, volume_id)
    REFERENCES volumes (project_id, id),
  ADD CONSTRAINT fk_usage_intervals_project_id_snapshot_id FOREIGN KEY (project_id, snapshot_id)
    REFERENCES snapshots (project_id, id),
  ADD CONSTRAINT fk_usage_intervals_project_id_address_id FOREIGN KEY (project_id, address_id)
    REFERENCES addresses (project_id, id),
  ADD CONSTRAINT ck_usage_intervals_resource_kind
    CHECK (resource_kind IN ('cluster', 'reservation', 'volume', 'snapshot', 'address')),
  ADD CONSTRAINT ck_usage_intervals_dimension CHECK (dimension = CASE WHEN resource_kind IN ('volume', 'snapshot') THEN
    'gib' WHEN resource_kind = 'address' THEN 'address' ELSE 'machine' END);
CREATE INDEX ix_usage_intervals_address ON usage_intervals (project_id, address_id) WHERE address_id IS NOT NULL;
CREATE INDEX ix_usage_intervals_of_cluster ON usage_intervals (project_id, of_cluster);
CREATE INDEX ix_usage_intervals_reservation ON usage_intervals (project_id, reservation_id)
  WHERE reservation_id IS NOT NULL;
CREATE INDEX ix_usage_intervals_snapshot ON usage_intervals (project_id, snapshot_id) WHERE snapshot_id IS NOT NULL;
CREATE INDEX ix_usage_intervals_volume ON usage_intervals (project_id, volume_id) WHERE volume_id IS NOT NULL;
"""


def upgrade() -> None:
    cursor = op.get_bind().connection.cursor()  # the driver's own: it takes several statements at once
    for statement in (_TABLE, *_copies(), _INTERVALS, _CLUSTER_LIVES):
        cursor.execute(statement)


def _copies() -> Iterator[str]:
    """The rows that there are, and triggers that copy those to come."""
    for table, kind, own, watched in _NOUNS:
        values = _VALUES | own
        names, listed = ", ".join(values), ", ".join(values.values())
        yield (
            f"INSERT INTO resources (id, project_id, kind, {names}) SELECT id, project_id, '{kind}', {listed}"  # noqa: S608
            f" FROM {table} AS new"
        )
        yield f"""
CREATE FUNCTION copy_resource_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO resources (id, project_id, kind, {names})
    VALUES (NEW.id, NEW.project_id, '{kind}', {listed});
  ELSE
    UPDATE resources SET ({names})
      = ROW ({listed})
     WHERE id = NEW.id AND ({names})
       IS DISTINCT FROM ({listed});
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER {table}_resource BEFORE INSERT OR UPDATE OF {watched} ON {table}
FOR EACH ROW EXECUTE FUNCTION copy_resource_of_{table}();
"""  # noqa: S608  # our own text


def downgrade() -> None:
    former = context.script.get_revision("0002_billed_builds").module
    cursor = op.get_bind().connection.cursor()
    cursor.execute(_FORMER_INTERVALS)
    op.execute(former._BILLED_CLUSTERS)
    op.execute("GRANT SELECT ON billed_clusters TO ipucloud_app, ipucloud_tenant")
    op.execute(former._FINAL_INTERVAL)
    op.execute("DROP VIEW cluster_lives")
    for table, *_ in _NOUNS:
        op.execute(f"DROP TRIGGER {table}_resource ON {table}")
        op.execute(f"DROP FUNCTION copy_resource_of_{table}()")
    op.execute("DROP TABLE resources")
