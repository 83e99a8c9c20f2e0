"""Creating a cluster from a reservation."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.flavor_choice import Choice, invalid
from ipucloud.contract.capacity import ReservationState
from ipucloud.contract.clusters import ClusterCreate
from ipucloud.inventory.placement import NoRoom, exhausted
from ipucloud.inventory.reservations import Reservation, lock_reservation
from ipucloud.inventory.reserved import hand_over
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NOT_FOUND, STATE_CONFLICT, FieldError, Problem


async def reservation_for(
    connection: AsyncConnection, actor: Actor, body: ClusterCreate, reservation_id: UUID, choice: Choice
) -> Reservation:
    """Lock the reservation that the cluster is to be created from.

    Raises `Problem`: validation_failed when it does not go with the rest of the request, state_conflict when it is not
    active.
    """
    try:
        reservation = await lock_reservation(connection, project_id=actor.project_id, reservation_id=reservation_id)
    except Problem as problem:
        if problem.kind is not NOT_FOUND:
            raise
        sentence = "The project has no such reservation; `GET /v1/projects/{project}/reservations` lists them."
        raise invalid([FieldError("/reservation", "unknown_reservation", sentence)]) from problem
    if faults := list(_faults(body, reservation, choice)):
        raise invalid(faults)
    if reservation.state is not ReservationState.ACTIVE or reservation.ends_at <= reservation.now:
        when = (
            f" It begins at {reservation.starts_at:%Y-%m-%d %H:%M} UTC."
            if reservation.state is ReservationState.SCHEDULED
            else ""
        )
        state = reservation.state if reservation.state is not ReservationState.ACTIVE else ReservationState.ENDED
        raise Problem(
            STATE_CONFLICT,
            f"Reservation {reservation.name} is {state.value}; clusters are created from an active one.{when}",
        )
    return reservation


async def give_block(connection: AsyncConnection, reservation: Reservation, cluster_id: UUID) -> None:
    """Give the cluster a block of the locked reservation. Raises `Problem` capacity_exhausted when none is left."""
    handed_over = await hand_over(
        connection,
        project_id=reservation.project_id,
        reservation_id=reservation.id,
        cluster_id=cluster_id,
        machines=reservation.machines,
        servers=reservation.servers,
    )
    if not handed_over:
        sentence = (
            f"All of reservation {reservation.name} is in use: it has room for {reservation.blocks}"
            f" cluster{'' if reservation.blocks == 1 else 's'}. Delete one of its clusters, or create this one without"
            " `reservation`."
        )
        raise exhausted(NoRoom("reservation", sentence, {"count": reservation.blocks, "left": 0}))


def _faults(body: ClusterCreate, reservation: Reservation, choice: Choice) -> Iterator[FieldError]:
    if choice.region.slug != reservation.region:
        yield FieldError("/region", "not_reserved", f"The reservation is in {reservation.region}.")
    if choice.flavor.name != reservation.flavor:
        yield FieldError("/flavor", "not_reserved", f"The reservation is for clusters of flavor {reservation.flavor}.")
    elif choice.poplar_servers != reservation.servers:
        yield FieldError(
            "/poplar_servers", "not_reserved", f"Clusters of the reservation have {reservation.servers}; omit this."
        )
    if body.wait_for_capacity:
        yield FieldError(
            "/wait_for_capacity", "reserved", "A cluster that is created from a reservation does not wait; omit this."
        )
