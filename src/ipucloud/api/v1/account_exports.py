"""Exports of a billing account, for its payers: files of everything that it pays for, and their delivery."""

from __future__ import annotations

from functools import partial

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of_account, only_page
from ipucloud.api.reads import reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_NONE_MATCH, AccountId
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.billing_deliveries import ScheduleId, plan_of
from ipucloud.api.v1.billing_exports import ExportId, check_export, file_response, spec_of
from ipucloud.api.writes import account_actor, change_account
from ipucloud.billing.exports import schedules
from ipucloud.billing.exports.limits import limit_document, set_limit
from ipucloud.billing.exports.requests import LIST_ACCOUNT_EXPORTS, export_document, kept_file, request_export
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.event_payloads.money import ExportLimitOf
from ipucloud.contract.event_types.money import ACCOUNT_EXPORT_LIMIT_UPDATED
from ipucloud.contract.exports import (
    AccountExportCreate,
    ExportLimitOut,
    ExportLimitSet,
    ExportList,
    ExportOut,
    ExportPage,
    ExportScheduleCreate,
    ExportScheduleList,
    ExportScheduleOut,
    ExportSchedulePage,
)
from ipucloud.events.log import record_for_account
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_FOUND, QUOTA_EXCEEDED, STATE_CONFLICT

routes = router()

_ACCOUNT = "/v1/billing/accounts/{account:ref}"
_EXPORTS = _ACCOUNT + "/exports"
_LIMIT = _ACCOUNT + "/export-limit"
_SCHEDULES = _ACCOUNT + "/export-schedules"


@routes.post(
    _EXPORTS,
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
    check_export(body)

    async def effect(connection: AsyncConnection) -> Answer:
        await lock_payer(connection, account)
        export_id, operation_id = await request_export(connection, account_actor(request, account), spec_of(body))
        trace_of(request).concerns(operation_id=operation_id)
        document = await export_document(connection, Home(None, account), export_id)
        return Answer(202, document, {"Location": f"/v1/billing/accounts/{account}/exports/{export_id}"}, export_id)

    return await change_account(request, account, effect)


@routes.get(
    _EXPORTS, **operation("listAccountExports", "List exports of an account", Permission.ACCOUNT_READ, gives=ExportPage)
)
async def list_account_exports(request: Request, account: AccountId, query: ExportList) -> Response:
    """List the exports that the billing account requested and that match every filter."""
    return await list_of_account(request, account, LIST_ACCOUNT_EXPORTS, query)


@routes.get(
    _EXPORTS + "/{export:uuid}",
    **operation("getAccountExport", "Read an export of an account", Permission.ACCOUNT_READ, gives=ExportOut),
)
async def get_account_export(request: Request, account: AccountId, export: ExportId) -> Response:
    """Return an export with its last error, if any, and the manifest of its file once it is built."""
    async with reading_account(request, account) as connection:
        document = await export_document(connection, Home(None, account), export)
    return Response(document, media_type=JSON)


@routes.get(
    _EXPORTS + "/{export:uuid}/file",
    **operation(
        "downloadAccountExport",
        "Download the file of an account's export",
        Permission.ACCOUNT_READ,
        errors=(NOT_FOUND, STATE_CONFLICT),
        headers=(IF_NONE_MATCH,),
        files=("text/csv", "application/vnd.apache.parquet"),
    ),
)
async def download_account_export(request: Request, account: AccountId, export: ExportId) -> Response:
    """Return the export's file; its ETag is the SHA-256 of its bytes."""
    async with reading_account(request, account) as connection:
        file = await kept_file(connection, Home(None, account), export)
    return file_response(request, file)


@routes.get(
    _LIMIT,
    **operation(
        "getAccountExportLimit", "Read an account's limit of exports", Permission.ACCOUNT_READ, gives=ExportLimitOut
    ),
)
async def get_account_export_limit(request: Request, account: AccountId) -> Response:
    """Return how many exports the billing account may request within 24 hours, and how many it has."""
    async with reading_account(request, account) as connection:
        document = await limit_document(connection, Home(None, account))
    return Response(document, media_type=JSON)


@routes.put(
    _LIMIT,
    **operation(
        "setAccountExportLimit", "Set an account's limit of exports", Permission.PLATFORM_WRITE, gives=ExportLimitOut
    ),
)
async def set_account_export_limit(request: Request, account: AccountId, body: ExportLimitSet) -> Response:
    """Set how many exports the billing account may request within 24 hours; 0 leaves those of its schedules."""

    async def effect(connection: AsyncConnection) -> Answer:
        await lock_payer(connection, account)
        if await set_limit(connection, Home(None, account), body.per_day):
            await record_for_account(
                connection,
                ACCOUNT_EXPORT_LIMIT_UPDATED,
                account_id=account,
                subject_id=account,
                request_id=account_actor(request, account).request_id,
                data=ExportLimitOf(per_day=body.per_day),
            )
        return Answer(200, (await limit_document(connection, Home(None, account))).encode())

    return await change_account(request, account, effect)


@routes.post(
    _SCHEDULES,
    **operation(
        "createAccountExportSchedule",
        "Create an export schedule of an account",
        Permission.ACCOUNT_WRITE,
        gives=ExportScheduleOut,
        status=201,
        description="Created",
        errors=(QUOTA_EXCEEDED,),
    ),
)
async def create_account_export_schedule(request: Request, account: AccountId, body: ExportScheduleCreate) -> Response:
    """Deliver a file of everything that the billing account pays for every hour, day or month.

    Failed deliveries are retried for 24 hours.
    """
    create = partial(schedules.add_schedule, home=Home(None, account), plan=plan_of(body))

    async def effect(connection: AsyncConnection) -> Answer:
        await lock_payer(connection, account)
        document = await create(connection)
        schedule_id = orjson.loads(document)["id"]
        return Answer(201, document, {"Location": f"/v1/billing/accounts/{account}/export-schedules/{schedule_id}"})

    return await change_account(request, account, effect)


@routes.get(
    _SCHEDULES,
    **operation(
        "listAccountExportSchedules",
        "List export schedules of an account",
        Permission.ACCOUNT_READ,
        gives=ExportSchedulePage,
    ),
)
async def list_account_export_schedules(request: Request, account: AccountId, query: ExportScheduleList) -> Response:
    """List the billing account's export schedules that match every filter, with the result of the last delivery."""
    async with reading_account(request, account) as connection:
        return only_page(await schedules.schedule_documents(connection, Home(None, account), query))


@routes.delete(
    _SCHEDULES + "/{schedule:ref}",
    **operation(
        "deleteAccountExportSchedule",
        "Delete an export schedule of an account",
        Permission.ACCOUNT_WRITE,
        status=204,
        description="Deleted",
    ),
)
async def delete_account_export_schedule(request: Request, account: AccountId, schedule: ScheduleId) -> Response:
    """Delete a schedule. An export that it already requested is still delivered."""

    async def effect(connection: AsyncConnection) -> Answer:
        await schedules.end_schedule(connection, Home(None, account), schedule)
        return Answer(204)

    return await change_account(request, account, effect)
