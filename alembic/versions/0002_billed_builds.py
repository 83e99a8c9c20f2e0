"""What a cluster was billed before it was ready can still change, and is nothing if it never is.

Revision ID: 0002_billed_builds
Revises: 0001_baseline
"""

from __future__ import annotations

from alembic import op

revision = "0002_billed_builds"
down_revision = "0001_baseline"
branch_labels = None
depends_on = None

_BILLED_CLUSTERS = """
CREATE OR REPLACE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at,
       'cluster' AS kind, ready_at
  FROM clusters
UNION ALL
SELECT id, project_id, name, '{}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true, NULL, 'reservation', NULL
  FROM reservations
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'volume', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'volume', NULL
  FROM volumes
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'snapshot', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'snapshot', NULL
  FROM snapshots WHERE size_gib IS NOT NULL
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'address', 1, 1, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'address', NULL
  FROM addresses
"""
_FINAL_INTERVAL = """
CREATE OR REPLACE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM billed_clusters
              WHERE project_id = OLD.project_id AND id = OLD.of_cluster AND ready_at IS NULL) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
_FORMER_BILLED_CLUSTERS = """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
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
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'address', 1, 1, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'address'
  FROM addresses
"""
_FORMER_FINAL_INTERVAL = """
CREATE OR REPLACE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def upgrade() -> None:
    op.execute(_BILLED_CLUSTERS)
    op.execute(_FINAL_INTERVAL)


def downgrade() -> None:
    op.execute(_FORMER_FINAL_INTERVAL)
    op.execute("DROP VIEW billed_clusters")
    op.execute(_FORMER_BILLED_CLUSTERS)
    op.execute("GRANT SELECT ON billed_clusters TO ipucloud_app")
