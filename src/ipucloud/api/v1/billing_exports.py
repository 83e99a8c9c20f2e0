"""Exports: files of a billing month or other days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_NONE_MATCH, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import accepted
from ipucloud.api.writes import actor, change
from ipucloud.billing.accounts.store import account_of
from ipucloud.billing.exports.limits import limit_document, set_limit
from ipucloud.billing.exports.periods import Period, month_of
from ipucloud.billing.exports.requests import (
    LIST_EXPORTS,
    KeptFile,
    Wanted,
    export_document,
    kept_file,
    pays_for_others,
    pieces_of,
    request_export,
)
from ipucloud.contract.event_types.projects import QUOTA_UPDATED
from ipucloud.contract.exports import (
    MAX_DAYS,
    AccountExportCreate,
    Dataset,
    ExportCreate,
    ExportLimitOut,
    ExportLimitSet,
    ExportList,
    ExportOut,
    ExportPage,
    FileChoice,
    FileFormat,
)
from ipucloud.contract.operations import OperationOut
from ipucloud.db.documents import DocumentPage
from ipucloud.events.log import record
from ipucloud.identity import projects
from ipucloud.identity.access import Scope, authenticated
from ipucloud.identity.members import Home
from ipucloud.identity.roles import PLATFORM_ROLES, Permission
from ipucloud.kernel.errors import NOT_FOUND, PERMISSION_DENIED, QUOTA_EXCEEDED, STATE_CONFLICT, FieldError, Problem

routes = router()

_LIST = {order: authenticated(text, DocumentPage) for order, text in LIST_EXPORTS.items()}

ExportId = Annotated[UUID, Field(description="Id of the export.")]
MEDIA_TYPES: Mapping[FileFormat, str] = {
    FileFormat.CSV: "text/csv; charset=utf-8",
    FileFormat.PARQUET: "application/vnd.apache.parquet",
}


@routes.post(
    "/v1/projects/{project}/billing/exports",
    **operation(
        "createExport",
        "Create an export",
        Permission.BILLING_WRITE,
        gives=OperationOut,
        status=202,
        description="Accepted",
        errors=(QUOTA_EXCEEDED, STATE_CONFLICT),
    ),
)
async def create_export(request: Request, project: ProjectRef, body: ExportCreate) -> Response:
    """Create a file of a billing month or a range of days. The operation's target is the export.

    `export-limit` says how many a project may request within 24 hours.
    """
    check_export(body)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        account = await _account(connection, scope) if body.scope == "account" else None
        spec = spec_of(body, account)
        export_id, operation_id = await request_export(connection, actor(request, scope), spec)
        trace_of(request).concerns(operation_id=operation_id)
        return await accepted(connection, scope, operation_id, export_id)

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/billing/exports",
    **operation("listExports", "List exports", Permission.BILLING_READ, gives=ExportPage),
)
async def list_exports(request: Request, project: ProjectRef, query: ExportList) -> Response:
    """List the project's exports that match every filter."""
    return await list_of(request, project, _LIST, query)


@routes.get(
    "/v1/projects/{project}/billing/exports/{export:uuid}",
    **operation("getExport", "Read an export", Permission.BILLING_READ, gives=ExportOut),
)
async def get_export(request: Request, project: ProjectRef, export: ExportId) -> Response:
    """Return an export with its last error, if any, and the manifest of its file once it is built."""
    async with reading(request, project) as (connection, scope):
        document = await export_document(connection, Home(scope.project_id, None), export)
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
    """Return the export's file; its ETag is the SHA-256 of its bytes."""
    async with reading(request, project) as (connection, scope):
        file = await kept_file(connection, Home(scope.project_id, None), export)
    return file_response(request, file)


def file_response(request: Request, file: KeptFile) -> Response:
    """The file in pieces, or 304 for a caller that has it."""
    headers = {"ETag": f'"{file.sha256}"', "Cache-Control": "private, no-cache"}
    if f'"{file.sha256}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    headers |= {"Content-Disposition": f'attachment; filename="{file.name}"', "Content-Length": str(file.size)}
    pieces = pieces_of(services_of(request).database, file)
    return StreamingResponse(pieces, 200, headers, MEDIA_TYPES[file.format])


def check_export(body: AccountExportCreate) -> None:
    """Raises `Problem` validation_failed for a period that is none, and as `refuse_provisional`."""
    _period(body)
    refuse_provisional(body)


def spec_of(body: AccountExportCreate, account: UUID | None = None) -> Wanted:
    """What a checked body asks for."""
    return Wanted(
        body.dataset,
        body.version,
        body.format,
        _period(body),
        account,
        connection_id=body.connection,
        provisional=body.provisional,
    )


def refuse_provisional(body: FileChoice) -> None:
    """Raises `Problem` validation_failed for provisional rows of a dataset that has none."""
    if body.provisional and body.dataset is not Dataset.COST_AND_USAGE:
        sentence = f"{body.dataset.value} has no usage: ask for provisional rows of cost-and-usage."
        raise invalid([FieldError("/provisional", "no_usage", sentence)])


@routes.get(
    "/v1/projects/{project}/billing/export-limit",
    **operation("getExportLimit", "Read the limit of exports", Permission.BILLING_READ, gives=ExportLimitOut),
)
async def get_export_limit(request: Request, project: ProjectRef) -> Response:
    """Return how many exports the project may request within 24 hours, and how many it has."""
    async with reading(request, project) as (connection, scope):
        document = await limit_document(connection, Home(scope.project_id, None))
    return Response(document, media_type=JSON)


@routes.put(
    "/v1/projects/{project}/billing/export-limit",
    **operation("setExportLimit", "Set the limit of exports", Permission.PLATFORM_WRITE, gives=ExportLimitOut),
)
async def set_export_limit(request: Request, project: ProjectRef, body: ExportLimitSet) -> Response:
    """Set how many exports the project may request within 24 hours; 0 leaves those of its schedules."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        if await set_limit(connection, Home(scope.project_id, None), body.per_day):
            await record(
                connection,
                QUOTA_UPDATED,
                project_id=scope.project_id,
                subject_id=scope.project_id,
                request_id=actor(request, scope).request_id,
            )
        return Answer(200, (await limit_document(connection, Home(scope.project_id, None))).encode())

    return await change(request, project, effect)


async def _account(connection: AsyncConnection, scope: Scope) -> UUID:
    account = await account_of(connection, scope.project_id)
    if scope.role not in PLATFORM_ROLES and await pays_for_others(
        connection, account_id=account, project_id=scope.project_id
    ):
        raise Problem(
            PERMISSION_DENIED,
            "The account also pays for other projects. Its payers can export it (`--account`), and operators.",
        )
    return account


def _period(body: AccountExportCreate) -> Period:
    """Raises `Problem` validation_failed."""
    if body.month is not None and body.since is None and body.until is None:
        return month_of(date.fromisoformat(f"{body.month}-01"))
    if body.month is not None or body.since is None or body.until is None:
        raise invalid([FieldError("", "not_a_period", "Give either `month`, or both `since` and `until`.")])
    days = {}
    for name, day in (("since", body.since), ("until", body.until)):
        try:
            days[name] = date.fromisoformat(day)
        except ValueError:
            raise invalid([FieldError(f"/{name}", "not_a_day", "The month has no such day.")]) from None
    try:
        return Period(**days)
    except ValueError:
        sentence = f"`until` is exclusive and must be after `since`; a period has 1 to {MAX_DAYS} days."
        raise invalid([FieldError("/until", "not_a_period", sentence)]) from None
