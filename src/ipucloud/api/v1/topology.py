"""What a cluster is made of, and how its V-IPU controller is reached."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NO_VIPU
from ipucloud.partitions.models import TopologyOut, VipuOut
from ipucloud.partitions.topology import topology, vipu

routes = router()


class ForPartition(BaseModel):
    partition: str | None = Field(None, description="name or id of the partition that the environment is to name")


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:uuid}/topology",
    **operation(
        "getTopology", "Read a cluster's topology", Permission.CLUSTER_READ, gives=TopologyOut, errors=(NO_VIPU,)
    ),
)
async def get_topology(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Racks, machines, IPUs, links and partitions. A link is as well as the machines at its ends are said to be."""
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        found = await topology(connection, project_id=scope.project_id, cluster_id=cluster)
    return Response(found.model_dump_json(), media_type=JSON)


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:uuid}/vipu",
    **operation(
        "getVipu", "Read a cluster's V-IPU end-point", Permission.CLUSTER_READ, gives=VipuOut, errors=(NO_VIPU,)
    ),
)
async def get_vipu(
    request: Request, project: ProjectRef, cluster: ClusterId, query: Annotated[ForPartition, Query()]
) -> Response:
    """Where the controller answers, and what to set so that programs on a Poplar server find a partition."""
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        found = await vipu(connection, project_id=scope.project_id, cluster_id=cluster, partition=query.partition)
    return Response(found.model_dump_json(), media_type=JSON)
