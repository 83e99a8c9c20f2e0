"""Serial consoles of Poplar servers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.contract.poplar_servers import ConsoleOut, ConsoleQuery
from ipucloud.identity.roles import Permission
from ipucloud.programs.consoles.queries import GET_CONSOLE

routes = router()


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/poplar-servers/{poplar_server:ref}/console",
    **operation("getConsole", "Read a Poplar server's console", Permission.CLUSTER_READ, gives=ConsoleOut),
)
async def get_console(
    request: Request,
    project: ProjectRef,
    cluster: ClusterId,
    poplar_server: Annotated[str, Field(description="Name or id of the Poplar server.", examples=["bert-p0"])],
    query: ConsoleQuery,
) -> Response:
    """Return what the server wrote to its serial console in one boot, and its last boots.

    It is there while the server is off, and after the cluster was deleted. Programs may have written anything to it.
    """
    trace_of(request).concerns(cluster_id=cluster)
    document, _ = await read_one(
        request, GET_CONSOLE, project, cluster_id=cluster, ref=str(poplar_server), boot=query.boot
    )
    return Response(document, media_type=JSON)
