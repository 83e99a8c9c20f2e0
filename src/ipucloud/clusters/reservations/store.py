"""What requests do with reservations: estimate, make and cancel them, and create clusters from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.admission import Terms, refuse_by_terms, reserved_terms
from ipucloud.clusters.cost_limits.store import refused_reservation
from ipucloud.clusters.flavor_choice import not_in_region, reserved_sku
from ipucloud.clusters.waiting.queue import awaited, behind_the_queue
from ipucloud.config import Settings
from ipucloud.contract.capacity import (
    ReservationCapacityOut,
    ReservationCreate,
    ReservationEstimateOut,
    ReservationState,
)
from ipucloud.contract.catalogue import Flavor
from ipucloud.contract.estimates import EstimateQuotaOut, WhyNotOut
from ipucloud.contract.event_payloads.projects import ReservedCapacity
from ipucloud.contract.event_types.projects import RESERVATION_CANCELLED, RESERVATION_CREATED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.inventory.placement import Demand, Need, NoRoom, ReservedBlock, Room, allocate, exhausted, read_room
from ipucloud.inventory.reservations import Reservation, insert, lock_reservation, transition
from ipucloud.inventory.reserved import free_unused
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    VALIDATION_FAILED,
    FieldError,
    Problem,
)
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.quotas import store as quotas

_LOCK_QUOTA = sa.text(
    """
    SELECT FROM quotas q JOIN reservations r USING (project_id, region, machine_type)
     WHERE r.project_id = :project_id AND r.id = :reservation_id FOR NO KEY UPDATE OF q
    """
)


async def lock_quota(connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID) -> None:
    """Lock the quota that counts a reservation's machines, which comes before the reservation in the order of locks."""
    await connection.execute(_LOCK_QUOTA, {"project_id": project_id, "reservation_id": reservation_id})


