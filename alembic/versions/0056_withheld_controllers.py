"""What a silent or unsupported V-IPU controller has is not offered to new clusters.

Revision ID: 0056
Revises: 0055
"""

from __future__ import annotations

from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

WITHHELD = "ALTER TABLE vipu_controllers ADD COLUMN withheld boolean DEFAULT false NOT NULL"
COMMENT = """
COMMENT ON COLUMN vipu_controllers.withheld IS 'two readings in a row failed: new clusters get none of its machines'
"""
POD_MASKS = """
CREATE OR REPLACE VIEW pod_masks WITH (security_invoker = true) AS
SELECT pod_id,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'free'), 0) AS free_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'allocated'), 0) AS allocated_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'cleaning'), 0) AS cleaning_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'unhealthy'), 0) AS unhealthy_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'maintenance'), 0) AS maintenance_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'validating'), 0) AS validating_mask
  FROM (SELECT machines.pod_id, machines.slot,
               CASE WHEN held.released_at IS NOT NULL THEN 'cleaning'
                    WHEN held.id IS NOT NULL THEN 'allocated'
                    WHEN machines.allocatable AND coalesce(own.allocatable, true)
                         AND NOT coalesce(vipu_controllers.withheld, false) THEN 'free'
                    WHEN machines.maintenance OR own.maintenance THEN 'maintenance'
                    WHEN machines.validating AND coalesce(own.allocatable, true) THEN 'validating'
                    ELSE 'unhealthy' END AS state
          FROM machines
          JOIN pods ON pods.id = machines.pod_id
          LEFT JOIN vipu_controllers
            ON vipu_controllers.region = pods.region AND vipu_controllers.name = pods.controller
          LEFT JOIN hosts AS own ON own.machine_id = machines.id
          LEFT JOIN allocations AS held ON held.machine_id = machines.id AND held.freed_at IS NULL) AS slots
 GROUP BY pod_id
"""
POD_MASKS_BEFORE = """
CREATE OR REPLACE VIEW pod_masks WITH (security_invoker = true) AS
SELECT pod_id,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'free'), 0) AS free_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'allocated'), 0) AS allocated_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'cleaning'), 0) AS cleaning_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'unhealthy'), 0) AS unhealthy_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'maintenance'), 0) AS maintenance_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'validating'), 0) AS validating_mask
  FROM (SELECT machines.pod_id, machines.slot,
               CASE WHEN held.released_at IS NOT NULL THEN 'cleaning'
                    WHEN held.id IS NOT NULL THEN 'allocated'
                    WHEN machines.allocatable AND coalesce(own.allocatable, true) THEN 'free'
                    WHEN machines.maintenance OR own.maintenance THEN 'maintenance'
                    WHEN machines.validating AND coalesce(own.allocatable, true) THEN 'validating'
                    ELSE 'unhealthy' END AS state
          FROM machines
          LEFT JOIN hosts AS own ON own.machine_id = machines.id
          LEFT JOIN allocations AS held ON held.machine_id = machines.id AND held.freed_at IS NULL) AS slots
 GROUP BY pod_id
"""
SETTLE = "SELECT settle_pods(array_agg(p.id)) FROM pods p JOIN vipu_controllers c USING (region) WHERE c.withheld"


def upgrade() -> None:
    for statement in (WITHHELD, COMMENT, POD_MASKS):
        op.execute(statement)


def downgrade() -> None:
    op.execute(POD_MASKS_BEFORE)
    op.execute(f"{SETTLE} HAVING count(*) > 0")
    op.execute("ALTER TABLE vipu_controllers DROP COLUMN withheld")
