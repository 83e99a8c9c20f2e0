"""For operators of a simulated site: what it should break, so that people see the product find out and repair."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import simulated_faults
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.v1.operator.lists import keyed_list
from ipucloud.api.writes import change_platform
from ipucloud.contract.simulated_faults import (
    SimulatedFaultCreate,
    SimulatedFaultList,
    SimulatedFaultOut,
    SimulatedFaultPage,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()


@routes.get(
    "/v1/operator/simulated-faults",
    **operation(
        "listSimulatedFaults", "List faults of simulated sites", Permission.PLATFORM_READ, gives=SimulatedFaultPage
    ),
)
async def list_simulated_faults(request: Request, query: SimulatedFaultList) -> Response:
    """List what simulated sites were asked to break, by whom, and whether they did; oldest first."""
    return await keyed_list(request, simulated_faults.LIST_SIMULATED_FAULTS, query)


@routes.post(
    "/v1/operator/simulated-faults",
    **operation(
        "createSimulatedFault",
        "Break something at a simulated site",
        Permission.PLATFORM_WRITE,
        gives=SimulatedFaultOut,
        status=202,
        errors=(STATE_CONFLICT,),
    ),
)
async def create_simulated_fault(request: Request, body: SimulatedFaultCreate) -> Response:
    """Break a machine, a link or a host of a simulated site, or slow its V-IPU controllers down, until that is ended.

    Refused where the site does not say that it is simulated. A worker asks the site; then the fault is found, shown,
    credited and repaired like any other: nothing else learns from this that it is not real.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        document = await simulated_faults.request(connection, body, created_by=principal.token_id)
        return Answer(202, document.encode())

    return await change_platform(request, effect)


@routes.post(
    "/v1/operator/simulated-faults/{simulated_fault:uuid}:end",
    **operation(
        "endSimulatedFault",
        "Repair something at a simulated site",
        Permission.PLATFORM_WRITE,
        gives=SimulatedFaultOut,
        status=202,
        errors=(STATE_CONFLICT,),
    ),
)
async def end_simulated_fault(
    request: Request, simulated_fault: Annotated[UUID, Field(description="Id of the simulated fault.")]
) -> Response:
    """Have the simulated site repair it, as its technicians would. Repeating has no effect."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        return Answer(202, (await simulated_faults.end(connection, simulated_fault)).encode())

    return await change_platform(request, effect)
