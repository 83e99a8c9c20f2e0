"""For operators: machines and hosts, their health reports, and when regions were observed."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import actions, hardware
from ipucloud.admin.hardware import CONTROLLERS
from ipucloud.admin.maintenance import maintain
from ipucloud.admin.validations import LIST_CLEANINGS, LIST_VALIDATIONS
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operator.lists import keyed_list, one_document
from ipucloud.api.writes import change_platform
from ipucloud.contract.lists import Paged
from ipucloud.contract.operator_hardware import (
    ControllerPage,
    HardwareChangedPage,
    HardwareHostDetailOut,
    HardwareHostPage,
    HardwareList,
    HardwareMachineDetailOut,
    HardwareMachineList,
    HardwareMachinePage,
    HardwareMaintenance,
    HardwareReason,
    HardwareSelection,
    HealthReportList,
    HealthReportOut,
    HealthReportPage,
    ObservationPage,
)
from ipucloud.contract.operator_validations import CleaningList, CleaningPage, ValidationList, ValidationPage
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()

_REPORT = "/v1/operator/health-reports/{report:uuid}"
ReportId = Annotated[UUID, Field(description="Id of the health report.")]


@routes.get(
    "/v1/operator/machines",
    **operation("listHardwareMachines", "List IPU machines", Permission.PLATFORM_READ, gives=HardwareMachinePage),
)
async def list_machines(request: Request, query: HardwareMachineList) -> Response:
    """List the installation's machines with state, health and holder, by name."""
    return await keyed_list(request, hardware.LIST_MACHINES, query)


@routes.get(
    "/v1/operator/machines/{machine}",
    **operation("getHardwareMachine", "Read an IPU machine", Permission.PLATFORM_READ, gives=HardwareMachineDetailOut),
)
async def get_machine(
    request: Request, machine: Annotated[str, Field(description="Name of the machine.", examples=["lux2-p001-m07"])]
) -> Response:
    """Return a machine with its live health reports, its holder, and the history of both."""
    return await one_document(request, hardware.GET_MACHINE, name=machine)


@routes.get(
    "/v1/operator/hosts",
    **operation("listHardwareHosts", "List hosts", Permission.PLATFORM_READ, gives=HardwareHostPage),
)
async def list_hosts(request: Request, query: HardwareList) -> Response:
    """List the installation's hosts with state, health and holder, by name."""
    return await keyed_list(request, hardware.LIST_HOSTS, query)


@routes.get(
    "/v1/operator/hosts/{host}",
    **operation("getHardwareHost", "Read a host", Permission.PLATFORM_READ, gives=HardwareHostDetailOut),
)
async def get_host(
    request: Request, host: Annotated[str, Field(description="Name of the host.", examples=["lux2-h004"])]
) -> Response:
    """Return a host with its live health reports, its holder, and the history of both."""
    return await one_document(request, hardware.GET_HOST, name=host)


@routes.post(
    "/v1/operator/hardware:maintenance",
    **operation(
        "startMaintenance", "Put hardware into maintenance", Permission.PLATFORM_WRITE, gives=HardwareChangedPage
    ),
)
async def start_maintenance(request: Request, body: HardwareMaintenance) -> Response:
    """Maintain machines and hosts, now or from `starts_at` on; no new cluster gets them meanwhile.

    Customers who hold some are notified at once, and their clusters are moved to other machines before it begins. What
    a cluster still holds then is maintained under it: the cluster is degraded, and not billed for it. Begin the work
    when `holder` is null, or the report `maintenance` is live.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        return _page(await maintain(connection, body, _by(request, principal), settings=services_of(request).settings))

    return await change_platform(request, effect)


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

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        by = _by(request, principal)
        return _page(await actions.return_to_service(connection, body, by, validated=_validated(request)))

    return await change_platform(request, effect)


@routes.post(
    "/v1/operator/hardware:validate",
    **operation(
        "validateHardware",
        "Validate machines",
        Permission.PLATFORM_WRITE,
        gives=HardwareChangedPage,
        errors=(STATE_CONFLICT,),
    ),
)
async def validate(request: Request, body: HardwareSelection) -> Response:
    """Test the selected machines that no cluster holds at their V-IPU controller; clusters get them when they pass.

    The code `not_validated` shows which. Machines that failed a validation before are tested again.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        return _page(await actions.have_validated(connection, body, principal.token_id))

    answer = await change_platform(request, effect)
    services_of(request).notifier.poke()
    return answer


@routes.get(
    "/v1/operator/health-reports",
    **operation("listHealthReports", "List health reports", Permission.PLATFORM_READ, gives=HealthReportPage),
)
async def list_reports(request: Request, query: HealthReportList) -> Response:
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

    `not_clean` cannot be cleared: it ends once the hardware was observed wiped; neither can `not_validated` once the
    validation has begun.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await actions.clear_report(connection, report, validated=_validated(request))
        return Answer(200, (await hardware.GET_REPORT.one(connection, {"report_id": report})).encode())

    return await change_platform(request, effect)


@routes.get(
    "/v1/operator/observations",
    **operation("listObservations", "List observations", Permission.PLATFORM_READ, gives=ObservationPage),
)
async def list_observations(request: Request, query: Paged) -> Response:
    """List when each region was last observed by each source, how many objects answered, and errors."""
    return await keyed_list(request, hardware.OBSERVATIONS, query)


@routes.get(
    "/v1/operator/controllers",
    **operation("listControllers", "List V-IPU controllers", Permission.PLATFORM_READ, gives=ControllerPage),
)
async def list_controllers(request: Request, query: Paged) -> Response:
    """List the V-IPU controllers: where they are, what they run and can do, and whether they answer."""
    return await keyed_list(request, CONTROLLERS, query)


def _validated(request: Request) -> bool:
    return "repair" in services_of(request).settings.validation


def _by(request: Request, principal: Principal) -> actions.Operator:
    return actions.Operator(principal.token_id, trace_of(request).request_id)


async def _put(request: Request, body: HardwareReason, code: Code) -> Response:
    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        order = actions.Order(code, body.reason, body.expires_at, _by(request, principal))
        return _page(await actions.put(connection, body, order))

    return await change_platform(request, effect)


def _page(items: str) -> Answer:
    return Answer(200, b'{"items":%s,"next_cursor":null}' % items.encode())


@routes.get(
    "/v1/operator/cleanings",
    **operation("listCleanings", "List cleanings", Permission.PLATFORM_READ, gives=CleaningPage),
)
async def list_cleanings(request: Request, query: CleaningList) -> Response:
    """List what was observed of machines and hosts between two clusters, oldest first.

    Hardware that a clean-up could not clean has no entry until it was cleaned; until then no cluster gets it.
    """
    return await keyed_list(request, LIST_CLEANINGS, query)


@routes.get(
    "/v1/operator/validations",
    **operation("listValidations", "List validations", Permission.PLATFORM_READ, gives=ValidationPage),
)
async def list_validations(request: Request, query: ValidationList) -> Response:
    """List the machines that wait for a validation or are being validated, oldest first; or the past ones."""
    return await keyed_list(request, LIST_VALIDATIONS, query)
