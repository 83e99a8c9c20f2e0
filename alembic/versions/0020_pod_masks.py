"""The room of pods as masks: rows that are found by an index and locked alone, instead of the lock of a region.

A process of the version before takes machines without changing the masks: stop all of them first.

Revision ID: 0020
Revises: 0019
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

MASKS = ("free_mask", "allocated_mask", "cleaning_mask", "unhealthy_mask", "maintenance_mask")
LARGEST = """
CASE WHEN {mask} = 65535 THEN 16
     WHEN {mask} & 255 = 255 OR {mask} >> 8 = 255 THEN 8
     WHEN {mask} & ({mask} >> 1) & ({mask} >> 2) & ({mask} >> 3) & 4369 <> 0 THEN 4
     WHEN {mask} & ({mask} >> 1) & 21845 <> 0 THEN 2
     WHEN {mask} <> 0 THEN 1 ELSE 0 END
"""
POD_MASKS = """
CREATE VIEW pod_masks WITH (security_invoker = true) AS
SELECT pod_id,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'free'), 0) AS free_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'allocated'), 0) AS allocated_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'cleaning'), 0) AS cleaning_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'unhealthy'), 0) AS unhealthy_mask,
       coalesce(bit_or(1 << slot) FILTER (WHERE state = 'maintenance'), 0) AS maintenance_mask
  FROM (SELECT machines.pod_id, machines.slot,
               CASE WHEN held.released_at IS NOT NULL THEN 'cleaning'
                    WHEN held.id IS NOT NULL THEN 'allocated'
                    WHEN machines.allocatable AND coalesce(own.allocatable, true) THEN 'free'
                    WHEN machines.maintenance OR own.maintenance THEN 'maintenance'
                    ELSE 'unhealthy' END AS state
          FROM machines
          LEFT JOIN hosts AS own ON own.machine_id = machines.id
          LEFT JOIN allocations AS held ON held.machine_id = machines.id AND held.freed_at IS NULL) AS slots
 GROUP BY pod_id
