"""Resets without a request: of a partition that is still in error although its hardware works again.

A controller resets a partition in error only a few times by itself, and gives up while the hardware is being repaired.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations.all import BESIDE_PARTITIONS
from ipucloud.contract.partitions import PartitionState
from ipucloud.db.rows import Query
from ipucloud.inventory.sync import controller_of_cluster
from ipucloud.kernel.actor import Actor
from ipucloud.partitions.inputs import PartitionInputs
from ipucloud.partitions.operations import RESET
from ipucloud.partitions.requests import MAX_OPEN, begin_reset

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 120
"""Pause after a reset that failed: what is wrong with the hardware may not have been noticed."""

_DUE = Query(
    f"""
    SELECT p.id
      FROM partitions p JOIN clusters c ON c.project_id = p.project_id AND c.id = p.cluster_id
      {controller_of_cluster("c", "v")}
     WHERE p.project_id = :project_id AND p.cluster_id = :cluster_id AND p.id = ANY (CAST(:seen_before AS uuid[]))
       AND p.state = 'error' AND p.desired_state = 'unmanaged' AND p.origin <> 'customer' AND p.removed_at IS NULL
       AND (SELECT count(halted_since) = 0
               AND 1 = count(*) FILTER (WHERE source = 'bmc' AND stale_at > app_now()
                                          AND started_at > p.state_entered_at)
              FROM observations WHERE region = c.region)
       AND v.stale_at > app_now() AND v.started_at > p.state_entered_at
       AND NOT EXISTS (
             SELECT FROM allocations a
               JOIN machines m ON m.id = a.machine_id
               JOIN health_reports r ON r.machine_id = m.id AND r.cleared_at IS NULL
              WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
                AND p.observed -> 'ipus' @> jsonb_build_array(jsonb_build_object('machine', m.name))
                AND (r.credited AND r.code <> 'partition_error' OR r.code = 'not_observed'))
       AND NOT EXISTS (
             SELECT FROM operations o
              WHERE o.project_id = c.project_id AND o.cluster_id = c.id AND o.partition_id IS NULL
                AND o.finished_at IS NULL AND o.kind <> ALL (:beside)
                AND NOT (o.kind = 'cluster.resize' AND c.state IN ('active', 'degraded')))
       AND NOT EXISTS (
             SELECT FROM operations o
              WHERE o.project_id = p.project_id AND o.partition_id = p.id AND o.finished_at IS NULL)
       AND NOT EXISTS (
             SELECT FROM operations o
              WHERE o.project_id = p.project_id AND o.partition_id = p.id AND o.kind = :reset AND o.state = 'failed'
                AND o.finished_at > app_now() - make_interval(secs => :pause))
     ORDER BY p.created_at, p.id LIMIT :limit
    """,  # noqa: S608  # our own text
    UUID,
)


async def reset_broken(connection: AsyncConnection, inputs: PartitionInputs, *, deadline: float) -> bool:
    """Begin the resets of partitions that were and still are in error, if their machines were observed good since.

    The caller holds the cluster's lock, and what the controller shows is written. Returns whether a reset began.
    """
    before = [record.id for record in inputs.records if record.state is PartitionState.ERROR]
    if not before:
        return False
    ids = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
    limits = {"beside": sorted(BESIDE_PARTITIONS), "limit": max(0, MAX_OPEN - len(inputs.operated))}
    due = await _DUE.all(
        connection, ids | limits | {"seen_before": before, "reset": RESET.name, "pause": PAUSE_SECONDS}
    )
    for partition_id in due:
        actor = Actor(inputs.project_id, token_id=None, request_id=f"reset-{partition_id}")
        await begin_reset(connection, actor, inputs.cluster_id, partition_id, relocatable=False, deadline=deadline)
        log.warning("partition_reset_begun", partition_id=str(partition_id))
    return bool(due)
