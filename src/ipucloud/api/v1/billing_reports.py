"""Reports: charges, grouped and summed, as JSON or CSV; and usage, minutes and their exact cost so far."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypedDict
from uuid import UUID

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId, ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.money import payer_of
from ipucloud.billing.pricing.usage import cluster_usage, project_usage
from ipucloud.billing.reports.report import MAX_DAYS, ReportTooBigError, as_csv, report
from ipucloud.contract.charges import Period, ProjectUsageOut, UsageOut
from ipucloud.contract.reports import CsvQuery, ReportOut, ReportQuery
from ipucloud.db.statements import Statements
from ipucloud.identity.roles import Permission
from ipucloud.kernel.csv_tables import BYTE_ORDER_MARK
from ipucloud.kernel.errors import NOT_CONFIGURED, FieldError

routes = router()

CSV = "text/csv"
_HOUR = timedelta(hours=1)


class Bounds(TypedDict):
    """Whose charges, and in which period."""

    groups: list[str]
    since: datetime | None
    until: datetime | None


@routes.get(
    "/v1/projects/{project}/billing/report",
    **operation("getProjectReport", "Report a project's charges", Permission.USAGE_READ, gives=ReportOut, files=(CSV,)),
)
async def get_project_report(request: Request, project: ProjectRef, query: ReportQuery) -> Response:
    """Sum the project's posted charges, whichever account paid, by the time of usage; at most 400 days."""
    bounds = _bounds(query)
    async with reading(request, project, of_payer=True) as (connection, scope):
        document = await _report(connection, bounds, project_id=scope.project_id)
    return _answer(request, query, document)


@routes.get(
    "/v1/billing/accounts/{account:ref}/report",
    **operation(
        "getAccountReport",
        "Report an account's charges",
        Permission.ACCOUNT_READ,
        gives=ReportOut,
        files=(CSV,),
    ),
)
async def get_account_report(request: Request, account: AccountId, query: ReportQuery) -> Response:
    """Sum the posted charges of every project for the time that the account paid for it."""
    bounds = _bounds(query)
    async with reading_account(request, account) as connection:
        document = await _report(connection, bounds, account_id=account)
    return _answer(request, query, document)


def require_no_mark(query: CsvQuery) -> None:
    """Raises `Problem` validation_failed for a byte order mark of what is no CSV."""
    if query.bom:
        raise invalid([FieldError("?bom", "not_csv", "Only CSV has a byte order mark. Ask for CSV, or leave out bom.")])


async def _report(
    connection: Statements, bounds: Bounds, *, project_id: UUID | None = None, account_id: UUID | None = None
) -> ReportOut:
    try:
        return await report(connection, **bounds, project_id=project_id, account_id=account_id)
    except ReportTooBigError as error:
        raise invalid([FieldError(f"?{error.parameter}", "too_big", error.detail)]) from None


def _bounds(query: ReportQuery) -> Bounds:
    faults = []
    for name in ("since", "until"):
        instant = getattr(query, name)
        if instant is not None and instant != instant.replace(minute=0, second=0, microsecond=0):
            faults.append(FieldError(f"?{name}", "not_an_hour", "Charges are posted by the hour: send a full hour."))
    if query.since and query.until and not _HOUR <= query.until - query.since <= timedelta(days=MAX_DAYS):
        faults.append(FieldError("?until", "not_a_period", f"A period must have 1 hour to {MAX_DAYS} days."))
    if len(set(query.group_by)) < len(query.group_by):
        faults.append(FieldError("?group_by", "repeated", "Name each group once."))
    if faults:
        raise invalid(faults)
    return {"groups": list(query.group_by), "since": query.since, "until": query.until}


def _answer(request: Request, query: ReportQuery, document: ReportOut) -> Response:
    if query.format == "csv" or (query.format is None and CSV in request.headers.get("accept", "")):
        name = f"report-{document.since:%Y-%m-%dT%H}-{document.until:%Y-%m-%dT%H}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        mark = BYTE_ORDER_MARK if query.bom else b""
        return Response(mark + as_csv(document), 200, headers, f"{CSV}; charset=utf-8")
    require_no_mark(query)
    return Response(to_json(document), media_type=JSON)


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/usage",
    **operation(
        "getClusterUsage", "Read a cluster's usage", Permission.USAGE_READ, gives=UsageOut, errors=(NOT_CONFIGURED,)
    ),
)
async def get_cluster_usage(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Return the cluster's minutes and cost so far, in slices of one size and price."""
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        usage = await cluster_usage(connection, project_id=scope.project_id, cluster_id=cluster)
    return Response(usage.model_dump_json(), media_type=JSON)


async def get_project_usage(request: Request, project: ProjectRef, query: Period) -> Response:
    """Return the usage of the project's clusters in a period. A minute belongs to the period in which it starts."""
    if query.since and query.until and query.since > query.until:
        raise invalid([FieldError("?until", "before_since", "The period must not end before it begins.")])
    async with reading(request, project) as (connection, scope):
        payer = await payer_of(request, connection, scope.project_id)
        usage = await project_usage(
            connection,
            project_id=scope.project_id,
            currency=payer.currency,
            since=query.since,
            until=query.until,
        )
    return Response(usage.model_dump_json(), media_type=JSON)


for _path, _id in (("usage", "getProjectUsage"), ("billing/usage", "getBillingUsage")):
    routes.get(
        f"/v1/projects/{{project}}/{_path}",
        **operation(
            _id, "Read the project's usage", Permission.USAGE_READ, gives=ProjectUsageOut, errors=(NOT_CONFIGURED,)
        ),
    )(get_project_usage)
