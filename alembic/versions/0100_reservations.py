"""Reservations: machines that are held for a time to come, and billed whether they are used or not.

Revision ID: 0100
Revises: 0111
"""

from __future__ import annotations

from alembic import op

revision = "0100"
down_revision = "0111"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE reservations (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        name TEXT NOT NULL,
        region TEXT NOT NULL,
        flavor TEXT NOT NULL,
        machine_type TEXT NOT NULL,
        blocks INTEGER NOT NULL,
        machines INTEGER NOT NULL,
        ipus INTEGER NOT NULL,
        servers INTEGER NOT NULL,
        own_hosts BOOLEAN NOT NULL,
        sku TEXT NOT NULL,
        currency TEXT NOT NULL,
        starts_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
        cancel_until TIMESTAMP WITH TIME ZONE,
        state TEXT DEFAULT 'scheduled' NOT NULL,
        state_entered_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_reservations PRIMARY KEY (id),
        CONSTRAINT fk_reservations_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT uq_reservations_project_id_id UNIQUE (project_id, id),
        CONSTRAINT ck_reservations_state CHECK (state IN ('scheduled', 'active', 'ended', 'cancelled')),
        CONSTRAINT ck_reservations_size CHECK (blocks > 0 AND machines > 0 AND ipus > 0 AND servers > 0),
        CONSTRAINT ck_reservations_period CHECK (starts_at < ends_at),
        CONSTRAINT ck_reservations_whole_minutes CHECK (
            date_trunc('minute', starts_at, 'UTC') = starts_at AND date_trunc('minute', ends_at, 'UTC') = ends_at)
    )
    """,
    "COMMENT ON TABLE reservations IS 'blocks of machines held for a project, and billed from starts_at to ends_at'",
    "COMMENT ON COLUMN reservations.blocks IS 'clusters that it has room for'",
    "COMMENT ON COLUMN reservations.machines IS 'of one block'",
    "COMMENT ON COLUMN reservations.ipus IS 'of one block'",
    "COMMENT ON COLUMN reservations.servers IS 'Poplar servers of one block'",
    "COMMENT ON COLUMN reservations.own_hosts IS 'the machines are the hosts'",
    "COMMENT ON COLUMN reservations.sku IS 'that reserved minutes are billed as'",
    "COMMENT ON COLUMN reservations.cancel_until IS 'NULL: it could never be cancelled'",
    "COMMENT ON COLUMN reservations.created_by IS 'token'",
    "CREATE INDEX ix_reservations_project ON reservations (project_id, created_at, id)",
    "CREATE INDEX ix_reservations_live ON reservations (starts_at) WHERE state IN ('scheduled', 'active')",
    "GRANT SELECT, INSERT, UPDATE ON reservations TO ipucloud_app",
    """
    ALTER TABLE allocations
      ALTER COLUMN cluster_id DROP NOT NULL,
      ADD COLUMN reservation_id UUID,
      ADD COLUMN block INTEGER,
      ADD CONSTRAINT fk_allocations_project_id_reservation_id
          FOREIGN KEY (project_id, reservation_id) REFERENCES reservations (project_id, id),
      ADD CONSTRAINT ck_allocations_holder CHECK (num_nonnulls(cluster_id, reservation_id) > 0),
      ADD CONSTRAINT ck_allocations_block CHECK ((reservation_id IS NULL) = (block IS NULL))
    """,
    "COMMENT ON COLUMN allocations.cluster_id IS 'NULL: a reservation holds it, and no cluster yet'",
    "COMMENT ON COLUMN allocations.reservation_id IS 'that it is of; NULL: of none'",
    "COMMENT ON COLUMN allocations.block IS 'number of the block within the reservation'",
    "CREATE INDEX ix_allocations_reservation ON allocations (project_id, reservation_id)"
    " WHERE reservation_id IS NOT NULL",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT fk_usage_intervals_project_id_cluster_id,
      ADD COLUMN reservation_id UUID,
      ADD COLUMN of_cluster UUID GENERATED ALWAYS AS (CASE WHEN reservation_id IS NULL THEN cluster_id END) STORED,
      ADD CONSTRAINT fk_usage_intervals_project_id_of_cluster
          FOREIGN KEY (project_id, of_cluster) REFERENCES clusters (project_id, id),
      ADD CONSTRAINT fk_usage_intervals_project_id_reservation_id
          FOREIGN KEY (project_id, reservation_id) REFERENCES reservations (project_id, id),
      ADD CONSTRAINT ck_usage_intervals_reservation CHECK (reservation_id = cluster_id)
    """,
    "COMMENT ON COLUMN usage_intervals.cluster_id IS 'the cluster or the reservation that is billed'",
    "COMMENT ON COLUMN usage_intervals.reservation_id IS 'the same, if it is a reservation'",
    "COMMENT ON COLUMN usage_intervals.of_cluster IS 'cluster_id, if it is a cluster'",
    "CREATE INDEX ix_usage_intervals_of_cluster ON usage_intervals (project_id, of_cluster)",
    "CREATE INDEX ix_usage_intervals_reservation ON usage_intervals (project_id, reservation_id)"
    " WHERE reservation_id IS NOT NULL",
    "DROP VIEW billed_clusters",
    """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved
  FROM clusters
UNION ALL
SELECT id, project_id, name, '{}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true
  FROM reservations
    """,
    "GRANT SELECT ON billed_clusters TO ipucloud_app",
)
DOWN = (
    "DELETE FROM allocations WHERE cluster_id IS NULL",
    "DROP VIEW billed_clusters",
    """
    ALTER TABLE usage_intervals
      DROP CONSTRAINT ck_usage_intervals_reservation,
      DROP COLUMN of_cluster,
      DROP COLUMN reservation_id,
      ADD CONSTRAINT fk_usage_intervals_project_id_cluster_id
          FOREIGN KEY (project_id, cluster_id) REFERENCES clusters (project_id, id)
    """,
    "COMMENT ON COLUMN usage_intervals.cluster_id IS NULL",
    """
    ALTER TABLE allocations
      DROP CONSTRAINT ck_allocations_holder, DROP CONSTRAINT ck_allocations_block,
      DROP COLUMN reservation_id, DROP COLUMN block, ALTER COLUMN cluster_id SET NOT NULL
    """,
    "COMMENT ON COLUMN allocations.cluster_id IS NULL",
    "DROP TABLE reservations",
    """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at
  FROM clusters
    """,
    "GRANT SELECT ON billed_clusters TO ipucloud_app",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
