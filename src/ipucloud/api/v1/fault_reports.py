"""Faults that customers report to the operator."""

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
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import actor, change
from ipucloud.clusters.fault_reports.queries import FAULT_REPORTS
from ipucloud.clusters.fault_reports.store import Hardware, open_report
from ipucloud.contract.fault_reports import FaultReportCreate, FaultReportList, FaultReportOut, FaultReportPage
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}/machines/{machine:ref}:report-fault",
    **operation(
        "reportMachineFault",
        "Report a fault of a machine",
        Permission.CLUSTER_WRITE,
        gives=FaultReportOut,
        status=201,
        errors=(STATE_CONFLICT,),
    ),
)
async def report_machine_fault(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    machine: Annotated[str, Field(description="Name of the machine.", examples=["lux2-p001-m01"])],
    body: FaultReportCreate,
) -> Response:
    """Tell the operator that a machine of the cluster does not work, although no fault is shown.

    Nothing changes before the operator has found the fault. A machine has one report that is `open` or `confirmed`.
    """
    return await _report(request, project, cluster, Hardware("machine", str(machine)), body)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}/poplar-servers/{poplar_server:ref}:report-fault",
    **operation(
        "reportServerFault",
        "Report a fault of a Poplar server",
        Permission.CLUSTER_WRITE,
        gives=FaultReportOut,
        status=201,
        errors=(STATE_CONFLICT,),
    ),
)
async def report_server_fault(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    poplar_server: Annotated[str, Field(description="Name or id of the Poplar server.", examples=["bert-p0"])],
    body: FaultReportCreate,
) -> Response:
    """Tell the operator that a Poplar server of the cluster does not work, although no fault is shown.

    Nothing changes before the operator has found the fault. A server has one report that is `open` or `confirmed`.
    """
    return await _report(request, project, cluster, Hardware("host", str(poplar_server)), body)


@routes.get(
    "/v1/projects/{project}/fault-reports",
    **operation("listFaultReports", "List fault reports", Permission.CLUSTER_READ, gives=FaultReportPage),
)
async def list_fault_reports(request: Request, project: ProjectRef, query: FaultReportList) -> Response:
    """List the faults that were reported, newest first, with the operator's answers."""
    return await list_of(request, project, FAULT_REPORTS.list, query)


@routes.get(
    "/v1/projects/{project}/fault-reports/{fault_report:uuid}",
    **operation("getFaultReport", "Read a fault report", Permission.CLUSTER_READ, gives=FaultReportOut),
)
async def get_fault_report(
    request: Request, project: ProjectRef, fault_report: Annotated[UUID, Field(description="Id of the fault report.")]
) -> Response:
    """Return a fault report with its state and the operator's answer."""
    document, _ = await read_one(request, FAULT_REPORTS.get, project, resource_id=fault_report)
    return Response(document, media_type=JSON)


async def _report(
    request: Request, project: str, cluster: UUID, hardware: Hardware, body: FaultReportCreate
) -> Response:
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        report_id = await open_report(connection, actor(request, scope), cluster, hardware, body)
        document = await FAULT_REPORTS.read(connection, project_id=scope.project_id, resource_id=report_id)
        location = f"/v1/projects/{scope.project_id}/fault-reports/{report_id}"
        return Answer(201, document.encode(), {"Location": location}, report_id)

    return await change(request, project, effect)