async def record_reservation_event(
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


AHEAD = timedelta(days=14)
"""How far in the future a reservation may begin: until then its machines are held and earn nothing."""
SHORTEST, LONGEST = timedelta(hours=1), timedelta(days=31)
CANCELLED_BEFORE = timedelta(hours=24)
"""How long before its beginning a reservation can be cancelled for the last time."""
MINUTE = timedelta(minutes=1)

_NOW = Query("SELECT app_now() AS now", datetime)


@dataclass(frozen=True, slots=True)
class _Request:
    """A reservation that could be made if quota and capacity allow it. `cancel_until`: None if never."""

    region: str
    flavor: Flavor
    count: int
    minutes: int
    cancel_until: datetime | None
    terms: Terms

    @property
    def machines(self) -> int:
        return self.flavor.machines * self.count


async def estimate_reservation(
    connection: Statements, actor: Actor, body: ReservationCreate, *, catalogue: Catalogue, settings: Settings
) -> ReservationEstimateOut:
    """What it costs at present prices, and what fits now. Nothing is locked. Raises `Problem` validation_failed."""
    request = await _examine(connection, actor, body, catalogue=catalogue, settings=settings)
    quota = await quotas.find(
        connection, project_id=actor.project_id, region=request.region, machine_type=request.flavor.machine_type
    )
    need = Need.of(request.flavor)
    room = await read_room(connection, request.region, need)
    lacking = _lack(room, need, request.count)
    return ReservationEstimateOut(
        sku=reserved_sku(request.flavor),
        machines=request.machines,
        minutes=request.minutes,
        price_per_minute=request.terms.per_minute,
        cost=request.terms.per_minute * request.minutes,
        cancel_until=request.cancel_until,
        quota=EstimateQuotaOut(
            allowed=request.machines <= quota.remaining, limit=quota.limit, used=quota.used, needed=request.machines
        ),
        capacity=ReservationCapacityOut(
            available=lacking is None,
            fits=room.count(need),
            why_not=None if lacking is None else WhyNotOut(**asdict(lacking)),
        ),
    )


async def reserve(
    connection: AsyncConnection, actor: Actor, body: ReservationCreate, *, catalogue: Catalogue, settings: Settings
) -> UUID:
    """Hold the machines from now on; the reservation's id.

    Raises `Problem`: validation_failed, budget_reached, payment_overdue, cost_limit_reached, quota_exceeded,
    capacity_exhausted, state_conflict, unavailable.
    """
    request = await _examine(connection, actor, body, catalogue=catalogue, settings=settings)
    refuse_by_terms(request.terms)
    if request.terms.has_cost_limit:
        raise refused_reservation()
    if request.terms.holds_funds:
        raise Problem(STATE_CONFLICT, "Reservations are not offered to prepaid accounts. Create clusters instead.")
    await _allocate_quota(connection, actor, request)
    need = Need.of(request.flavor)
    await _refuse_without_room(connection, request, need)
    reservation_id = new_id()
    await insert(connection, _row(reservation_id, actor, body, request))
    await record_reservation_event(connection, RESERVATION_CREATED, reservation_id, body, actor)
    for block in range(request.count):
        reserved = ReservedBlock(reservation_id, block)
        await allocate(connection, Demand(actor.project_id, None, request.region, need, reserved=reserved))
    failpoint("reservation.machines_taken")
    return reservation_id


async def cancel(connection: AsyncConnection, actor: Actor, reservation_id: UUID) -> None:
    """Give everything back; nothing is billed. Raises `Problem` not_found, and state_conflict when it is too late."""
    owner = {"project_id": actor.project_id}
    await lock_quota(connection, **owner, reservation_id=reservation_id)
    reservation = await lock_reservation(connection, **owner, reservation_id=reservation_id)
    if reservation.state is not ReservationState.SCHEDULED:
        raise Problem(
            STATE_CONFLICT,
            f"Reservation {reservation.name} is {reservation.state.value}; only one that has not begun can be"
            " cancelled.",
        )
    if reservation.cancel_until is None or reservation.now > reservation.cancel_until:
        until = (
            "It was made too late for that"
            if reservation.cancel_until is None
            else f"That was possible until {reservation.cancel_until:%Y-%m-%d %H:%M} UTC"
        )
        raise Problem(
            STATE_CONFLICT,
            f"Reservation {reservation.name} can no longer be cancelled. {until}, 24 hours before its beginning. It is"
            f" billed until {reservation.ends_at:%Y-%m-%d %H:%M} UTC.",
        )
    await transition(connection, reservation, ReservationState.CANCELLED)
    await record_reservation_event(connection, RESERVATION_CANCELLED, reservation.id, reservation, actor)
    machines = await free_unused(connection, project_id=actor.project_id, reservation_id=reservation.id)
    await quotas.give_back(
        connection,
        **owner,
        region=reservation.region,
        machine_type=reservation.machine_type,
        machines=machines,
    )
    failpoint("reservation.let_go")


async def _examine(
    connection: Statements, actor: Actor, body: ReservationCreate, *, catalogue: Catalogue, settings: Settings
) -> _Request:
    """Check the request against the clock, the catalogue and the prices. Raises `Problem` validation_failed."""
    now = await _NOW.one(connection)
    faults = list(_wrong_times(body, now))
    region, flavor = catalogue.find_region(body.region), catalogue.find_flavor(body.flavor)
    if region is None:
        faults.append(
            FieldError("/region", "unknown_region", "This region does not exist; `GET /v1/regions` lists them.")
        )
    if flavor is None:
        faults.append(
            FieldError("/flavor", "unknown_flavor", "This flavor does not exist; `GET /v1/flavors` lists them.")
        )
    elif region is not None and region.slug not in flavor.regions:
        faults.append(not_in_region(flavor, region))
    if faults or region is None or flavor is None:
        raise _invalid(faults)
    terms = await reserved_terms(connection, actor, flavor, region.slug, count=body.count, currency=settings.currency)
    if terms is None:
        sentence = (
            f"Reservations of {flavor.name} are not offered in {region.slug}: the operator has set no price of"
            f" {reserved_sku(flavor)}. Create a cluster, or have it wait for capacity."
        )
        raise _invalid([FieldError("/flavor", "not_offered", sentence)])
    until = body.starts_at - CANCELLED_BEFORE
    return _Request(
        region=region.slug,
        flavor=flavor,
        count=body.count,
        minutes=(body.ends_at - body.starts_at) // MINUTE,
        cancel_until=until if until > now else None,
        terms=terms,
    )


def _wrong_times(body: ReservationCreate, now: datetime) -> Iterator[FieldError]:
    for pointer, instant in (("/starts_at", body.starts_at), ("/ends_at", body.ends_at)):
        if instant.second or instant.microsecond:
            yield FieldError(pointer, "not_whole_minute", "Choose a whole minute, such as 2026-01-31T08:00:00Z.")
    if body.starts_at <= now:
        yield FieldError("/starts_at", "not_in_future", "Choose an instant in the future.")
    elif body.starts_at > now + AHEAD:
        yield FieldError("/starts_at", "too_far_ahead", "Choose an instant at most 14 days from now.")
    if body.ends_at <= body.starts_at:
        yield FieldError("/ends_at", "not_after_start", "Choose an instant after `starts_at`.")
    elif not SHORTEST <= body.ends_at - body.starts_at <= LONGEST:
        yield FieldError("/ends_at", "out_of_range", "Reserve for at least an hour, and for 31 days at most.")


def _invalid(faults: list[FieldError]) -> Problem:
    return Problem(VALIDATION_FAILED, "Nothing can be reserved like this.", faults)


async def _allocate_quota(connection: AsyncConnection, actor: Actor, request: _Request) -> None:
    project, region, machine_type = actor.project_id, request.region, request.flavor.machine_type
    quota = await quotas.find(connection, project_id=project, region=region, machine_type=machine_type)
    if request.machines > quota.remaining:
        fits = max(0, quota.remaining) // request.flavor.machines
        sentence = (
            f"The reservation needs {request.machines} machines; of the project's quota of {quota.limit} there are"
            f" {max(0, quota.remaining)} left, enough for {fits} of the {request.count} clusters. Reserve fewer, or ask"
            f" for a higher quota (`ipucloud quotas request {quota.region} {quota.machine_type}"
            f" {quota.used + request.machines} REASON`)."
        )
        numbers = {"wanted": request.machines, "limit": quota.limit, "used": quota.used}
        why_not = {"reason": "quota", "detail": sentence, "numbers": numbers}
        raise Problem(QUOTA_EXCEEDED, sentence, extra={"why_not": why_not})
    await quotas.consume(
        connection, project_id=project, region=region, machine_type=machine_type, machines=request.machines
    )


async def _refuse_without_room(connection: AsyncConnection, request: _Request, need: Need) -> None:
    if await awaited(connection, request.region, need.machine_type):
        raise behind_the_queue(
            "Reserve another machine type, or in another region; or create a cluster with `wait_for_capacity`."
        )
    lacking = _lack(await read_room(connection, request.region, need), need, request.count)
    if lacking is not None:
        raise exhausted(lacking)


def _lack(room: Room, need: Need, count: int) -> NoRoom | None:
    """Why so many do not fit at the same time; None: they do."""
    fits = room.count(need)
    if fits >= count:
        return None
    if count == 1 and (one := room.why_not(need)) is not None:
        return one
    sentence = (
        f"The region has room for {fits} of the {count} clusters now. Only machines that are free now can be reserved:"
        " reserve fewer, choose a smaller flavor or another region, or try again later."
    )
    return NoRoom("capacity", sentence, {"wanted": count * need.machines, "fits": fits})


def _row(reservation_id: UUID, actor: Actor, body: ReservationCreate, request: _Request) -> dict[str, object]:
    need = Need.of(request.flavor)
    return {
        "id": reservation_id,
        "project_id": actor.project_id,
        "name": body.name,
        "region": request.region,
        "flavor": request.flavor.name,
        "machine_type": need.machine_type,
        "blocks": request.count,
        "machines": need.machines,
        "ipus": request.flavor.ipus,
        "servers": need.hosts,
        "own_hosts": need.own_hosts,
        "sku": reserved_sku(request.flavor),
        "currency": request.terms.per_minute.currency,
        "starts_at": body.starts_at,
        "ends_at": body.ends_at,
        "cancel_until": request.cancel_until,
        "created_by": actor.token_id,
    }
