"""Calls for how much there is to use: quotas, requests for higher ones, and reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, segment
from ipucloud.client.models import Page, Quota, QuotaRequest, Reservation, ReservationEstimate


class quotas:
    """Calls for quotas."""

    @staticmethod
    def list(
        *, region: str | None = None, machine_type: str | None = None, order: str | None = None
    ) -> Call[Page[Quota]]:
        """How many machines the project may hold. `order`: region, machine_type, used or limit; with `-` downwards."""
        return request.get("quotas", Page[Quota], {"region": region, "machine_type": machine_type, "order": order})

    @staticmethod
    def update(limits: Mapping[tuple[str, str], int], *, if_match: str) -> Call[Page[Quota]]:
        """Replace all limits, by region and machine type. `if_match`: the list's entity tag. Needs a platform token."""
        items = [{"region": region, "machine_type": kind, "limit": limit} for (region, kind), limit in limits.items()]
        return Call("PUT", "quotas", Page[Quota], body={"items": items}, headers={"If-Match": if_match})


class quota_requests:
    """Calls for requests for higher quotas."""

    @staticmethod
    def create(*, region: str, machine_type: str, limit: int, reason: str) -> Call[QuotaRequest]:
        """Ask the operator for a limit of so many machines of a type in a region."""
        body = {"region": region, "machine_type": machine_type, "limit": limit, "reason": reason}
        return request.post("quota-requests", QuotaRequest, body)

    @staticmethod
    def list(
        *, state: Sequence[str] = (), order: str | None = None, limit: int | None = None
    ) -> Call[Page[QuotaRequest]]:
        """What the project asked for, newest first. `state`: any of these."""
        query: Query = {"state": tuple(state), "order": order, "limit": limit}
        return request.get("quota-requests", Page[QuotaRequest], query)

    @staticmethod
    def get(quota_request: Ref) -> Call[QuotaRequest]:
        """One request."""
        return request.get(f"quota-requests/{segment(quota_request)}", QuotaRequest)

    @staticmethod
    def withdraw(quota_request: Ref) -> Call[QuotaRequest]:
        """Ask no longer."""
        return request.post(f"quota-requests/{segment(quota_request)}:withdraw", QuotaRequest)


class reservations:
    """Calls for reservations."""

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

    @staticmethod
    def estimate(reservation: NewReservation) -> Call[ReservationEstimate]:
        """What a reservation would cost, and whether it fits. Nothing is reserved."""
        return request.post("reservations:estimate", ReservationEstimate, reservation.body())

    @staticmethod
    def create(reservation: NewReservation) -> Call[Reservation]:
        """Reserve room for so many clusters of a flavor."""
        return request.post("reservations", Reservation, reservation.body())

    @staticmethod
    def list(
        *, state: Sequence[str] = (), order: str | None = None, limit: int | None = None
    ) -> Call[Page[Reservation]]:
        """The project's reservations, newest first. `state`: any of these."""
        query: Query = {"state": tuple(state), "order": order, "limit": limit}
        return request.get("reservations", Page[Reservation], query)

    @staticmethod
    def get(reservation: Ref) -> Call[Reservation]:
        """One reservation, with the clusters that use it."""
        return request.get(f"reservations/{segment(reservation)}", Reservation)

    @staticmethod
    def cancel(reservation: Ref) -> Call[Reservation]:
        """Give its machines back, until its `cancel_until`."""
        return request.post(f"reservations/{segment(reservation)}:cancel", Reservation)
