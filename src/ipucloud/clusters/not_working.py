"""Which machines of a cluster or reservation do not work as sold, and since when, by the reports of its hardware.

A cluster is one block. A reservation has as many as it has room for clusters, and each counts as a cluster would.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import CODES, Health

DEGRADING = frozenset(
    code
    for codes in CODES.values()
    for code, declared in codes.items()
    if declared.health in {Health.DEGRADED, Health.FAILED} and declared.message is not None
)
"""Codes of faults with which hardware does not work as sold."""
CREDITED = """
report.credited AND report.message IS NOT NULL AND report.confirmed_at IS NOT NULL AND report.code = ANY (:degrading)
"""
"""SQL: the health report `report` is of a fault for which minutes are credited. `degrading`: `DEGRADING`, as a list."""


class Fault(NamedTuple):
    """A confirmed health report, for the time in which the hardware was held. `ended_at` None: it is live."""

    id: UUID
    block: int
    machine_id: UUID | None
    host_id: UUID | None
    since: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Block:
    """What a cluster is sold as. `own_hosts`: its servers have IPUs of their own, and each is itself a machine."""

    machines: int
    servers: int
    own_hosts: bool

    def not_working(self, faults: Sequence[Fault]) -> int:
        """How many machines do not work while these faults last, in all blocks.

        A failed server takes its share of its block's machines with it, rounded up: all of them if it is the only one.
        """
        machines: dict[int, set[UUID]] = defaultdict(set)
        hosts: dict[int, set[UUID]] = defaultdict(set)
        for fault in faults:
            if fault.machine_id is not None:
                machines[fault.block].add(fault.machine_id)
            elif fault.host_id is not None:
                hosts[fault.block].add(fault.host_id)
        return sum(self._in_one(len(machines[block]), len(hosts[block])) for block in {*machines, *hosts})

    def _in_one(self, failed: int, failed_servers: int) -> int:
        share = math.ceil(self.machines * failed_servers / self.servers) if failed_servers else 0
        return min(self.machines, max(failed, share) if self.own_hosts else failed + share)


# Of the time that is billed by the open usage interval, or of now if there is none.
_FAULTS = """
SELECT * FROM (
  SELECT report.id, {block} AS block, held.machine_id, held.host_id,
         greatest(report.first_seen_at, held.created_at) AS since,
         least(CASE WHEN report.cleared_at IS NOT NULL THEN coalesce(report.good_since, report.cleared_at) END,
               held.{left}) AS ended_at
    FROM allocations AS held
    JOIN health_reports AS report ON report.machine_id = held.machine_id OR report.host_id = held.host_id
   WHERE held.project_id = :project_id AND held.{holder} = :resource_id AND {credited}) AS fault
 WHERE ended_at IS NULL
    OR ended_at > (SELECT started_at FROM usage_intervals
                    WHERE project_id = :project_id AND resource_id = :resource_id AND usage_intervals.ended_at IS NULL)
"""
_OF_CLUSTER = Query(_FAULTS.format(block=0, left="released_at", holder="cluster_id", credited=CREDITED), Fault)
_OF_RESERVATION = Query(
    _FAULTS.format(block="held.block", left="freed_at", holder="reservation_id", credited=CREDITED), Fault
)


async def faults_of_cluster(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> list[Fault]:
    """The faults for which a cluster's machines are credited since its usage interval was opened."""
    return await _OF_CLUSTER.all(connection, _of(project_id, cluster_id))


async def faults_of_reservation(connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID) -> list[Fault]:
    """The same for a reservation, whether a cluster has the hardware or not."""
    return await _OF_RESERVATION.all(connection, _of(project_id, reservation_id))


def _of(project_id: UUID, resource_id: UUID) -> dict[str, object]:
    return {"project_id": project_id, "resource_id": resource_id, "degrading": sorted(DEGRADING)}
