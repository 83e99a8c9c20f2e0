"""Schedules for exports that are delivered to S3 connections of a project or a billing account."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.responses import Response

from ipucloud.api.idempotency import Answer
from ipucloud.api.owners import Owner, OwnerRouter, Twin, lock, path_of
from ipucloud.api.paging import only_page
from ipucloud.api.routing import operation
from ipucloud.api.shapes import NAMED
from ipucloud.api.v1.billing_exports import BILLING, refuse_provisional
from ipucloud.billing.exports import schedules
from ipucloud.contract.exports import (
    ExportScheduleCreate,
    ExportScheduleList,
    ExportScheduleOut,
    ExportSchedulePage,
)
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import QUOTA_EXCEEDED

owned = OwnerRouter(BILLING)
routes = owned.routes

ScheduleId = Annotated[
    UUID, Field(description="Name or id of the schedule.", examples=["finance-bucket.day.cost-and-usage"]), NAMED
]


@owned.post(
    "/export-schedules",
    Twin("createAccountExportSchedule", "Create an export schedule of an account"),
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
async def create_export_schedule(owner: Owner, body: ExportScheduleCreate) -> Response:
    """Deliver a file every hour, day or month; that of an account has everything that it pays for.

    Failed deliveries are retried for 24 hours.
    """
    refuse_provisional(body)

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await lock(connection, home)
        document = await schedules.add_schedule(connection, home, body)
        schedule_id = UUID(orjson.loads(document)["id"])
        location = f"{path_of(home, BILLING)}/export-schedules/{schedule_id}"
        return Answer(201, document, {"Location": location}, schedule_id)

    return await owner.change(effect)


@owned.get(
    "/export-schedules",
    Twin("listAccountExportSchedules", "List export schedules of an account"),
    **operation("listExportSchedules", "List export schedules", Permission.BILLING_READ, gives=ExportSchedulePage),
)
async def list_export_schedules(owner: Owner, query: ExportScheduleList) -> Response:
    """List the export schedules that match every filter, with the result of the last delivery."""
    async with owner.reading() as (connection, home):
        return only_page(await schedules.schedule_documents(connection, home, query))


@owned.delete(
    "/export-schedules/{schedule:ref}",
    Twin("deleteAccountExportSchedule", "Delete an export schedule of an account"),
    **operation(
        "deleteExportSchedule",
        "Delete an export schedule",
        Permission.BILLING_WRITE,
        status=204,
        description="Deleted",
    ),
)
async def delete_export_schedule(owner: Owner, schedule: ScheduleId) -> Response:
    """Delete a schedule. An export that it already requested is still delivered."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await lock(connection, home)
        await schedules.end_schedule(connection, home, schedule)
        return Answer(204)

    return await owner.change(effect)
