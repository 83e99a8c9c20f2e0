"""Reserved machines that do not work as sold are not billed, whether a cluster has them or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.credits import credit
from ipucloud.clusters.faults import DEGRADING, not_working
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.health.codes import Code
from ipucloud.inventory.reservations import Due, Reservation


class _Fault(NamedTuple):
    """A live report of a machine, or of a host, that the reservation holds in one of its blocks."""

    id: UUID
    block: int
    machine_id: UUID | None
    host_id: UUID | None
    code: Code
    since: datetime


_CREDITED = "report.credited AND report.message IS NOT NULL AND report.confirmed_at IS NOT NULL"
# Begins with the live reports, of which there are few.
_CONCERNED = Query(
    f"""
    SELECT r.project_id, r.id FROM reservations AS r
     WHERE r.state = 'active' AND (r.project_id, r.id) IN (
       SELECT held.project_id, held.reservation_id
         FROM health_reports AS report JOIN allocations AS held ON held.machine_id = report.machine_id
        WHERE report.cleared_at IS NULL AND {_CREDITED} AND held.freed_at IS NULL
        UNION ALL
       SELECT held.project_id, held.reservation_id
         FROM health_reports AS report JOIN allocations AS held ON held.host_id = report.host_id
        WHERE report.cleared_at IS NULL AND {_CREDITED} AND held.freed_at IS NULL
        UNION ALL
       SELECT u.project_id, u.reservation_id FROM usage_intervals AS u
        WHERE u.reservation_id IS NOT NULL AND u.ended_at IS NULL AND u.credited > 0)
     ORDER BY r.starts_at, r.id
    """,  # noqa: S608  # our own text
    Due,
)
# Who notices late that a reservation is over finds the faults of its last moment.
_FAULTS = Query(
    f"""
    SELECT report.id, held.block, held.machine_id, held.host_id, report.code, report.first_seen_at AS since
      FROM allocations AS held
      JOIN health_reports AS report ON report.machine_id = held.machine_id OR report.host_id = held.host_id
     WHERE held.project_id = :project_id AND held.reservation_id = :reservation_id AND held.freed_at IS NULL
       AND {_CREDITED}
       AND report.first_seen_at < :at
       AND (report.cleared_at IS NULL OR coalesce(report.good_since, report.cleared_at) > :at)
    """,  # noqa: S608  # our own text
    _Fault,
)


async def concerned(connection: Statements) -> list[Due]:
    """Active reservations with faulty hardware, and those for which machines are credited."""
    return await _CONCERNED.all(connection)


async def credit_faults(connection: AsyncConnection, reservation: Reservation) -> None:
    """Let the credit of a locked, active reservation agree with the live reports of its hardware."""
    mine = {"project_id": reservation.project_id, "reservation_id": reservation.id}
    at = min(reservation.now, reservation.ends_at)
    found = await _FAULTS.all(connection, mine | {"at": at})
    faults = [fault for fault in found if fault.code in DEGRADING]
    await credit(
        connection,
        project_id=reservation.project_id,
        resource_id=reservation.id,
        machines=_machines_credited(reservation, faults),
        reports={fault.id: fault.since for fault in faults},
        now=at,
    )


def _machines_credited(reservation: Reservation, faults: Sequence[_Fault]) -> int:
    """Block by block, as of a cluster that has it."""
    machines: dict[int, set[UUID]] = defaultdict(set)
    hosts: dict[int, set[UUID]] = defaultdict(set)
    for fault in faults:
        if fault.machine_id is not None:
            machines[fault.block].add(fault.machine_id)
        elif fault.host_id is not None:
            hosts[fault.block].add(fault.host_id)
    return sum(
        not_working(
            reservation.machines,
            reservation.servers,
            len(machines[block]),
            len(hosts[block]),
            own_hosts=reservation.own_hosts,
        )
        for block in {*machines, *hosts}
    )
