"""Reserved machines that do not work as sold are not billed, whether a cluster has them or not."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.credits import credit
from ipucloud.clusters.not_working import CREDITED, DEGRADING, Block, faults_of_reservation
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.reservations import Due, Reservation

# Begins with the live reports, of which there are few.
_CONCERNED = Query(
    f"""
    SELECT r.project_id, r.id FROM reservations AS r
     WHERE r.state = 'active' AND (r.project_id, r.id) IN (
       SELECT held.project_id, held.reservation_id
         FROM health_reports AS report JOIN allocations AS held ON held.machine_id = report.machine_id
        WHERE report.cleared_at IS NULL AND {CREDITED} AND held.freed_at IS NULL
        UNION ALL
       SELECT held.project_id, held.reservation_id
         FROM health_reports AS report JOIN allocations AS held ON held.host_id = report.host_id
        WHERE report.cleared_at IS NULL AND {CREDITED} AND held.freed_at IS NULL
        UNION ALL
       SELECT u.project_id, u.resource_id FROM usage_intervals AS u WHERE u.ended_at IS NULL AND u.credited > 0)
     ORDER BY r.starts_at, r.id
    """,  # noqa: S608  # our own text
    Due,
)


async def concerned(connection: Statements) -> list[Due]:
    """Active reservations with faulty hardware, and those for which machines are credited."""
    return await _CONCERNED.all(connection, {"degrading": sorted(DEGRADING)})


async def credit_faults(connection: AsyncConnection, reservation: Reservation) -> None:
    """Let the credit of a locked, active reservation agree with the faults of its hardware, until it is over."""
    owner = {"project_id": reservation.project_id}
    sold_as = Block(reservation.machines, reservation.servers, own_hosts=reservation.own_hosts)
    await credit(
        connection,
        **owner,
        resource_id=reservation.id,
        faults=await faults_of_reservation(connection, **owner, reservation_id=reservation.id),
        not_working=sold_as.not_working,
        now=min(reservation.now, reservation.ends_at),
    )
