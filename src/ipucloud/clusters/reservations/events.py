"""Events of reservations."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import ReservedCapacity
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.reservations import ReservationCreate
from ipucloud.events.log import record
from ipucloud.inventory.reservations import Reservation
from ipucloud.kernel.actor import Actor


async def tell(
    connection: AsyncConnection,
    event: EventType,
    reservation_id: UUID,
    reservation: Reservation | ReservationCreate,
    actor: Actor,
) -> None:
    """Record what became of a reservation."""
    data = ReservedCapacity(
        name=reservation.name,
        region=reservation.region,
        flavor=reservation.flavor,
        count=reservation.count if isinstance(reservation, ReservationCreate) else reservation.blocks,
        starts_at=reservation.starts_at,
        ends_at=reservation.ends_at,
    )
    await record(
        connection,
        event,
        project_id=actor.project_id,
        subject_id=reservation_id,
        request_id=actor.request_id,
        data=data,
    )
