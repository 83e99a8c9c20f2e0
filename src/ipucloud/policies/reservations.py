"""The periodic task that begins and ends reservations, credits and replaces hardware of theirs that does not work.

Each reservation is a transaction of its own; after a worker is killed, the next run does the rest. Billing begins and
ends with the reservation's times, however late a worker is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_reserved, open_interval, open_reserved
from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.reservations.credits import concerned, credit_faults
from ipucloud.clusters.reservations.store import lock_quota, record_reservation_event
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.capacity import ReservationState
from ipucloud.contract.event_types.projects import RESERVATION_ACTIVE, RESERVATION_ENDED
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.inventory.placement import Demand, ReservedBlock, allocate
from ipucloud.inventory.reservations import Due, Reservation, due_reservations, lock_reservation, transition
from ipucloud.inventory.reserved import broken_blocks, free_unused
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.quotas import store as quotas

log = structlog.get_logger(__name__)


class _User(NamedTuple):
    """A cluster that has a block of the reservation. Once this is over, it is billed if it is `in_use`.

    `being_built`: so is this one, whose billing begins with the request.
    """

    id: UUID
    in_use: bool
    being_built: bool
    ready_at: datetime | None


_USERS = """
    SELECT c.id, c.state = ANY (:billable) AS in_use,
           c.billing_starts = 'requested' AND EXISTS (
             SELECT FROM operations o
              WHERE (o.project_id, o.cluster_id) = (c.project_id, c.id) AND o.kind = 'cluster.create'
                AND o.finished_at IS NULL AND NOT o.undoing AND o.state <> 'cancelling') AS being_built,
           c.ready_at
      FROM clusters c
     WHERE c.project_id = :project_id
       AND c.id IN (SELECT cluster_id FROM allocations
                     WHERE project_id = :project_id AND reservation_id = :reservation_id AND freed_at IS NULL)
     ORDER BY c.id
"""
_LOCK_USERS = Query(f"{_USERS} FOR NO KEY UPDATE OF c", _User)
_READ_USERS = Query(_USERS, _User)


async def follow_reservations(database: Database, *, validated: bool = False) -> None:
    """Begin and end the reservations whose time has come, credit their faulty hardware, and replace what is not usable.

    `validated`: machines that clusters had are to be validated before others get them.
    """
    async with database.read() as connection:
        faulty = await concerned(connection)
        due = await due_reservations(connection)
    for each in faulty:
        async with database.begin() as connection:
            reservation = await lock_reservation(connection, project_id=each.project_id, reservation_id=each.id)
            if reservation.state is ReservationState.ACTIVE:
                await credit_faults(connection, reservation)
    for each in due:
        async with database.begin() as connection:
            await follow(connection, each, validated=validated)


async def follow(connection: AsyncConnection, due: Due, *, validated: bool) -> None:
    """What one reservation needs now; nothing if that was done meanwhile."""
    ids = {"project_id": due.project_id, "reservation_id": due.id}
    # In the order of locks: quota, clusters, reservation, machines.
    await lock_quota(connection, **ids)
    users = await _LOCK_USERS.all(connection, ids | {"billable": sorted(BILLABLE)})
    reservation = await lock_reservation(connection, **ids)
    if reservation.state is ReservationState.SCHEDULED and reservation.starts_at <= reservation.now:
        await _begin(connection, reservation)
    elif reservation.state is ReservationState.ACTIVE and reservation.ends_at <= reservation.now:
        if users == await _READ_USERS.all(connection, ids | {"billable": sorted(BILLABLE)}):
            billed = [user for user in users if user.in_use or user.being_built]
            await _end(connection, reservation, billed, validated=validated)
        return
    if reservation.state is ReservationState.ACTIVE:
        await credit_faults(connection, reservation)  # while it still holds the faulty hardware
    if reservation.state in {ReservationState.SCHEDULED, ReservationState.ACTIVE}:
        await _replace_broken(connection, reservation, validated=validated)


async def _begin(connection: AsyncConnection, reservation: Reservation) -> None:
    ids = {"project_id": reservation.project_id, "reservation_id": reservation.id}
    await transition(connection, reservation, ReservationState.ACTIVE)
    await open_reserved(connection, **ids, since=reservation.starts_at)
    await record_reservation_event(connection, RESERVATION_ACTIVE, reservation.id, reservation, _itself(reservation))
    failpoint("reservation.begun")


async def _end(
    connection: AsyncConnection, reservation: Reservation, billed: Sequence[_User], *, validated: bool
) -> None:
    """Its clusters go on as any others, and some are billed from then on; what no cluster uses is free."""
    owner = {"project_id": reservation.project_id}
    await credit_faults(connection, reservation)
    await transition(connection, reservation, ReservationState.ENDED)
    await close_reserved(connection, **owner, reservation_id=reservation.id, until=reservation.ends_at)
    for user in billed:
        since = max(reservation.ends_at, user.ready_at or reservation.ends_at)
        await open_interval(connection, **owner, cluster_id=user.id, since=since)
        # Their faults credit what is billed from now on.
        await apply_reports(connection, project_id=reservation.project_id, cluster_id=user.id)
    await record_reservation_event(connection, RESERVATION_ENDED, reservation.id, reservation, _itself(reservation))
    machines = await free_unused(
        connection, project_id=reservation.project_id, reservation_id=reservation.id, validated=validated
    )
    await quotas.give_back(
        connection,
        **owner,
        region=reservation.region,
        machine_type=reservation.machine_type,
        machines=machines,
    )
    failpoint("reservation.ended")


async def _replace_broken(connection: AsyncConnection, reservation: Reservation, *, validated: bool) -> None:
    """Hold other blocks instead of those that nobody could use. Without room they are kept, and tried again."""
    ids = {"project_id": reservation.project_id, "reservation_id": reservation.id}
    for block in await broken_blocks(connection, **ids):
        reserved = ReservedBlock(reservation.id, block)
        demand = Demand(reservation.project_id, None, reservation.region, reservation.need, reserved=reserved)
        try:
            async with connection.begin_nested():
                await free_unused(
                    connection,
                    project_id=reservation.project_id,
                    reservation_id=reservation.id,
                    block=block,
                    validated=validated,
                )
                await allocate(connection, demand)
        except Problem as problem:
            log.warning(
                "reserved_hardware_not_usable",
                reservation=str(reservation.id),
                block=block,
                why=problem.kind.code,
            )
            return
        log.info("reserved_hardware_replaced", reservation=str(reservation.id), block=block)


def _itself(reservation: Reservation) -> Actor:
    return Actor(reservation.project_id, None, f"reservation-{reservation.id}")
