"""Operations on an existing cluster: delete, suspend, resume, repair, resize, restart, rebuild."""

from __future__ import annotations

from functools import partial
from typing import Protocol
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import current_tag, expected_version
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import accepted, begins
from ipucloud.api.writes import actor, change
from ipucloud.clusters.operations.delete import delete
from ipucloud.clusters.operations.rebuild import rebuild
from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.clusters.operations.resize import resize
from ipucloud.clusters.operations.restart import restart
from ipucloud.clusters.operations.resume import resume
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.clusters.queries import cluster_document
from ipucloud.clusters.resize_estimate import estimate_resize
from ipucloud.config import Settings
from ipucloud.contract.clusters import (
    ClusterRebuild,
    ClusterResize,
    ClusterRestart,
    ClusterResume,
)
from ipucloud.contract.estimates import ResizeEstimateOut
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    CAPACITY_EXHAUSTED,
    COST_LIMIT_REACHED,
    DELETE_PROTECTED,
    FUNDS_EXHAUSTED,
    OPERATION_IN_PROGRESS,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
)
from ipucloud.operations.store import Accepted


class Begin(Protocol):
    """Begins an operation on an existing cluster."""

    async def __call__(
        self, connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, if_match: int | None, settings: Settings
    ) -> Accepted: ...


_AT_ONCE = ClusterResume()
_RESTARTED = (
    BUDGET_REACHED,
    CAPACITY_EXHAUSTED,
    COST_LIMIT_REACHED,
    FUNDS_EXHAUSTED,
    OPERATION_IN_PROGRESS,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
)
"""Why a cluster may not be given machines again."""
routes = router()


@routes.delete(
    "/v1/projects/{project}/clusters/{cluster:ref}",
    **begins("deleteCluster", "Delete a cluster", DELETE_PROTECTED),
)
async def delete_cluster(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Delete a cluster in any state, with its data. Billing ends immediately.

    Open operations, also on its partitions, fail with `preempted`. A repeated request returns the running delete.
    """
    return await _begun(request, project, cluster, delete)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:suspend",
    **begins("suspendCluster", "Suspend a cluster", OPERATION_IN_PROGRESS, STATE_CONFLICT),
)
async def suspend_cluster(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Release an active cluster's machines and keep its Poplar servers, switched off. Billing ends immediately.

    All partitions are removed, including your own. A repeated request returns the running suspend.
    """
    return await _begun(request, project, cluster, suspend)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:resume",
    **begins("resumeCluster", "Resume a cluster", *_RESTARTED),
)
async def resume_cluster(
    request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterResume = _AT_ONCE
) -> Response:
    """Reserve machines for a suspended cluster and restart it with its existing servers.

    It costs nothing until it is `active` again. If resuming fails or is cancelled, the cluster stays suspended. With
    `wait_for_capacity` it stays suspended until there are machines for it. A repeated request returns the running
    resume.
    """
    may_wait = MayWait(body.wait_for_capacity, body.wait_until)
    return await _begun(request, project, cluster, partial(resume, may_wait=may_wait))


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:repair",
    **begins("repairCluster", "Repair a cluster", CAPACITY_EXHAUSTED, OPERATION_IN_PROGRESS, STATE_CONFLICT),
)
async def repair_cluster(request: Request, project: ProjectRef, cluster: ClusterId) -> Response:
    """Take other hardware for what has failed, and restart the cluster with its Poplar servers and partitions.

    Not billed until it is `active` again. A server whose host has failed is built again on another host, without the
    data on its disk. Cannot be cancelled. If it fails, the cluster is suspended. A repeated request returns the running
    repair.
    """
    return await _begun(request, project, cluster, replace_hardware)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:estimate-resize",
    **operation(
        "estimateClusterResize",
        "Estimate a resize",
        Permission.CLUSTER_READ,
        gives=ResizeEstimateOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def estimate_cluster_resize(
    request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterResize
) -> Response:
    """Estimate a resize: price, time, quota, room, and what becomes of the partitions. Nothing is reserved."""
    trace_of(request).concerns(cluster_id=cluster)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        quote = await estimate_resize(
            connection,
            actor(request, scope),
            cluster,
            flavor=body.flavor,
            catalogue=catalogue_of(request),
            settings=services_of(request).settings,
        )
        return Answer(200, quote.model_dump_json().encode())

    return await change(request, project, effect)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:resize",
    **begins("resizeCluster", "Resize a cluster", *_RESTARTED),
)
async def resize_cluster(request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterResize) -> Response:
    """Give a cluster in use more or fewer machines of its type. It is restarted, and not billed until it is active.

    Poplar servers keep disk, address and host key; partitions that fit are made again. A resize that fails or is
    cancelled restores the former size. With `wait_for_capacity` the cluster stays in use, and is billed as before,
    until there are machines for it. A repeated request for the same flavor returns the running resize.
    """
    may_wait = MayWait(body.wait_for_capacity, body.wait_until)
    begun = partial(resize, flavor=body.flavor, catalogue=catalogue_of(request), may_wait=may_wait)
    return await _begun(request, project, cluster, begun)


_ALL_SERVERS = ClusterRestart()


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:reboot",
    **begins("rebootCluster", "Reboot Poplar servers", OPERATION_IN_PROGRESS, STATE_CONFLICT),
)
async def reboot_cluster(
    request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterRestart = _ALL_SERVERS
) -> Response:
    """Restart a cluster's Poplar servers, or some of them, by their operating system.

    Programs on them end; disks, addresses, host keys and partitions stay, and billing continues. Each server restarts
    at most once. A repeated request for the same servers returns the running operation.
    """
    return await _begun(request, project, cluster, partial(restart, servers=body.poplar_servers, hard=False))


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:power-cycle",
    **begins("powerCycleCluster", "Power-cycle Poplar servers", OPERATION_IN_PROGRESS, STATE_CONFLICT),
)
async def power_cycle_cluster(
    request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterRestart = _ALL_SERVERS
) -> Response:
    """The same by cutting their power, for servers that do not answer. What was not yet written to disk is lost."""
    return await _begun(request, project, cluster, partial(restart, servers=body.poplar_servers, hard=True))


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:rebuild",
    **begins("rebuildCluster", "Rebuild Poplar servers", OPERATION_IN_PROGRESS, STATE_CONFLICT),
)
async def rebuild_cluster(request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterRebuild) -> Response:
    """Write a cluster's Poplar servers again, with another image, other user data or SSH keys. **Data is lost.**

    `disk` says how much: `keep` keeps `/home`, `wipe` nothing. Machines, partitions and addresses stay. The cluster is
    `rebuilding` and not billed until it is `active` again; with some of its servers only, it stays in use. A cancelled
    rebuild that has begun to write is finished. A repeated request returns the running operation.
    """
    return await _begun(request, project, cluster, partial(rebuild, body=body, catalogue=catalogue_of(request)))


async def _begun(request: Request, project: str, cluster: UUID, begin: Begin) -> Response:
    """202 with the operation that `begin` opened or found open."""
    trace_of(request).concerns(cluster_id=cluster)
    if_match = expected_version(request)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        read_back = partial(cluster_document, connection, project_id=scope.project_id, cluster_id=cluster)
        async with current_tag(read_back):
            begun = await begin(
                connection,
                actor(request, scope),
                cluster,
                if_match=if_match,
                settings=services_of(request).settings,
            )
        return await accepted(connection, scope, begun.operation_id, begun.target_id)

    return await change(request, project, effect)
