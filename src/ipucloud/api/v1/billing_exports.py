"""Exports: ask for a month or other days of the bill as a file, and download it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import only_page
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_NONE_MATCH, Page, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import accepted
from ipucloud.api.writes import actor, change
from ipucloud.billing.accounts.store import account_of
from ipucloud.billing.exports.datasets import Dataset, FileFormat, FocusVersion
from ipucloud.billing.exports.periods import MOST_DAYS, Period, month_of
from ipucloud.billing.exports.requests import (
    Wanted,
    export_document,
    export_documents,
    kept_file,
    pays_for_others,
    pieces_of,
    request_export,
)
from ipucloud.clusters.models import Body, OperationOut
from ipucloud.identity import projects
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import PLATFORM_ROLES, Permission
from ipucloud.kernel.errors import NOT_FOUND, PERMISSION_DENIED, QUOTA_EXCEEDED, STATE_CONFLICT, FieldError, Problem

routes = router()

ExportId = Annotated[UUID, Path(description="the export's id")]
Month = Annotated[str, Field(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$", examples=["2026-05"])]
Day = Annotated[
    str,
    Field(
        pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
        examples=["2026-05-04"],
        json_schema_extra={"format": "date"},
    ),
]
MEDIA_TYPES: Mapping[FileFormat, str] = {
    FileFormat.CSV: "text/csv; charset=utf-8",
    FileFormat.PARQUET: "application/vnd.apache.parquet",
}


class FileChoice(Body):
    """What stands in a file."""

    dataset: Annotated[Dataset, Field(strict=False)] = Dataset.COST_AND_USAGE
    version: Annotated[FocusVersion, Field(strict=False)] = Field(FocusVersion.V1_4, description="of FOCUS")
    format: Annotated[FileFormat, Field(strict=False)] = FileFormat.CSV


class ExportCreate(FileChoice):
    """A file about one month of the bill, or about the days from `since` up to, but not with, `until`."""

    month: Month | None = Field(None, description="of the bill, in UTC; the running one gives what is posted so far")
    since: Day | None = Field(None, description="the first day, in UTC, when it is not about a month")
    until: Day | None = Field(None, description=f"the day behind the last one; {MOST_DAYS} days at most")
    scope: Literal["project", "account"] = Field(
        "project",
        description="account: everything that the project's account pays for; where it pays for other projects too,"
        " only operators may ask for it",
    )
    connection: Annotated[UUID | None, Field(strict=False)] = Field(
        None, description="deliver it to this S3 connection too"
    )


class ExportOut(BaseModel):
    """An export, and how far it is."""

    id: UUID
    operation: UUID
    state: str = Field(description="of the operation")
    progress: int
    dataset: str
    version: str
    format: str
    month: str | None = Field(description="null: it is of other days than a month")
    since: date
    until: date = Field(description="the day behind the last one")
    scope: str
    connection: UUID | None
    schedule: UUID | None
    created_at: datetime
    built_at: datetime | None = Field(description="from then on it can be downloaded")
    delivered_at: datetime | None
    expires_at: datetime | None = Field(description="until then it can be downloaded")
    failed_deliveries: int
    last_error: str | None = Field(description="why the last try failed")
    manifest: dict[str, Any] | None = Field(description="rows, sums, digest and moment of the file")


class ExportPage(Page[ExportOut]):
    pass


@routes.post(
    "/v1/projects/{project}/billing/exports",
    **operation(
        "createExport",
        "Export a month or other days of the bill",
        Permission.BILLING_WRITE,
        gives=OperationOut,
        status=202,
        description="The file is being made",
        errors=(QUOTA_EXCEEDED, STATE_CONFLICT),
    ),
)
async def create_export(request: Request, project: ProjectRef, body: ExportCreate) -> Response:
    """Ask for a file. The operation's target is the export; ten a day."""
    period = _period(body)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        account = await _account(connection, scope) if body.scope == "account" else None
        wanted = Wanted(body.dataset, body.version, body.format, period, account, connection_id=body.connection)
        export_id, operation_id = await request_export(connection, actor(request, scope), wanted)
        trace_of(request).concerns(operation_id=operation_id)
        return await accepted(connection, scope, operation_id, export_id)

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/billing/exports",
    **operation("listExports", "List exports", Permission.BILLING_READ, gives=ExportPage),
)
async def list_exports(request: Request, project: ProjectRef) -> Response:
    """The newest exports of the project, 200 at most."""
    async with reading(request, project) as (connection, scope):
        return only_page(await export_documents(connection, project_id=scope.project_id))


@routes.get(
    "/v1/projects/{project}/billing/exports/{export:uuid}",
    **operation("getExport", "Read an export", Permission.BILLING_READ, gives=ExportOut),
)
async def get_export(request: Request, project: ProjectRef, export: ExportId) -> Response:
    """What an export is, its last error if it has one, and the manifest of its file once that is made."""
    async with reading(request, project) as (connection, scope):
        document = await export_document(connection, project_id=scope.project_id, export_id=export)
    return Response(document, media_type=JSON)


@routes.get(
    "/v1/projects/{project}/billing/exports/{export:uuid}/file",
    **operation(
        "downloadExport",
        "Download an export's file",
        Permission.BILLING_READ,
        errors=(NOT_FOUND, STATE_CONFLICT),
        headers=(IF_NONE_MATCH,),
        files=("text/csv", "application/vnd.apache.parquet"),
    ),
)
async def download_export(request: Request, project: ProjectRef, export: ExportId) -> Response:
    """The file as it was made; its entity tag is the SHA-256 of its bytes."""
    async with reading(request, project) as (connection, scope):
        file = await kept_file(connection, project_id=scope.project_id, export_id=export)
    headers = {"ETag": f'"{file.sha256}"', "Cache-Control": "private, no-cache"}
    if f'"{file.sha256}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    headers |= {"Content-Disposition": f'attachment; filename="{file.name}"', "Content-Length": str(file.size)}
    pieces = pieces_of(services_of(request).database, file)
    return StreamingResponse(pieces, 200, headers, MEDIA_TYPES[file.format])


async def _account(connection: AsyncConnection, scope: Scope) -> UUID:
    account = await account_of(connection, scope.project_id)
    if scope.role not in PLATFORM_ROLES and await pays_for_others(
        connection, account_id=account, project_id=scope.project_id
    ):
        raise Problem(PERMISSION_DENIED, "The account pays for other projects too: ask an operator for its export.")
    return account


def _period(body: ExportCreate) -> Period:
    """Raises `Problem` validation_failed."""
    if body.month is not None and body.since is None and body.until is None:
        return month_of(date.fromisoformat(f"{body.month}-01"))
    if body.month is not None or body.since is None or body.until is None:
        raise invalid([FieldError("", "not_a_period", "Give either `month`, or both `since` and `until`.")])
    days = {}
    for name, given in (("since", body.since), ("until", body.until)):
        try:
            days[name] = date.fromisoformat(given)
        except ValueError:
            raise invalid([FieldError(f"/{name}", "not_a_day", "The month has no such day.")]) from None
    try:
        return Period(**days)
    except ValueError:
        sentence = f"`until` is the day behind the last one: a period has 1 to {MOST_DAYS} days."
        raise invalid([FieldError("/until", "not_a_period", sentence)]) from None
