"""Services: programs that are kept running on Poplar servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from pydantic import Field
from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.programs import listed, printed, shown
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import actor, change
from ipucloud.contract.metrics import MetricsQuery
from ipucloud.contract.services import (
    ServiceCreate,
    ServiceDeploy,
    ServiceList,
    ServiceLogOut,
    ServiceLogQuery,
    ServiceMetricsOut,
    ServiceOut,
    ServicePage,
)
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NAME_TAKEN, NO_CONTAINERS, STATE_CONFLICT
from ipucloud.programs.services.queries import SERVICE_DOCUMENTS
from ipucloud.programs.services.releases import deploy, rollback
from ipucloud.programs.services.requests import request_series
from ipucloud.programs.services.store import create, stop


class _Name(Convertor[str]):
    """A service's name or its id; no colon, which starts the name of an action."""

    regex = "[A-Za-z0-9-]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("service", _Name())

routes = router()

ServiceRef = Annotated[
    str,
    Field(
        description="Name of the service, or its id. A name means the one that has not ended, else the newest.",
        pattern=r"^[A-Za-z0-9-]+$",
        max_length=63,
        examples=["chat"],
    ),
]
_ALL = "/v1/projects/{project}/clusters/{cluster:ref}/services"
SERVICE_PATH = _ALL + "/{service:service}"


@routes.get(_ALL, **operation("listServices", "List a cluster's services", Permission.CLUSTER_READ, gives=ServicePage))
async def list_services(request: Request, project: ProjectRef, cluster: ClusterId, query: ServiceList) -> Response:
    """List the services of a cluster, newest first. They stay when they or the cluster have ended."""
    return await listed(request, SERVICE_DOCUMENTS, project, cluster, query)


@routes.post(
    _ALL,
    **operation(
        "createService",
        "Keep a program running",
        Permission.CLUSTER_WRITE,
        gives=ServiceOut,
        status=201,
        errors=(STATE_CONFLICT, NO_CONTAINERS, NAME_TAKEN),
    ),
)
async def create_service(request: Request, project: ProjectRef, cluster: ClusterId, body: ServiceCreate) -> Response:
    """Keep a program running on a Poplar server of a cluster in use, beside the jobs there.

    It has the files of the server, which are brought there over SSH, and no input. A program that ends is started again
    after a pause, `max_restarts` times in a row; after a restart, suspension or repair of its server at once.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        service_id = await create(
            connection, actor(request, scope), cluster, body, services_of(request).settings.sealing_keys()
        )
        document = await SERVICE_DOCUMENTS.read(
            connection, project_id=scope.project_id, cluster_id=cluster, ref=str(service_id)
        )
        location = f"/v1/projects/{scope.project_id}/clusters/{cluster}/services/{service_id}"
        return Answer(201, document.encode(), {"Location": location}, service_id)

    return await change(request, project, effect)


@routes.get(SERVICE_PATH, **operation("getService", "Read a service", Permission.CLUSTER_READ, gives=ServiceOut))
async def get_service(request: Request, project: ProjectRef, cluster: ClusterId, service: ServiceRef) -> Response:
    """Return a service, as the site showed its program at `observed_at`."""
    return await shown(request, SERVICE_DOCUMENTS, project, cluster, service)


@routes.post(
    SERVICE_PATH + ":stop", **operation("stopService", "Stop a service", Permission.CLUSTER_WRITE, gives=ServiceOut)
)
async def stop_service(request: Request, project: ProjectRef, cluster: ClusterId, service: ServiceRef) -> Response:
    """End a service: its program gets SIGTERM, and SIGKILL ten seconds later. It is not started again.

    A service that has ended stays as it is; read the answer.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        stopped = await stop(connection, actor(request, scope), cluster, service)
        document = await SERVICE_DOCUMENTS.read(
            connection, project_id=scope.project_id, cluster_id=cluster, ref=str(stopped)
        )
        return Answer(200, document.encode(), {}, stopped)

    return await change(request, project, effect)


@routes.post(
    SERVICE_PATH + ":deploy",
    **operation(
        "deployService",
        "Deploy another release of a service",
        Permission.CLUSTER_WRITE,
        gives=ServiceOut,
        status=202,
        errors=(STATE_CONFLICT, NO_CONTAINERS, NAME_TAKEN),
    ),
)
async def deploy_service(
    request: Request, project: ProjectRef, cluster: ClusterId, service: ServiceRef, body: ServiceDeploy
) -> Response:
    """Replace a service's program. The present one ends as by a stop; then the new release runs under the same name.

    The answer is the service that ends, with its `successor`; or the new release, if nothing ran.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> UUID:
        keys = services_of(request).settings.sealing_keys()
        return await deploy(connection, actor(request, scope), cluster, service, body=body, keys=keys)

    return await _released(request, project, cluster, effect)


@routes.post(
    SERVICE_PATH + ":rollback",
    **operation(
        "rollbackService",
        "Go back to the release before",
        Permission.CLUSTER_WRITE,
        gives=ServiceOut,
        status=202,
        errors=(STATE_CONFLICT, NO_CONTAINERS, NAME_TAKEN),
    ),
)
async def rollback_service(request: Request, project: ProjectRef, cluster: ClusterId, service: ServiceRef) -> Response:
    """Deploy again what the release before was requested with, in its directory. Answers as a deploy."""

    async def effect(connection: AsyncConnection, scope: Scope) -> UUID:
        keys = services_of(request).settings.sealing_keys()
        return await rollback(connection, actor(request, scope), cluster, service, keys=keys)

    return await _released(request, project, cluster, effect)


async def _released(
    request: Request, project: str, cluster: UUID, effect: Callable[[AsyncConnection, Scope], Awaitable[UUID]]
) -> Response:
    trace_of(request).concerns(cluster_id=cluster)

    async def released(connection: AsyncConnection, scope: Scope) -> Answer:
        shown_id = await effect(connection, scope)
        document = await SERVICE_DOCUMENTS.read(
            connection, project_id=scope.project_id, cluster_id=cluster, ref=str(shown_id)
        )
        return Answer(202, document.encode(), {}, shown_id)

    return await change(request, project, released)


@routes.get(
    SERVICE_PATH + "/log",
    **operation("getServiceLog", "Read a service's output", Permission.CLUSTER_READ, gives=ServiceLogOut),
)
async def get_service_log(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    service: ServiceRef,
    query: ServiceLogQuery,
) -> Response:
    """Return what the program wrote, in parts. To follow it, repeat with `after` = `next` until `complete`.

    The newest 1000 parts are kept.
    """
    return await printed(request, SERVICE_DOCUMENTS, project, cluster, service, query=query)


@routes.get(
    SERVICE_PATH + "/metrics",
    **operation("getServiceMetrics", "Read a service's metrics", Permission.CLUSTER_READ, gives=ServiceMetricsOut),
)
async def get_service_metrics(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    service: ServiceRef,
    query: MetricsQuery,
) -> Response:
    """Return how many requests the API has forwarded to a service, how many failed, and how long answers took.

    Requests are counted a few seconds after their answer. Those that come by SSH forwarding are not.
    """
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        points = await request_series(
            connection, project_id=scope.project_id, cluster_id=cluster, ref=service, query=query
        )
    return Response(to_json(points), media_type=JSON)
