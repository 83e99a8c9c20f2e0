"""A cluster's topology, and access to its V-IPU controller."""

from __future__ import annotations

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer, shown_once
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import ACCEPTED, accepted
from ipucloud.api.writes import actor, change
from ipucloud.clusters.operations.rotate_key import rotate
from ipucloud.contract.topology import ForPartition, KeyRotate, NewKeyOut, TopologyOut, VipuOut
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NO_VIPU, OPERATION_IN_PROGRESS, STATE_CONFLICT
from ipucloud.partitions.topology import topology, vipu

routes = router()


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/topology",
    **operation(
        "getTopology", "Read a cluster's topology", Permission.CLUSTER_READ, gives=TopologyOut, errors=(NO_VIPU,)
    ),
)
async def get_topology(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Return racks, machines, IPUs, links and partitions; links as last reported by their controller."""
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        layout = await topology(connection, project_id=scope.project_id, cluster_id=cluster)
    return Response(layout.model_dump_json(), media_type=JSON)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}/vipu:rotate-key",
    **operation(
        "rotateVipuKey",
        "Rotate a cluster's V-IPU access key",
        Permission.CLUSTER_WRITE,
        gives=NewKeyOut,
        status=202,
        description=ACCEPTED,
        errors=(NO_VIPU, STATE_CONFLICT, OPERATION_IN_PROGRESS),
    ),
)
async def rotate_vipu_key(request: Request, project: ProjectRef, cluster: ClusterId, body: KeyRotate) -> Response:
    """Create an access key for the cluster's V-IPU user, replacing the one created here before.

    Only this response has its secret; a replay has null instead. The key of the Poplar servers stays valid unless
    `end_server_key` is true.
    """
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        key = await rotate(
            connection,
            actor(request, scope),
            cluster,
            ends_server_key=body.end_server_key,
            settings=services_of(request).settings,
        )
        opened = await accepted(connection, scope, key.operation_id, cluster)
        known = {
            "operation": orjson.Fragment(opened.body),
            "user": key.user,
            "access_key_id": key.id,
            "environment": key.environment,
        }
        return shown_once(opened.status, known, {"access_key": key.secret}, opened.headers, cluster)

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/vipu",
    **operation(
        "getVipu",
        "Read a cluster's V-IPU endpoint",
        Permission.CLUSTER_READ,
        gives=VipuOut,
        errors=(NO_VIPU, STATE_CONFLICT),
    ),
)
async def get_vipu(request: Request, project: ProjectRef, cluster: ClusterId, query: ForPartition) -> Response:
    """Return the controller's address and the environment that lets programs on a Poplar server find a partition."""
    trace_of(request).concerns(cluster_id=cluster)
    async with reading(request, project) as (connection, scope):
        access = await vipu(connection, project_id=scope.project_id, cluster_id=cluster, partition=query.partition)
    return Response(access.model_dump_json(), media_type=JSON)
