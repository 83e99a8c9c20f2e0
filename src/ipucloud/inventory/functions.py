"""The database's part of placement: the masks of the pods, and the protocol by which rows with room are locked.

Locks are taken in the order run → pods → hosts. Nobody waits for a run while holding a pod, or for either while holding
hosts. The functions run under READ COMMITTED: each of their statements sees what was committed before it began, so what
follows a lock sees what the lock's last holder left.

A row that another transaction changed between the snapshot and the lock stays locked even if it no longer fits. Each
attempt is a subtransaction for that reason: the exception that ends it in vain releases such rows.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query

POD_MASKS = """
CREATE VIEW pod_masks WITH (security_invoker = true) AS
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
"""What the masks of `pods` must be, computed from the machines. Filter by `pod_id`."""

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
"""Lock pods, and their runs if necessary; then compute their masks from the machines. Returns how many pods changed."""

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
"""Lock the pod, or the run, that has the best room for so many machines; no row: none has any, as of one snapshot.

Best is the smallest largest free block: of pods that are partly free, then of runs of whole pods. `mask` has the free
slots of the pod, or the whole pods of the run.
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
"""Lock so many free hosts of the region's pool. Fewer: no more were free, as of one snapshot; none is locked."""


_SETTLE = Query("SELECT settle_pods(:pods)", int)


async def settle_pods(connection: AsyncConnection, pod_ids: Collection[UUID]) -> int:
    """Compute the masks of these pods, and of their runs, from the machines, their own hosts and their allocations.

    Whoever frees, releases, quarantines or returns machines calls it in the same transaction, once for all their pods,
    after the changes: it locks the pods until the end, and pods locked twice would be locked in no common order. Hosts
    of the region's pool come after it in the order of locks. Returns how many pods it changed.
    """
    return await _SETTLE.one(connection, {"pods": sorted(set(pod_ids))}) if pod_ids else 0
