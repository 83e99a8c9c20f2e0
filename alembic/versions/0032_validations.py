"""Validations of machines before clusters get them.

A process of the version before does not know the state `validating` of a machine: stop all of them first.

Revision ID: 0032
Revises: 0031
"""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

CODES = (
    "bmc_critical",
    "powered_off",
    "power_stuck",
    "firmware_differs",
    "agent_unreachable",
    "sensor_critical",
    "sensor_warning",
    "link_down",
    "link_degraded",
    "partition_error",
    "host_failed",
    "server_off",
    "ssh_unreachable",
    "host_key_changed",
    "not_observed",
    "build_failed",
    "replaced",
    "not_clean",
    "not_validated",
    "validation_failed",
    "surplus",
    "wrong_serial",
    "wrong_model",
    "cabling",
    "maintenance",
    "drain",
    "quarantine",
)
NEW_CODES = frozenset({"not_validated", "validation_failed"})
MASKS = ("free_mask", "allocated_mask", "cleaning_mask", "unhealthy_mask", "maintenance_mask", "validating_mask")
TABLE = (
    """
    CREATE TABLE hardware_validations (
        id UUID NOT NULL,
        machine_id UUID NOT NULL,
        reason TEXT NOT NULL,
        requested_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        requested_by TEXT,
        alone BOOLEAN DEFAULT false NOT NULL,
        name TEXT,
        started_at TIMESTAMP WITH TIME ZONE,
        deadline_at TIMESTAMP WITH TIME ZONE,
        result TEXT,
        findings TEXT,
        tested_at TIMESTAMP WITH TIME ZONE,
        released_at TIMESTAMP WITH TIME ZONE,
        ended_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_hardware_validations PRIMARY KEY (id),
        CONSTRAINT fk_hardware_validations_machine_id FOREIGN KEY (machine_id) REFERENCES machines (id),
        CONSTRAINT ck_hardware_validations_reason CHECK (reason IN ('intake', 'release', 'repair', 'operator')),
        CONSTRAINT ck_hardware_validations_result CHECK (result IN ('passed', 'failed', 'abandoned')),
        CONSTRAINT ck_hardware_validations_started CHECK (num_nulls(name, started_at, deadline_at) IN (0, 3)),
        CONSTRAINT ck_hardware_validations_tested
            CHECK ((result IS NULL) = (tested_at IS NULL) OR name IS NULL),
        CONSTRAINT ck_hardware_validations_ended CHECK (ended_at IS NULL OR result IS NOT NULL)
    )
    """,
    "COMMENT ON COLUMN hardware_validations.requested_by IS 'id of an operator''s token'",
    "COMMENT ON COLUMN hardware_validations.alone IS 'not with others of its pod'",
    "COMMENT ON COLUMN hardware_validations.name IS 'at the site, of all that are tested together; NULL: it waits'",
    "COMMENT ON COLUMN hardware_validations.deadline_at IS 'of its present part'",
    "COMMENT ON COLUMN hardware_validations.released_at IS 'nothing of it was at the site; not yet verified'",
    "CREATE UNIQUE INDEX uq_hardware_validations_open ON hardware_validations (machine_id) WHERE ended_at IS NULL",
    "CREATE INDEX ix_hardware_validations_machine ON hardware_validations (machine_id, requested_at)",
    "CREATE INDEX ix_hardware_validations_name ON hardware_validations (name) WHERE name IS NOT NULL",
    "GRANT SELECT, INSERT ON hardware_validations TO ipucloud_app",
    "GRANT UPDATE (alone, name, started_at, deadline_at, result, findings, tested_at, released_at, ended_at)"
    " ON hardware_validations TO ipucloud_app",
    "ALTER TABLE machines ADD validating BOOLEAN DEFAULT false NOT NULL",
    "COMMENT ON COLUMN machines.validating IS 'nothing but its validation keeps it from clusters'",
    "ALTER TABLE pods ADD validating_mask INTEGER DEFAULT 0 NOT NULL",
)

