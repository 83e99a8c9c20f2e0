"""Usage: minutes and their exact cost so far."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.payers import payer_of
from ipucloud.billing.pricing.usage import cluster_usage, project_usage
from ipucloud.contract.usage import Period, ProjectUsageOut, UsageOut
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, FieldError

routes = router()


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