"""
SETTLE_PODS = """
CREATE FUNCTION settle_pods(settled uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
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
         unhealthy_mask = truth.unhealthy_mask, maintenance_mask = truth.maintenance_mask
    FROM pod_masks AS truth
   WHERE truth.pod_id = ANY (settled) AND pods.id = truth.pod_id
     AND (pods.free_mask, pods.allocated_mask, pods.cleaning_mask, pods.unhealthy_mask, pods.maintenance_mask)
         <> (truth.free_mask, truth.allocated_mask, truth.cleaning_mask, truth.unhealthy_mask, truth.maintenance_mask);
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
LOCK_ROOM = """
CREATE FUNCTION lock_room(place text, type text, wanted integer)
RETURNS TABLE (run uuid, pod uuid, mask integer) LANGUAGE plpgsql AS $$
DECLARE
  awaited_run uuid;
  awaited_pod uuid;
BEGIN
  LOOP
    BEGIN -- the best room that nobody else is taking
      SELECT NULL, id, free_mask INTO run, pod, mask FROM pods
       WHERE region = place AND machine_type = type AND largest_free BETWEEN 1 AND 8 AND largest_free >= wanted
       ORDER BY largest_free, gw_group, position LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        SELECT id, NULL, whole_mask INTO run, pod, mask FROM pod_runs
         WHERE region = place AND machine_type = type AND largest_run > 0 AND largest_run >= wanted / 16
         ORDER BY largest_run, gw_group, number LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
      END IF;
      IF FOUND THEN
        RETURN NEXT;
        RETURN;
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
    -- What others are taking is free in this snapshot until they commit: none here means that the region is full.
    SELECT room.run_id, room.pod_id INTO awaited_run, awaited_pod
      FROM ((SELECT NULL::uuid AS run_id, id AS pod_id FROM pods
              WHERE region = place AND machine_type = type AND largest_free BETWEEN 1 AND 8 AND largest_free >= wanted
              ORDER BY largest_free, gw_group, position LIMIT 1)
            UNION ALL
            (SELECT id, NULL FROM pod_runs
              WHERE region = place AND machine_type = type AND largest_run > 0 AND largest_run >= wanted / 16
              ORDER BY largest_run, gw_group, number LIMIT 1)) AS room
     LIMIT 1;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    BEGIN -- one row, by its id: several would be waited for in the order of an outdated snapshot
      IF awaited_pod IS NOT NULL THEN
        SELECT NULL, id, free_mask INTO run, pod, mask FROM pods
         WHERE id = awaited_pod AND largest_free BETWEEN 1 AND 8 AND largest_free >= wanted FOR NO KEY UPDATE;
      ELSE
        SELECT id, NULL, whole_mask INTO run, pod, mask FROM pod_runs
         WHERE id = awaited_run AND largest_run > 0 AND largest_run >= wanted / 16 FOR NO KEY UPDATE;
      END IF;
      IF FOUND THEN
        RETURN NEXT;
        RETURN;
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
  END LOOP;
END
$$
"""
LOCK_HOSTS = """
CREATE FUNCTION lock_hosts(place text, wanted integer) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  awaited uuid[];
  locked uuid[];
BEGIN
  LOOP
    BEGIN
      SELECT array_agg(id) INTO locked FROM (
        SELECT id FROM hosts
         WHERE region = place AND machine_id IS NULL AND NOT held AND allocatable
         ORDER BY name LIMIT wanted FOR NO KEY UPDATE SKIP LOCKED) AS free;
      IF coalesce(cardinality(locked), 0) = wanted THEN
        RETURN coalesce(locked, '{}');
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
    SELECT array_agg(id) INTO awaited FROM (
      SELECT id FROM hosts
       WHERE region = place AND machine_id IS NULL AND NOT held AND allocatable
       ORDER BY name LIMIT wanted) AS free;
    IF coalesce(cardinality(awaited), 0) < wanted THEN
      RETURN coalesce(awaited, '{}');
    END IF;
    BEGIN -- in the order of their names, as everybody who waits for hosts
      SELECT array_agg(id) INTO locked FROM (
        SELECT id FROM hosts
         WHERE id = ANY (awaited) AND NOT held AND allocatable
         ORDER BY name FOR NO KEY UPDATE) AS free;
      IF coalesce(cardinality(locked), 0) = wanted THEN
        RETURN coalesce(locked, '{}');
      END IF;
      RAISE SQLSTATE 'RETRY';
    EXCEPTION WHEN SQLSTATE 'RETRY' THEN NULL;
    END;
  END LOOP;
END
$$
"""
RUNS = """
INSERT INTO pod_runs (id, region, machine_type, gw_group, number)
SELECT gen_random_uuid(), region, machine_type, gw_group, position / 16 FROM pods GROUP BY 2, 3, 4, 5
"""
RUN_OF_POD = """
UPDATE pods SET run_id = pod_runs.id
  FROM pod_runs
 WHERE (pod_runs.region, pod_runs.machine_type, pod_runs.gw_group, pod_runs.number)
       = (pods.region, pods.machine_type, pods.gw_group, pods.position / 16)
"""
HELD = "UPDATE hosts SET held = true WHERE id IN (SELECT host_id FROM allocations WHERE freed_at IS NULL)"
SETTLE = "SELECT settle_pods(array_agg(id)) FROM pods"
STORAGE = "ALTER TABLE {} SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0)"


def mask(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)


def upgrade() -> None:
    op.create_table(
        "pod_runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("machine_type", sa.Text(), nullable=False),
        sa.Column("gw_group", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        mask("whole_mask"),
        sa.Column(
            "largest_run", sa.Integer(), sa.Computed(LARGEST.format(mask="whole_mask"), persisted=True), nullable=False
        ),
        sa.CheckConstraint("whole_mask BETWEEN 0 AND 65535", name=op.f("ck_pod_runs_whole_mask")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pod_runs")),
        sa.UniqueConstraint(
            "region", "machine_type", "gw_group", "number", name=op.f("uq_pod_runs_region_machine_type_gw_group_number")
        ),
        comment="16 neighbouring pods: number is position / 16; bit i of whole_mask: pod position % 16 = i is wholly free",
    )
    op.add_column("pods", sa.Column("run_id", sa.Uuid(), nullable=True))
    for name in MASKS:
        op.add_column("pods", mask(name))
    op.add_column(
        "pods",
        sa.Column(
            "largest_free", sa.Integer(), sa.Computed(LARGEST.format(mask="free_mask"), persisted=True), nullable=False
        ),
    )
    op.add_column(
        "hosts",
        sa.Column("held", sa.Boolean(), server_default=sa.false(), nullable=False, comment="a cluster holds it"),
    )
    op.create_check_constraint(op.f("ck_pods_free_mask"), "pods", "free_mask BETWEEN 0 AND 65535")
    op.drop_constraint("fk_pods_pool", "pods", type_="foreignkey")
    op.drop_table("machine_pools")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON pod_runs TO ipucloud_app")
    for statement in (POD_MASKS, SETTLE_PODS, LOCK_ROOM, LOCK_HOSTS, "GRANT SELECT ON pod_masks TO ipucloud_app"):
        op.execute(statement)
    for statement in (
        RUNS,
        RUN_OF_POD,
        HELD,
        SETTLE,
        *(STORAGE.format(each) for each in ("pods", "pod_runs", "hosts")),
    ):
        op.execute(statement)
    op.alter_column("pods", "run_id", nullable=False)
    op.create_foreign_key("fk_pods_run_id", "pods", "pod_runs", ["run_id"], ["id"])
    op.create_index(op.f("ix_pods_run_id"), "pods", ["run_id"])
    op.create_index(
        "ix_pods_room",
        "pods",
        ["region", "machine_type", "largest_free", "gw_group", "position"],
        postgresql_where=sa.text("largest_free BETWEEN 1 AND 8"),
    )
    op.create_index(
        "ix_pod_runs_room",
        "pod_runs",
        ["region", "machine_type", "largest_run", "gw_group", "number"],
        postgresql_where=sa.text("largest_run > 0"),
    )
    op.create_index(
        "ix_hosts_free", "hosts", ["region", "name"], postgresql_where=sa.text("machine_id IS NULL AND NOT held")
    )


def downgrade() -> None:
    op.create_table(
        "machine_pools",
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("machine_type", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("region", "machine_type", name=op.f("pk_machine_pools")),
        comment="one row to lock while machines of a region and type are chosen",
    )
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON machine_pools TO ipucloud_app")
    op.execute("INSERT INTO machine_pools SELECT DISTINCT region, machine_type FROM pods")
    op.create_foreign_key(
        "fk_pods_pool", "pods", "machine_pools", ["region", "machine_type"], ["region", "machine_type"]
    )
    op.execute("DROP FUNCTION lock_hosts, lock_room, settle_pods")
    op.execute("DROP VIEW pod_masks")
    for table in ("pods", "hosts"):
        op.execute(f"ALTER TABLE {table} RESET (fillfactor, autovacuum_vacuum_scale_factor)")
    op.drop_column("hosts", "held")
    for name in ("largest_free", *MASKS, "run_id"):
        op.drop_column("pods", name)
    op.drop_table("pod_runs")
