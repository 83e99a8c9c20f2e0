"""Rules about clusters and the health reports of the hardware that they hold."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.faults import DEGRADING, settle_cluster
from ipucloud.clusters.observed import SHOWN_FAULTS
from ipucloud.invariants.rules import DatabaseRepair, Invariant, Refused, RepairDone, Violation
from ipucloud.invariants.states import STATES
from ipucloud.invariants.worker_repairs import lock_violated


async def _settle(connection: AsyncConnection, violation: Violation) -> RepairDone:
    cluster = await lock_violated(connection, violation)
    if not await settle_cluster(connection, project_id=cluster.project_id, cluster_id=cluster.id):
        raise Refused("The cluster's state follows from its faults by now.")
    return RepairDone()


STATE = Invariant(
    name="cluster_is_degraded_by_its_faults",
    sentence="A cluster in use is `degraded` exactly while a fault keeps its hardware from working as sold.",
    object_type="cluster",
    remedy="Apply the audit's repair.",
    repair=DatabaseRepair("lets state, reason and credit follow the reports", _settle),
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

RULES = (STATE,)
