"""What requests about jobs and about services have in common."""

from __future__ import annotations

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.paging import behind, page
from ipucloud.api.reads import read, read_one
from ipucloud.api.trace import trace_of
from ipucloud.contract.jobs import JobList
from ipucloud.contract.programs import LogQuery
from ipucloud.contract.services import ServiceList
from ipucloud.db.documents import list_parameters
from ipucloud.kernel.errors import not_found
from ipucloud.programs.queries import Documents


async def listed(
    request: Request, documents: Documents, project: str, cluster: UUID, query: JobList | ServiceList
) -> Response:
    """A page of a cluster's programs. Raises `Problem` not_found when the project has no such cluster."""
    trace_of(request).concerns(cluster_id=cluster)
    parameters = list_parameters(query, behind(query, request))
    row = await read(request, documents.lists[query.order], project, cluster_id=cluster, **parameters)
    if not row.known:
        raise not_found()
    return page(query, request, row.page())


async def shown(request: Request, documents: Documents, project: str, cluster: UUID, ref: str) -> Response:
    """One program. Raises `Problem` not_found."""
    trace_of(request).concerns(cluster_id=cluster)
    document, _ = await read_one(request, documents.one, project, cluster_id=cluster, ref=ref)
    return Response(document, media_type=JSON)


async def printed(
    request: Request, documents: Documents, project: str, cluster: UUID, ref: str, *, query: LogQuery
) -> Response:
    """Parts of what a program wrote. Raises `Problem` not_found."""
    trace_of(request).concerns(cluster_id=cluster)
    document, _ = await read_one(request, documents.log, project, cluster_id=cluster, ref=ref, after=query.after)
    return Response(document, media_type=JSON)