SETTLE_PODS = """
CREATE OR REPLACE FUNCTION settle_pods(settled uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  whole constant integer := 65535;
  affects_run boolean := true;
  changed integer;
BEGIN
  IF cardinality(settled) = 1 THEN
    BEGIN -- The run is needed only when the pod becomes whole or ceases to be.
      PERFORM FROM pods WHERE id = settled[1] FOR NO KEY UPDATE;
      SELECT (pods.free_mask = whole) <> (truth.free_mask = whole) INTO affects_run
        FROM pods, pod_masks AS truth WHERE pods.id = settled[1] AND truth.pod_id = settled[1];
      IF affects_run THEN
        RAISE SQLSTATE 'RETRY'; -- releases the pod: its run comes first
      END IF;
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
  END IF;
  IF affects_run THEN
    PERFORM FROM pod_runs WHERE id IN (SELECT run_id FROM pods WHERE id = ANY (settled)) ORDER BY id FOR NO KEY UPDATE;
    PERFORM FROM pods WHERE id = ANY (settled) ORDER BY id FOR NO KEY UPDATE;
  END IF;
  UPDATE pods
     SET free_mask = truth.free_mask, allocated_mask = truth.allocated_mask, cleaning_mask = truth.cleaning_mask,
         unhealthy_mask = truth.unhealthy_mask, maintenance_mask = truth.maintenance_mask,
         validating_mask = truth.validating_mask
    FROM pod_masks AS truth
   WHERE truth.pod_id = ANY (settled) AND pods.id = truth.pod_id
     AND (pods.free_mask, pods.allocated_mask, pods.cleaning_mask, pods.unhealthy_mask, pods.maintenance_mask,
          pods.validating_mask)
         <> (truth.free_mask, truth.allocated_mask, truth.cleaning_mask, truth.unhealthy_mask, truth.maintenance_mask,
             truth.validating_mask);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF affects_run THEN
    UPDATE pod_runs SET whole_mask = truth.mask
      FROM (SELECT run_id, coalesce(bit_or(1 << position % 16) FILTER (WHERE free_mask = whole), 0) AS mask
              FROM pods WHERE run_id IN (SELECT run_id FROM pods WHERE id = ANY (settled)) GROUP BY run_id) AS truth
     WHERE pod_runs.id = truth.run_id AND whole_mask <> truth.mask;
  END IF;
  RETURN changed;
END
$$
"""
SETTLE_PODS_BEFORE = SETTLE_PODS.replace(
    """maintenance_mask = truth.maintenance_mask,
         validating_mask = truth.validating_mask""",
    "maintenance_mask = truth.maintenance_mask",
)
SETTLE_PODS_BEFORE = SETTLE_PODS_BEFORE.replace(",\n          pods.validating_mask", "")
SETTLE_PODS_BEFORE = SETTLE_PODS_BEFORE.replace(",\n             truth.validating_mask", "")


def upgrade() -> None:
    for statement in TABLE:
        op.execute(statement)
    _check_codes(CODES)
    _define(MASKS)


def downgrade() -> None:
    _define(MASKS[:-1])
    op.execute("ALTER TABLE pods DROP validating_mask")
    op.execute("ALTER TABLE machines DROP validating")
    op.execute("DROP TABLE hardware_validations")
    # They kept machines from clusters that were not tested; such machines must not become free now.
    op.execute("UPDATE health_reports SET code = 'quarantine' WHERE cleared_at IS NULL AND code = 'validation_failed'")
    op.execute("DELETE FROM health_reports WHERE code IN ('not_validated', 'validation_failed')")
    _check_codes(tuple(code for code in CODES if code not in NEW_CODES))


def _check_codes(codes: tuple[str, ...]) -> None:
    listed = ", ".join(f"'{code}'" for code in codes)
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code CHECK (code IN ({listed}))")


def _define(masks: tuple[str, ...]) -> None:
    """The view of the masks, and the function that writes them."""
    op.execute("DROP VIEW pod_masks")
    op.execute(_pod_masks(masks))
    op.execute("GRANT SELECT ON pod_masks TO ipucloud_app")
    op.execute(SETTLE_PODS if "validating_mask" in masks else SETTLE_PODS_BEFORE)


def _pod_masks(masks: tuple[str, ...]) -> str:
    states = [mask.removesuffix("_mask") for mask in masks]
    columns = ",\n       ".join(
        f"coalesce(bit_or(1 << slot) FILTER (WHERE state = '{state}'), 0) AS {state}_mask" for state in states
    )
    validating = "WHEN machines.validating AND coalesce(own.allocatable, true) THEN 'validating'"
    return f"""
CREATE VIEW pod_masks WITH (security_invoker = true) AS
SELECT pod_id,
       {columns}
  FROM (SELECT machines.pod_id, machines.slot,
               CASE WHEN held.released_at IS NOT NULL THEN 'cleaning'
                    WHEN held.id IS NOT NULL THEN 'allocated'
                    WHEN machines.allocatable AND coalesce(own.allocatable, true) THEN 'free'
                    WHEN machines.maintenance OR own.maintenance THEN 'maintenance'
                    {validating if "validating" in states else ""}
                    ELSE 'unhealthy' END AS state
          FROM machines
          LEFT JOIN hosts AS own ON own.machine_id = machines.id
          LEFT JOIN allocations AS held ON held.machine_id = machines.id AND held.freed_at IS NULL) AS slots
 GROUP BY pod_id
"""  # noqa: S608  # our own text
