"""Schedules for exports that are delivered to S3 connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, TypeAlias
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import only_page
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import NAMED, ProjectRef
from ipucloud.api.v1.billing_exports import refuse_provisional
from ipucloud.api.writes import change
from ipucloud.billing.exports import schedules
from ipucloud.billing.exports.schedules import Plan
from ipucloud.contract.exports import (
    ExportScheduleCreate,
    ExportScheduleList,
    ExportScheduleOut,
    ExportSchedulePage,
)
from ipucloud.db.statements import Statements
from ipucloud.identity import projects
from ipucloud.identity.access import Scope
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import QUOTA_EXCEEDED

routes = router()

ScheduleId = Annotated[
    UUID, Field(description="Name or id of the schedule.", examples=["finance-bucket.day.cost-and-usage"]), NAMED
]
Create: TypeAlias = Callable[[AsyncConnection, Home], Awaitable[bytes]]
"""Creates an object of a project or an account; returns its JSON."""
Documents: TypeAlias = Callable[[Statements, Home], Awaitable[Sequence[str]]]
End: TypeAlias = Callable[[AsyncConnection, Home], Awaitable[None]]


@routes.post(
    "/v1/projects/{project}/billing/export-schedules",
    **operation(
        "createExportSchedule",
        "Create an export schedule",
        Permission.BILLING_WRITE,
        gives=ExportScheduleOut,
        status=201,
        description="Created",
        errors=(QUOTA_EXCEEDED,),
    ),
)
async def create_export_schedule(request: Request, project: ProjectRef, body: ExportScheduleCreate) -> Response:
    """Deliver a file every hour, day or month. Failed deliveries are retried for 24 hours."""
    return await _create(request, project, "export-schedules", partial(schedules.add_schedule, plan=plan_of(body)))


@routes.get(
    "/v1/projects/{project}/billing/export-schedules",
    **operation("listExportSchedules", "List export schedules", Permission.BILLING_READ, gives=ExportSchedulePage),
)
async def list_export_schedules(request: Request, project: ProjectRef, query: ExportScheduleList) -> Response:
    """List the export schedules that match every filter, with the result of the last delivery."""
    return await _list(request, project, partial(schedules.schedule_documents, query=query))


@routes.delete(
    "/v1/projects/{project}/billing/export-schedules/{schedule:ref}",
    **operation(
        "deleteExportSchedule",
        "Delete an export schedule",
        Permission.BILLING_WRITE,
        status=204,
        description="Deleted",
    ),
)
async def delete_export_schedule(request: Request, project: ProjectRef, schedule: ScheduleId) -> Response:
    """Delete a schedule. An export that it already requested is still delivered."""

    return await _end(request, project, partial(schedules.end_schedule, schedule_id=schedule))


def plan_of(body: ExportScheduleCreate) -> Plan:
    """What a schedule delivers. Raises `Problem` validation_failed."""
    refuse_provisional(body)
    return Plan(body.connection, body.dataset, body.version, body.format, body.every, body.provisional)


async def _create(request: Request, project: str, kind: str, create: Create) -> Response:
    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        document = await create(connection, Home(scope.project_id, None))
        schedule_id = UUID(orjson.loads(document)["id"])
        return Answer(
            201, document, {"Location": f"/v1/projects/{scope.project_id}/billing/{kind}/{schedule_id}"}, schedule_id
        )

    return await change(request, project, effect)


async def _list(request: Request, project: str, documents: Documents) -> Response:
    async with reading(request, project) as (connection, scope):
        return only_page(await documents(connection, Home(scope.project_id, None)))


async def _end(request: Request, project: str, end: End) -> Response:
    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        await end(connection, Home(scope.project_id, None))
        return Answer(204)

    return await change(request, project, effect)
