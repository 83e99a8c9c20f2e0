"""What is billed says since when a cluster is not of a reservation any more that no worker has ended yet.

Revision ID: 0220
Revises: 0230
"""

from __future__ import annotations

from alembic import op

revision = "0220"
down_revision = "0230"
branch_labels = None
depends_on = None

UP = """
CREATE OR REPLACE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at
  FROM clusters
UNION ALL
SELECT id, project_id, name, '{}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true, NULL
  FROM reservations
"""
DOWN = (
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


def upgrade() -> None:
    op.execute(UP)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
