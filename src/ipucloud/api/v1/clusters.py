"""Clusters: list, read."""

from __future__ import annotations

from uuid import UUID

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, tagged
from ipucloud.api.paging import named_list_of, prefixed
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_NONE_MATCH, ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.clusters.queries import GET_CLUSTER, LIST_CLUSTERS
from ipucloud.contract.clusters import (
    TAG,
    ClusterList,
    ClusterOut,
    ClusterPage,
    MachinePage,
    ServerPage,
)
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}",
    **operation("getCluster", "Read a cluster", Permission.CLUSTER_READ, gives=ClusterOut, headers=(IF_NONE_MATCH,)),
)
async def get_cluster(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Return a cluster with its machines, Poplar servers, cost so far and open operation, even if deleted."""
    trace_of(request).concerns(cluster_id=cluster)
    document, version = await read_one(request, GET_CLUSTER, project, cluster_id=cluster)
    return tagged(request, document, version)


@routes.get(
    "/v1/projects/{project}/clusters",
    **operation("listClusters", "List clusters", Permission.CLUSTER_READ, gives=ClusterPage, by_cluster=True),
)
async def list_clusters(request: Request, project: ProjectRef, query: ClusterList) -> Response:
    """List the project's clusters. `tag.<key>=<value>` filters by tag and can be repeated."""
    tags = prefixed(request, TAG)
    return await named_list_of(
        request, project, LIST_CLUSTERS, query, tags=orjson.dumps(tags).decode() if tags else None
    )


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/poplar-servers",
    **operation("listPoplarServers", "List a cluster's Poplar servers", Permission.CLUSTER_READ, gives=ServerPage),
)
async def list_poplar_servers(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """List the cluster's Poplar servers with their SSH host keys."""
    return await _members(request, project, cluster, "poplar_servers")


@routes.get(
    "/v1/projects/{project}/clusters/{cluster:ref}/machines",
    **operation("listMachines", "List a cluster's machines", Permission.CLUSTER_READ, gives=MachinePage),
)
async def list_machines(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """List the cluster's IPU machines with their position and health."""
    return await _members(request, project, cluster, "machines")


async def _members(request: Request, project: str, cluster: UUID, member: str) -> Response:
    trace_of(request).concerns(cluster_id=cluster)
    document, _ = await read_one(request, GET_CLUSTER, project, cluster_id=cluster)
    return Response(orjson.dumps({"items": orjson.loads(document)[member], "next_cursor": None}), media_type=JSON)
