"""For operators: faults that customers reported, and the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import fault_reports
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operator.lists import keyed_list, one_document
from ipucloud.api.writes import change_platform
from ipucloud.contract.fault_reports import (
    FaultReportConfirm,
    FaultReportDismiss,
    OperatorFaultReportList,
    OperatorFaultReportOut,
    OperatorFaultReportPage,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()

_ONE = "/v1/operator/fault-reports/{fault_report:uuid}"
FaultReportId = Annotated[UUID, Field(description="Id of the fault report.")]


@routes.get(
    "/v1/operator/fault-reports",
    **operation(
        "listAllFaultReports",
        "List fault reports of every project",
        Permission.PLATFORM_READ,
        gives=OperatorFaultReportPage,
    ),
)
async def list_fault_reports(request: Request, query: OperatorFaultReportList) -> Response:
    """List the faults that customers reported, oldest first; with `state=open`, those that wait for an answer."""
    return await keyed_list(request, fault_reports.LIST_FAULT_REPORTS, query)


@routes.get(
    _ONE,
    **operation(
        "getAnyFaultReport",
        "Read a fault report of any project",
        Permission.PLATFORM_READ,
        gives=OperatorFaultReportOut,
    ),
)
async def get_fault_report(request: Request, fault_report: FaultReportId) -> Response:
    """Return a fault report with its customer and hardware."""
    return await one_document(request, fault_reports.GET_FAULT_REPORT, fault_report_id=fault_report)


@routes.post(
    _ONE + ":confirm",
    **operation(
        "confirmFaultReport",
        "Confirm a fault report",
        Permission.PLATFORM_WRITE,
        gives=OperatorFaultReportOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def confirm_fault_report(request: Request, fault_report: FaultReportId, body: FaultReportConfirm) -> Response:
    """Make a health report of the hardware: its cluster is degraded, credited from `observed_at` on, and repaired.

    The report is `repaired` when the cluster has other hardware, or when the health report is cleared.
    """

    async def confirm(connection: AsyncConnection, principal: Principal) -> None:
        token, request_id = principal.token_id, trace_of(request).request_id
        await fault_reports.confirm(connection, fault_report, body, token=token, request_id=request_id)

    return await _answered(request, fault_report, confirm)


@routes.post(
    _ONE + ":dismiss",
    **operation(
        "dismissFaultReport",
        "Dismiss a fault report",
        Permission.PLATFORM_WRITE,
        gives=OperatorFaultReportOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def dismiss_fault_report(request: Request, fault_report: FaultReportId, body: FaultReportDismiss) -> Response:
    """Tell the customer that nothing was found, and why. Nothing else changes."""

    async def dismiss(connection: AsyncConnection, principal: Principal) -> None:
        token, request_id = principal.token_id, trace_of(request).request_id
        await fault_reports.dismiss(connection, fault_report, body.reason, token=token, request_id=request_id)

    return await _answered(request, fault_report, dismiss)


async def _answered(
    request: Request, fault_report: UUID, answer: Callable[[AsyncConnection, Principal], Awaitable[None]]
) -> Response:
    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        await answer(connection, principal)
        document = await fault_reports.GET_FAULT_REPORT.one(connection, {"fault_report_id": fault_report})
        return Answer(200, document.encode())

    return await change_platform(request, effect)
