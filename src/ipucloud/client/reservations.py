"""Calls for reservations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, segment
from ipucloud.client.models import Page, Reservation, ReservationEstimate


@dataclass(frozen=True)
class NewReservation:
    """Capacity to reserve or to estimate: room for `count` clusters of a flavor between two whole minutes."""

    name: str
    region: str
    flavor: str
    starts_at: datetime
    ends_at: datetime
    count: int = 1

    def body(self) -> dict[str, object]:
        times = {"starts_at": self.starts_at.isoformat(), "ends_at": self.ends_at.isoformat()}
        return {"name": self.name, "region": self.region, "flavor": self.flavor, "count": self.count, **times}


def estimate(reservation: NewReservation) -> Call[ReservationEstimate]:
    """What a reservation would cost, and whether it fits. Nothing is reserved."""
    return request.post("reservations:estimate", ReservationEstimate, reservation.body())


def create(reservation: NewReservation) -> Call[Reservation]:
    """Reserve room for so many clusters of a flavor."""
    return request.post("reservations", Reservation, reservation.body())


def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Reservation]]:
    """The project's reservations, newest first. `state`: any of these."""
    query: Query = {"state": tuple(state), "order": order, "limit": limit}
    return request.get("reservations", Page[Reservation], query)


def get(reservation: Ref) -> Call[Reservation]:
    """One reservation, with the clusters that use it."""
    return request.get(f"reservations/{segment(reservation)}", Reservation)


def cancel(reservation: Ref) -> Call[Reservation]:
    """Give its machines back, until its `cancel_until`."""
    return request.post(f"reservations/{segment(reservation)}:cancel", Reservation)
