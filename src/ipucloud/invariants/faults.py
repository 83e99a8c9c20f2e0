"""Rules about clusters, the health reports of the hardware that they hold, and the repairs that follow from them."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.fault_reports.store import LEFT, close_confirmed, reports_cleared
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.not_working import DEGRADING
from ipucloud.clusters.observed import SHOWN_FAULTS
from ipucloud.clusters.repairs.store import end, open_repair
from ipucloud.db.rows import Query
from ipucloud.invariants.rules import DatabaseRepair, Invariant, Refused, RepairDone, Violation
from ipucloud.invariants.states import STATES
from ipucloud.invariants.worker_repairs import lock_violated
from ipucloud.inventory.health.codes import REPAIRED_BY_REPLACEMENT


async def _follow_reports(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    if not await apply_reports(connection, project_id=cluster.project_id, cluster_id=cluster.id):
        raise Refused("The cluster's state follows from its faults by now.")
    return RepairDone()


_CREDITED = Query(
    """
    SELECT EXISTS (SELECT FROM usage_intervals
                    WHERE project_id = :project_id AND resource_id = :cluster_id AND ended_at IS NULL AND credited > 0)
    """,
    bool,
)


async def _credit(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    key = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    before = await _CREDITED.one(connection, key)
    await apply_reports(connection, project_id=cluster.project_id, cluster_id=cluster.id, announce=False)
    if before or not await _CREDITED.one(connection, key):
        raise Refused("The cluster is credited by now, or its fault is over.")
    return RepairDone()


async def _end_repair(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    key = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    repair = await open_repair(connection, **key)
    if repair is None:
        raise Refused("No repair of the cluster is open by now.")
    await end(connection, repair, "not_needed")
    await apply_reports(connection, **key, announce=False)
    return RepairDone()


STATE = Invariant(
    name="cluster_is_degraded_by_its_faults",
    sentence="A cluster in use is `degraded` exactly while it has a fault.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=DatabaseRepair("lets state, reason and credit follow the reports", _follow_reports),
    statement=f"""
    SELECT id::text AS object_id, project_id,
           format('it is %s, and its faults are: %s', state, coalesce(codes, 'none')) AS detail
      FROM (SELECT c.id, c.project_id, c.state,
                   (SELECT string_agg(fault.code, ', ' ORDER BY fault.since) FROM ({SHOWN_FAULTS}) AS fault
                     WHERE fault.project_id = c.project_id AND fault.cluster_id = c.id
                       AND fault.code = ANY (:degrading)) AS codes
              FROM clusters c WHERE c.state = ANY (:working)) AS used
     WHERE (state = 'degraded') <> (codes IS NOT NULL)
    """,  # noqa: S608  # our own text
    parameters={"working": STATES["working"], "degrading": sorted(DEGRADING)},
)


CREDITED = Invariant(
    name="fault_of_a_billed_cluster_is_credited",
    sentence="A billed cluster has credited machines while it has a creditable fault.",
    object_type="cluster",
    remedy="Apply the audit's repair; hours that are closed are corrected. Then find out what opened the usage interval"
    " without settling the cluster.",
    repair=DatabaseRepair("credits what does not work, since it was first seen", _credit),
    statement=f"""
    SELECT c.id::text AS object_id, c.project_id,
           format('no machine is credited since %s, and its faults are: %s', used.started_at, faults.codes) AS detail
      FROM usage_intervals used JOIN clusters c ON (c.project_id, c.id) = (used.project_id, used.resource_id)
      JOIN LATERAL (SELECT string_agg(fault.code, ', ' ORDER BY fault.since) AS codes FROM ({SHOWN_FAULTS}) AS fault
                     WHERE fault.project_id = c.project_id AND fault.cluster_id = c.id AND fault.credited
                       AND fault.code = ANY (:degrading)) AS faults ON faults.codes IS NOT NULL
     WHERE used.ended_at IS NULL AND used.credited = 0 AND c.state = ANY (:working)
    """,  # noqa: S608  # our own text
    parameters={"working": STATES["working"], "degrading": sorted(DEGRADING)},
)


class _Confirmed(NamedTuple):
    """The cluster of a confirmed fault report, and its health report."""

    project_id: UUID
    cluster_id: UUID
    report_id: UUID
    cleared: bool


_CONFIRMED = Query(
    """
    SELECT fault.project_id, fault.cluster_id, report.id AS report_id, report.cleared_at IS NOT NULL AS cleared
      FROM fault_reports AS fault JOIN health_reports AS report ON report.id = fault.report_id
     WHERE fault.id = CAST(:id AS uuid) AND fault.state = 'confirmed'
    """,
    _Confirmed,
)


async def _end(connection: AsyncConnection, violation: Violation) -> RepairDone:
    report = await _CONFIRMED.one_or_none(connection, {"id": violation.object_id})
    if report is None:
        raise Refused("The fault report is settled by now.")
    if report.cleared:
        await reports_cleared(connection, [report.report_id])
    elif not await close_confirmed(connection, project_id=report.project_id, cluster_id=report.cluster_id):
        raise Refused("Its health report is live, and its cluster has the hardware.")
    return RepairDone()


CONFIRMED = Invariant(
    name="confirmed_fault_report_is_live",
    sentence="A fault report is `confirmed` only while its health report is live and its cluster has the hardware.",
    object_type="fault_report",
    remedy="Apply the audit's repair; then find out what cleared the health report or ended the use without it.",
    repair=DatabaseRepair("calls it repaired, or closed", _end),
    statement=f"""
    SELECT fault.id::text AS object_id, fault.project_id,
           CASE WHEN report.cleared_at IS NULL
                THEN format('its cluster is %s since %s, without the hardware', c.state, c.state_entered_at)
                ELSE format('health report %s was cleared at %s', report.id, report.cleared_at) END AS detail
      FROM fault_reports AS fault JOIN health_reports AS report ON report.id = fault.report_id
      JOIN clusters AS c ON (c.project_id, c.id) = (fault.project_id, fault.cluster_id)
     WHERE fault.state = 'confirmed' AND (report.cleared_at IS NOT NULL OR {LEFT})
    """,  # noqa: S608  # our own text
)

# A worker ends a repair within seconds after its fault. Only one whose fault ended minutes ago has been forgotten.
REPAIRED = Invariant(
    name="scheduled_repair_has_its_cause",
    sentence="A scheduled repair has a fault or planned maintenance, and once begun an open operation.",
    object_type="cluster",
    remedy="Apply the audit's repair: workers schedule another one if the cluster needs it.",
    repair=DatabaseRepair("ends the scheduled repair", _end_repair),
    statement="""
    SELECT c.id::text AS object_id, c.project_id,
           CASE WHEN o.id IS NOT NULL THEN format('its repair runs as operation %s, which has ended', o.id)
                ELSE format('it is %s, its repair is scheduled for %s, and nothing is wrong with %s', c.state,
                            r.starts_at, array_to_string(r.hardware, ', ')) END AS detail
      FROM scheduled_repairs r
      JOIN clusters c ON (c.project_id, c.id) = (r.project_id, r.cluster_id)
      LEFT JOIN operations o ON (o.project_id, o.id) = (r.project_id, r.operation_id)
     WHERE r.ended_at IS NULL
       AND CASE WHEN o.id IS NOT NULL THEN o.finished_at IS NOT NULL
                ELSE c.state <> ALL (:working) OR NOT EXISTS (
                  SELECT FROM allocations a
                    JOIN health_reports f ON f.machine_id = a.machine_id OR f.host_id = a.host_id
                   WHERE a.cluster_id = c.id AND a.released_at IS NULL AND f.confirmed_at IS NOT NULL
                     AND (f.code = ANY (:replaced) OR f.maintenance_at IS NOT NULL)
                     AND (f.cleared_at IS NULL OR f.cleared_at > app_now() - interval '5 minutes')) END
    """,
    parameters={
        "working": STATES["working"],
        "replaced": sorted({code for codes in REPAIRED_BY_REPLACEMENT.values() for code in codes}),
    },
)

RULES = (STATE, CREDITED, CONFIRMED, REPAIRED)
