"""Reservations: capacity for a time to come."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.clusters.reservations.queries import RESERVATIONS
from ipucloud.clusters.reservations.store import cancel, estimate_reservation, reserve
from ipucloud.contract.capacity import (
    ReservationCreate,
    ReservationEstimateOut,
    ReservationList,
    ReservationOut,
    ReservationPage,
)
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    CAPACITY_EXHAUSTED,
    COST_LIMIT_REACHED,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
)

routes = router()

_ALL = "/v1/projects/{project}/reservations"
_ONE = _ALL + "/{reservation:uuid}"
ReservationId = Annotated[UUID, Field(description="Id of the reservation.")]


@routes.post(
    _ALL + ":estimate",
    **operation(
        "estimateReservation",
        "Estimate a reservation",
        Permission.CLUSTER_READ,
        gives=ReservationEstimateOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def estimate(request: Request, project: ProjectRef, body: ReservationCreate) -> Response:
    """Return what a reservation costs at present prices, and whether quota and capacity allow it now.

    The body is that of a reservation. Nothing is reserved.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        catalogue, settings = catalogue_of(request), services_of(request).settings
        quote = await estimate_reservation(
            connection, actor(request, scope), body, catalogue=catalogue, settings=settings
        )
        return Answer(200, quote.model_dump_json().encode())

    return await change(request, project, effect)


@routes.post(
    _ALL,
    **operation(
        "createReservation",
        "Reserve capacity",
        Permission.CLUSTER_WRITE,
        gives=ReservationOut,
        status=201,
        errors=(
            BUDGET_REACHED,
            COST_LIMIT_REACHED,
            PAYMENT_OVERDUE,
            QUOTA_EXCEEDED,
            CAPACITY_EXHAUSTED,
            STATE_CONFLICT,
        ),
    ),
)
async def create_reservation(request: Request, project: ProjectRef, body: ReservationCreate) -> Response:
    """Hold machines for clusters of a flavor, to be created between two instants.

    The machines are held, and count in the quota, from now on. All minutes from `starts_at` to `ends_at` are billed,
    whether a cluster uses them or not.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        catalogue, settings = catalogue_of(request), services_of(request).settings
        reservation_id = await reserve(connection, actor(request, scope), body, catalogue=catalogue, settings=settings)
        document = await RESERVATIONS.read(connection, project_id=scope.project_id, resource_id=reservation_id)
        location = f"/v1/projects/{scope.project_id}/reservations/{reservation_id}"
        return Answer(201, document.encode(), {"Location": location}, reservation_id)

    return await change(request, project, effect)


@routes.get(
    _ALL,
    **operation("listReservations", "List reservations", Permission.CLUSTER_READ, gives=ReservationPage),
)
async def list_reservations(request: Request, project: ProjectRef, query: ReservationList) -> Response:
    """List the project's reservations, newest first."""
    return await list_of(request, project, RESERVATIONS.list, query)


@routes.get(
    _ONE,
    **operation("getReservation", "Read a reservation", Permission.CLUSTER_READ, gives=ReservationOut),
)
async def get_reservation(request: Request, project: ProjectRef, reservation: ReservationId) -> Response:
    """Return a reservation with the clusters that use it."""
    document, _ = await read_one(request, RESERVATIONS.get, project, resource_id=reservation)
    return Response(document, media_type=JSON)


@routes.post(
    _ONE + ":cancel",
    **operation(
        "cancelReservation",
        "Cancel a reservation",
        Permission.CLUSTER_WRITE,
        gives=ReservationOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def cancel_reservation(request: Request, project: ProjectRef, reservation: ReservationId) -> Response:
    """Give the machines of a reservation back, until its `cancel_until`; nothing is billed."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await cancel(connection, actor(request, scope), reservation)
        document = await RESERVATIONS.read(connection, project_id=scope.project_id, resource_id=reservation)
        return Answer(200, document.encode())

    return await change(request, project, effect)
