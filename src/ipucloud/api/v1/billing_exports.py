"""Exports of a project or a billing account: files of a billing month or other days."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import date
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.owners import Owner, OwnerRouter, Twin, actor_of, lock, statement
from ipucloud.api.problems import invalid
from ipucloud.api.routing import operation
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_NONE_MATCH, AccountId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.billing_reports import require_no_mark
from ipucloud.api.v1.operations import accepted
from ipucloud.api.writes import account_actor, actor, change, change_account
from ipucloud.billing.accounts.store import account_of
from ipucloud.billing.exports.requests import (
    LIST_EXPORTS,
    KeptFile,
    RequestedExport,
    export_document,
    kept_file,
    limit_document,
    pays_for_others,
    pieces_of,
    request_export,
    set_limit,
)
from ipucloud.billing.exports.selection import Period, month_of
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.event_payloads.money import ExportLimitOf
from ipucloud.contract.event_types.money import ACCOUNT_EXPORT_LIMIT_UPDATED
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
from ipucloud.contract.reports import CsvQuery
from ipucloud.db.documents import DocumentPage
from ipucloud.events.log import record, record_for_account
from ipucloud.identity import projects
from ipucloud.identity.access import Scope
from ipucloud.identity.members import Home
from ipucloud.identity.roles import PLATFORM_ROLES, Permission
from ipucloud.kernel.csv_tables import BYTE_ORDER_MARK
from ipucloud.kernel.errors import NOT_FOUND, PERMISSION_DENIED, QUOTA_EXCEEDED, STATE_CONFLICT, FieldError, Problem

BILLING = "/billing"
owned = OwnerRouter(BILLING)
routes = owned.routes

_LIST = {
    order: statement(text, DocumentPage, account_column="owner_account_id") for order, text in LIST_EXPORTS.items()
}

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
    _check_export(body)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.lock(connection, scope.project_id)
        account = await _account(connection, scope) if body.scope == "account" else None
        spec = _spec_of(body, account)
        export_id, operation_id = await request_export(connection, actor(request, scope), spec)
        trace_of(request).concerns(operation_id=operation_id)
        return await accepted(connection, scope, operation_id, export_id)

    return await change(request, project, effect)


@routes.post(
    "/v1/billing/accounts/{account:ref}/exports",
    **operation(
        "createAccountExport",
        "Create an export of an account",
        Permission.ACCOUNT_WRITE,
        gives=ExportOut,
        status=202,
        description="Accepted",
        errors=(QUOTA_EXCEEDED, STATE_CONFLICT),
    ),
)
async def create_account_export(request: Request, account: AccountId, body: AccountExportCreate) -> Response:
    """Create a file of everything that the billing account pays for, in a billing month or a range of days.

    Read the export until its `state` is `succeeded` or `failed`. `export-limit` says how many an account may request
    within 24 hours.
    """
    _check_export(body)

    async def effect(connection: AsyncConnection) -> Answer:
        await lock_payer(connection, account)
        export_id, operation_id = await request_export(connection, account_actor(request, account), _spec_of(body))
        trace_of(request).concerns(operation_id=operation_id)
        document = await export_document(connection, Home(None, account), export_id)
        return Answer(202, document, {"Location": f"/v1/billing/accounts/{account}/exports/{export_id}"}, export_id)

    return await change_account(request, account, effect)


@owned.get(
    "/exports",
    Twin("listAccountExports", "List exports of an account"),
    **operation("listExports", "List exports", Permission.BILLING_READ, gives=ExportPage),
)
async def list_exports(owner: Owner, query: ExportList) -> Response:
    """List the exports that were requested here and that match every filter."""
    return await owner.list_of(_LIST, query)


@owned.get(
    "/exports/{export:uuid}",
    Twin("getAccountExport", "Read an export of an account"),
    **operation("getExport", "Read an export", Permission.BILLING_READ, gives=ExportOut),
)
async def get_export(owner: Owner, export: ExportId) -> Response:
    """Return an export with its last error, if any, and the manifest of its file once it is built."""
    async with owner.reading() as (connection, home):
        document = await export_document(connection, home, export)
    return Response(document, media_type=JSON)


@owned.get(
    "/exports/{export:uuid}/file",
    Twin("downloadAccountExport", "Download the file of an account's export"),
    **operation(
        "downloadExport",
        "Download an export's file",
        Permission.BILLING_READ,
        errors=(NOT_FOUND, STATE_CONFLICT),
        headers=(IF_NONE_MATCH,),
        files=("text/csv", "application/vnd.apache.parquet"),
    ),
)
async def download_export(owner: Owner, export: ExportId, query: CsvQuery) -> Response:
    """Return the export's file; its ETag is the SHA-256 of its bytes, without a byte order mark."""
    async with owner.reading() as (connection, home):
        file = await kept_file(connection, home, export)
    if file.format is not FileFormat.CSV:
        require_no_mark(query)
    return _file_response(owner.request, file, BYTE_ORDER_MARK if query.bom else b"")


@owned.get(
    "/export-limit",
    Twin("getAccountExportLimit", "Read an account's limit of exports"),
    **operation("getExportLimit", "Read the limit of exports", Permission.BILLING_READ, gives=ExportLimitOut),
)
async def get_export_limit(owner: Owner) -> Response:
    """Return how many exports may be requested within 24 hours, and how many were."""
    async with owner.reading() as (connection, home):
        document = await limit_document(connection, home)
    return Response(document, media_type=JSON)


@owned.put(
    "/export-limit",
    Twin("setAccountExportLimit", "Set an account's limit of exports", permission=Permission.PLATFORM_WRITE),
    **operation("setExportLimit", "Set the limit of exports", Permission.PLATFORM_WRITE, gives=ExportLimitOut),
)
async def set_export_limit(owner: Owner, body: ExportLimitSet) -> Response:
    """Set how many exports may be requested within 24 hours; 0 leaves those of schedules."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await lock(connection, home)
        if await set_limit(connection, home, body.per_day):
            await _record_limit(connection, home, actor_of(owner.request, home).request_id, body.per_day)
        return Answer(200, (await limit_document(connection, home)).encode())

    return await owner.change(effect)


async def _record_limit(connection: AsyncConnection, home: Home, request_id: str, per_day: int) -> None:
    if home.project_id is None:
        await record_for_account(
            connection,
            ACCOUNT_EXPORT_LIMIT_UPDATED,
            account_id=home.id,
            subject_id=home.id,
            request_id=request_id,
            data=ExportLimitOf(per_day=per_day),
        )
    else:
        await record(connection, QUOTA_UPDATED, project_id=home.id, subject_id=home.id, request_id=request_id)


def _file_response(request: Request, file: KeptFile, mark: bytes) -> Response:
    """The file in pieces, after the mark if there is one, or 304 for a caller that has it."""
    tag = f'"{file.sha256}{"-bom" if mark else ""}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    size = len(mark) + file.size
    headers |= {"Content-Disposition": f'attachment; filename="{file.name}"', "Content-Length": str(size)}
    pieces = _after(mark, pieces_of(services_of(request).database, file))
    return StreamingResponse(pieces, 200, headers, MEDIA_TYPES[file.format])


async def _after(mark: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if mark:
        yield mark
    async for piece in pieces:
        yield piece


def _check_export(body: AccountExportCreate) -> None:
    """Raises `Problem` validation_failed for a period that is none, and as `refuse_provisional`."""
    _period(body)
    refuse_provisional(body)


def _spec_of(body: AccountExportCreate, account: UUID | None = None) -> RequestedExport:
    """What a checked body asks for."""
    return RequestedExport(
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
