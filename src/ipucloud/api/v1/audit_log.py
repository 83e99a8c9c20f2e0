"""The audit log: of a project for its owners, of everything for operators."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.paging import behind, list_of, page
from ipucloud.api.reads import read_platform
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ProjectRef
from ipucloud.contract.audit_log import AuditEntryPage, AuditLogList, OperatorAuditLogList
from ipucloud.db.documents import list_parameters
from ipucloud.identity.audit_log import LIST_ALL_AUDIT_LOG, LIST_AUDIT_LOG
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/projects/{project}/audit-log",
    **operation("listAuditLog", "List the audit log", Permission.AUDIT_READ, gives=AuditEntryPage),
)
async def list_audit_log(request: Request, project: ProjectRef, query: AuditLogList) -> Response:
    """List who asked for what in the project: every write, and every read of tokens and money."""
    return await list_of(request, project, LIST_AUDIT_LOG, query)


@routes.get(
    "/v1/operator/audit-log",
    **operation(
        "listAllAuditLog", "List the audit log of the platform", Permission.PLATFORM_READ, gives=AuditEntryPage
    ),
)
async def list_all_audit_log(request: Request, query: OperatorAuditLogList) -> Response:
    """List who asked for what, in every project and outside of projects."""
    parameters = list_parameters(query, behind(query, request))
    return page(query, request, await read_platform(request, LIST_ALL_AUDIT_LOG[query.order], **parameters))
