"""For operators: machines and hosts, their health reports, and when regions were observed."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import actions, hardware
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.v1.operator.lists import keyed_list, one_document
from ipucloud.api.writes import change_platform
from ipucloud.contract.lists import Paged
from ipucloud.contract.operator_hardware import (
    HardwareChangedPage,
    HardwareHostDetailOut,
    HardwareHostPage,
    HardwareList,
    HardwareMachineDetailOut,
    HardwareMachineList,
    HardwareMachinePage,
    HardwareReason,
    HardwareSelection,
    HealthReportList,
    HealthReportOut,
    HealthReportPage,
    ObservationPage,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()

_REPORT = "/v1/operator/health-reports/{report:uuid}"
ReportId = Annotated[UUID, Path(description="Id of the health report.")]


@routes.get(
    "/v1/operator/machines",
    **operation("listHardwareMachines", "List IPU machines", Permission.PLATFORM_READ, gives=HardwareMachinePage),
)
async def list_machines(request: Request, query: Annotated[HardwareMachineList, Query()]) -> Response:
    """List the installation's machines with state, health and holder, by name."""
    return await keyed_list(request, hardware.LIST_MACHINES, query)


@routes.get(
    "/v1/operator/machines/{machine}",
    **operation("getHardwareMachine", "Read an IPU machine", Permission.PLATFORM_READ, gives=HardwareMachineDetailOut),
)
async def get_machine(
    request: Request, machine: Annotated[str, Path(description="Name of the machine.", examples=["lux2-m07"])]
) -> Response:
    """Return a machine with its live health reports, its holder, and the history of both."""
    return await one_document(request, hardware.GET_MACHINE, name=machine)


@routes.get(
    "/v1/operator/hosts",
    **operation("listHardwareHosts", "List hosts", Permission.PLATFORM_READ, gives=HardwareHostPage),
)
async def list_hosts(request: Request, query: Annotated[HardwareList, Query()]) -> Response:
    """List the installation's hosts with state, health and holder, by name."""
    return await keyed_list(request, hardware.LIST_HOSTS, query)


@routes.get(
    "/v1/operator/hosts/{host}",
    **operation("getHardwareHost", "Read a host", Permission.PLATFORM_READ, gives=HardwareHostDetailOut),
)
async def get_host(
    request: Request, host: Annotated[str, Path(description="Name of the host.", examples=["lux2-h04"])]
) -> Response:
    """Return a host with its live health reports, its holder, and the history of both."""
    return await one_document(request, hardware.GET_HOST, name=host)


@routes.post(
    "/v1/operator/hardware:maintenance",
    **operation(
        "startMaintenance", "Put hardware into maintenance", Permission.PLATFORM_WRITE, gives=HardwareChangedPage
    ),
)
async def start_maintenance(request: Request, body: HardwareReason) -> Response:
    """Keep new clusters away from machines and hosts that are maintained. Customers whose cluster holds one see it."""
    return await _put(request, body, Code.MAINTENANCE)


@routes.post(
    "/v1/operator/hardware:drain",
    **operation("drainHardware", "Drain hardware", Permission.PLATFORM_WRITE, gives=HardwareChangedPage),
)
async def drain(request: Request, body: HardwareReason) -> Response:
    """Keep new clusters away until the present ones have left; they keep the hardware, and customers do not see it.

    What has no holder is drained.
    """
    return await _put(request, body, Code.DRAIN)


@routes.post(
    "/v1/operator/hardware:quarantine",
    **operation("quarantineHardware", "Quarantine hardware", Permission.PLATFORM_WRITE, gives=HardwareChangedPage),
)
async def quarantine(request: Request, body: HardwareReason) -> Response:
    """Keep new clusters away from hardware that is suspected, without calling it maintenance."""
    return await _put(request, body, Code.QUARANTINE)


@routes.post(
    "/v1/operator/hardware:return-to-service",
    **operation("returnToService", "Return hardware to service", Permission.PLATFORM_WRITE, gives=HardwareChangedPage),
)
async def return_to_service(request: Request, body: HardwareSelection) -> Response:
    """End maintenance, drain and quarantine by operators. `codes` shows what else keeps new clusters away."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        return _page(await actions.return_to_service(connection, body))

    return await change_platform(request, effect)


@routes.get(
    "/v1/operator/health-reports",
    **operation("listHealthReports", "List health reports", Permission.PLATFORM_READ, gives=HealthReportPage),
)
async def list_reports(request: Request, query: Annotated[HealthReportList, Query()]) -> Response:
    """List what is wrong with machines and hosts, oldest first; with `state=cleared`, what was."""
    return await keyed_list(request, hardware.LIST_REPORTS, query)


@routes.get(
    _REPORT,
    **operation("getHealthReport", "Read a health report", Permission.PLATFORM_READ, gives=HealthReportOut),
)
async def get_report(request: Request, report: ReportId) -> Response:
    """Return a health report."""
    return await one_document(request, hardware.GET_REPORT, report_id=report)


@routes.post(
    _REPORT + ":clear",
    **operation(
        "clearHealthReport",
        "Clear a health report",
        Permission.PLATFORM_WRITE,
        gives=HealthReportOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def clear_report(request: Request, report: ReportId) -> Response:
    """End a health report. Observation reports the same again if it is still seen.

    `not_clean` cannot be cleared: it ends once the hardware was observed wiped.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await actions.clear_report(connection, report)
        return Answer(200, (await hardware.GET_REPORT.one(connection, {"report_id": report})).encode())

    return await change_platform(request, effect)


@routes.get(
    "/v1/operator/observations",
    **operation("listObservations", "List observations", Permission.PLATFORM_READ, gives=ObservationPage),
)
async def list_observations(request: Request, query: Annotated[Paged, Query()]) -> Response:
    """List when each region was last observed by each source, how many objects answered, and errors."""
    return await keyed_list(request, hardware.OBSERVATIONS, query)


async def _put(request: Request, body: HardwareReason, code: Code) -> Response:
    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        order = actions.Order(code, body.reason, body.expires_at, principal.token_id)
        return _page(await actions.put(connection, body, order))

    return await change_platform(request, effect)


def _page(items: str) -> Answer:
    return Answer(200, b'{"items":%s,"next_cursor":null}' % items.encode())
