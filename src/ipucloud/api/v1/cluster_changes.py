"""Clusters: estimate, create, change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import current_tag, expected_version, tag
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import IF_MATCH, ClusterId, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import ACCEPTED, accepted
from ipucloud.api.writes import actor, change
from ipucloud.clusters.estimate import estimate, warnings_of
from ipucloud.clusters.operations.create import create
from ipucloud.clusters.queries import cluster_document
from ipucloud.clusters.repairs.reschedule import reschedule
from ipucloud.clusters.update import update
from ipucloud.contract.clusters import (
    ClusterCreate,
    ClusterOut,
    ClusterPatch,
)
from ipucloud.contract.estimates import ClusterCreationOut, EstimateOut
from ipucloud.contract.repairs import RepairReschedule
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission, Rights
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    CAPACITY_EXHAUSTED,
    COST_LIMIT_REACHED,
    FUNDS_EXHAUSTED,
    NAME_TAKEN,
    OPERATION_IN_PROGRESS,
    PAYMENT_OVERDUE,
    PERMISSION_DENIED,
    PRECONDITION_FAILED,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    Problem,
)


class Apply(Protocol):
    """Changes an existing cluster; returns its version afterwards."""

    async def __call__(
        self, connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, if_match: int | None
    ) -> int: ...


routes = router()


@routes.post(
    "/v1/projects/{project}/clusters:estimate",
    **operation(
        "estimateCluster", "Estimate a cluster", Permission.CLUSTER_READ, gives=EstimateOut, errors=(STATE_CONFLICT,)
    ),
)
async def estimate_cluster(request: Request, project: ProjectRef, body: ClusterCreate) -> Response:
    """Estimate a cluster's cost and creation time, and whether quota and capacity allow it now.

    The body is that of a create. Nothing is reserved.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        catalogue, settings = catalogue_of(request), services_of(request).settings
        quote = await estimate(connection, actor(request, scope), body, catalogue=catalogue, settings=settings)
        return Answer(200, quote.model_dump_json().encode())

    return await change(request, project, effect)


@routes.post(
    "/v1/projects/{project}/clusters",
    **operation(
        "createCluster",
        "Create a cluster",
        Permission.CLUSTER_WRITE,
        gives=ClusterCreationOut,
        status=202,
        description=ACCEPTED,
        errors=(
            NAME_TAKEN,
            QUOTA_EXCEEDED,
            CAPACITY_EXHAUSTED,
            COST_LIMIT_REACHED,
            BUDGET_REACHED,
            FUNDS_EXHAUSTED,
            PAYMENT_OVERDUE,
            STATE_CONFLICT,
        ),
    ),
)
async def create_cluster(request: Request, project: ProjectRef, body: ClusterCreate) -> Response:
    """Reserve machines and start creating a cluster on them.

    The cluster is listed as `creating` immediately. It costs nothing until it is first `active`. Poll the operation
    until it is done.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        catalogue, settings = catalogue_of(request), services_of(request).settings
        creation = await create(connection, actor(request, scope), body, catalogue=catalogue, settings=settings)
        trace_of(request).concerns(cluster_id=creation.target_id)
        answer = await accepted(connection, scope, creation.operation_id, creation.target_id)
        warnings = [each.model_dump() for each in warnings_of(body, settings)]
        return replace(answer, body=orjson.dumps({**orjson.loads(answer.body), "warnings": warnings}))

    return await change(request, project, effect)


@routes.patch(
    "/v1/projects/{project}/clusters/{cluster:ref}",
    **operation(
        "updateCluster",
        "Change a cluster",
        Permission.CLUSTER_WRITE,
        gives=ClusterOut,
        errors=(NAME_TAKEN, OPERATION_IN_PROGRESS, STATE_CONFLICT, PRECONDITION_FAILED),
        headers=(IF_MATCH,),
    ),
)
async def update_cluster(request: Request, project: ProjectRef, cluster: ClusterId, body: ClusterPatch) -> Response:
    """Change name, tags, deletion protection, expiry, repairs or SSH keys. Omitted fields stay unchanged.

    `tags` and `ssh_keys` replace all. New keys are brought to the servers of a cluster in use by an operation
    (`cluster.update-keys`), which the answer shows; a suspended one gets them when it is resumed. Sessions that are
    open stay open.
    """
    sealing = services_of(request).settings.sealing_keys()

    def check(rights: Rights) -> None:
        if body.s3_connections is not None and rights.clusters is not None:
            raise Problem(
                PERMISSION_DENIED,
                "This token is limited to clusters, and S3 connections belong to the project. Attach them with a token"
                " that is not limited.",
            )

    return await _changed(request, project, cluster, partial(update, body=body, sealing=sealing), check)


@routes.post(
    "/v1/projects/{project}/clusters/{cluster:ref}:reschedule-repair",
    **operation(
        "rescheduleRepair",
        "Reschedule a cluster's repair",
        Permission.CLUSTER_WRITE,
        gives=ClusterOut,
        errors=(OPERATION_IN_PROGRESS, PRECONDITION_FAILED, STATE_CONFLICT),
        headers=(IF_MATCH,),
    ),
)
async def reschedule_repair(
    request: Request, project: ProjectRef, cluster: ClusterId, body: RepairReschedule
) -> Response:
    """Choose another time for the scheduled repair: in the future, and not after its `latest_at`."""
    return await _changed(request, project, cluster, partial(reschedule, starts_at=body.starts_at))


async def _changed(
    request: Request, project: str, cluster: UUID, apply: Apply, check: Callable[[Rights], None] = lambda _: None
) -> Response:
    """200 with the cluster after `apply` changed it. `check` raises `Problem` if these rights do not suffice."""
    trace_of(request).concerns(cluster_id=cluster)
    if_match = expected_version(request)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        check(scope.rights)
        read_back = partial(cluster_document, connection, project_id=scope.project_id, cluster_id=cluster)
        async with current_tag(read_back):
            version = await apply(connection, actor(request, scope), cluster, if_match=if_match)
        document = (await cluster_document(connection, project_id=scope.project_id, cluster_id=cluster)).encode()
        return Answer(200, document, {"ETag": tag(version, document)}, cluster)

    return await change(request, project, effect)
