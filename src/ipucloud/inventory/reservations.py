"""The rows of reservations; what they hold is in `inventory.reserved`."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.capacity import ReservationState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Need
from ipucloud.kernel.errors import not_found
from ipucloud.kernel.transitions import TransitionTable

_S = ReservationState
RESERVATION_STATES: TransitionTable[ReservationState] = TransitionTable(
    "reservation",
    _S.SCHEDULED,
    {
        _S.SCHEDULED: frozenset({_S.ACTIVE, _S.CANCELLED}),
        _S.ACTIVE: frozenset({_S.ENDED}),
        _S.ENDED: frozenset(),
        _S.CANCELLED: frozenset(),
    },
)


class Reservation(NamedTuple):
    """A reservation as it was locked. `blocks`: clusters that it has room for; the rest is of one; `now`: then."""

    id: UUID
    project_id: UUID
    name: str
    region: str
    flavor: str
    machine_type: str
    blocks: int
    machines: int
    ipus: int
    servers: int
    own_hosts: bool
    sku: str
    starts_at: datetime
    ends_at: datetime
    cancel_until: datetime | None
    state: ReservationState
    now: datetime

    @property
    def need(self) -> Need:
        """What a block consists of."""
        return Need(
            self.machine_type, self.machines, self.servers, self.ipus // self.machines, own_hosts=self.own_hosts
        )


_LOCK = Query(
    """
    SELECT id, project_id, name, region, flavor, machine_type, blocks, machines, ipus, servers, own_hosts, sku,
           starts_at, ends_at, cancel_until, state, app_now() AS now
      FROM reservations WHERE project_id = :project_id AND id = :reservation_id FOR NO KEY UPDATE
    """,
    Reservation,
)
_INSERT = sa.text(
    """
    INSERT INTO reservations (
      id, project_id, name, region, flavor, machine_type, blocks, machines, ipus, servers, own_hosts, sku, currency,
      starts_at, ends_at, cancel_until, created_by)
    VALUES (
      :id, :project_id, :name, :region, :flavor, :machine_type, :blocks, :machines, :ipus, :servers, :own_hosts, :sku,
      :currency, :starts_at, :ends_at, :cancel_until, :created_by)
    """
)
_ENTER = sa.text(
    """
    UPDATE reservations SET state = :state, state_entered_at = app_now()
     WHERE project_id = :project_id AND id = :reservation_id
    """
)


class Due(NamedTuple):
    """A reservation that may have something to be done."""

    project_id: UUID
    id: UUID


_DUE = Query(
    """
    SELECT r.project_id, r.id FROM reservations r
     WHERE r.state IN ('scheduled', 'active')
       AND (CASE r.state WHEN 'scheduled' THEN r.starts_at ELSE r.ends_at END <= app_now()
            OR EXISTS (SELECT FROM allocations a
                         LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
                        WHERE a.project_id = r.project_id AND a.reservation_id = r.id AND a.freed_at IS NULL
                          AND a.cluster_id IS NULL AND NOT coalesce(m.allocatable, h.allocatable)))
     ORDER BY r.starts_at, r.id
    """,
    Due,
)


async def due_reservations(connection: Statements) -> list[Due]:
    """Those that begin or end now, or hold hardware that is not usable."""
    return await _DUE.all(connection)


async def lock_reservation(connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID) -> Reservation:
    """Lock the row until the transaction ends. Raises `Problem` not_found."""
    key = {"project_id": project_id, "reservation_id": reservation_id}
    reservation = await _LOCK.one_or_none(connection, key)
    if reservation is None:
        raise not_found()
    return reservation


async def insert(connection: AsyncConnection, values: dict[str, object]) -> None:
    """Write a new reservation; its machines are taken after it."""
    await connection.execute(_INSERT, values)


async def transition(connection: AsyncConnection, reservation: Reservation, state: ReservationState) -> None:
    """Change the state of a locked reservation. Raises IllegalTransition."""
    key = {"project_id": reservation.project_id, "reservation_id": reservation.id}
    await connection.execute(_ENTER, key | {"state": RESERVATION_STATES.require(reservation.state, state).value})
