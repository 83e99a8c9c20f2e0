"""For operators: freezes of removals, what sweeps find, and deletes that do not wait."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.admin import safety
from ipucloud.api.idempotency import Answer
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.operations import ACCEPTED, accepted_in
from ipucloud.api.v1.operator.lists import keyed_list
from ipucloud.api.writes import change_platform
from ipucloud.clusters.operations.force_delete import force_delete, project_of
from ipucloud.contract.operations import OperationOut
from ipucloud.contract.operator_safety import (
    ClusterForceDelete,
    FreezeEnd,
    FreezeList,
    FreezeOut,
    FreezePage,
    FreezeStart,
    SiteFindingList,
    SiteFindingPage,
)
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT
from ipucloud.operations.freezes import Freeze

routes = router()


@routes.get(
    "/v1/operator/freezes",
    **operation("listFreezes", "List freezes", Permission.PLATFORM_READ, gives=FreezePage),
)
async def list_freezes(request: Request, query: FreezeList) -> Response:
    """List when removals were frozen, by whom and why, oldest first."""
    return await keyed_list(request, safety.LIST_FREEZES, query)


@routes.post(
    "/v1/operator/freezes",
    **operation("startFreeze", "Freeze removals", Permission.PLATFORM_WRITE, gives=FreezeOut, status=201),
)
async def start_freeze(request: Request, body: FreezeStart) -> Response:
    """Remove and switch off nothing in a region, or anywhere, until the freeze ends.

    Requests are accepted and billing ends as usual; the steps that remove something wait and say so, and nothing is
    swept or isolated. What a site was asked for already still happens. A live freeze of the same region is replaced.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        freeze = Freeze(body.region, body.reason, body.expires_at, principal.token_id)
        return Answer(201, (await safety.start(connection, freeze, request_id=trace_of(request).request_id)).encode())

    return await change_platform(request, effect)


@routes.post(
    "/v1/operator/freezes/{freeze:uuid}:end",
    **operation("endFreeze", "End a freeze", Permission.PLATFORM_WRITE, gives=FreezeOut, errors=(STATE_CONFLICT,)),
)
async def end_freeze(
    request: Request, freeze: Annotated[UUID, Field(description="Id of the freeze.")], body: FreezeEnd
) -> Response:
    """End a freeze. Steps that waited go on by themselves, at their next check."""

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        request_id = trace_of(request).request_id
        document = await safety.end(
            connection, freeze, reason=body.reason, ended_by=principal.token_id, request_id=request_id
        )
        return Answer(200, document.encode())

    return await change_platform(request, effect)


@routes.get(
    "/v1/operator/site-findings",
    **operation("listSiteFindings", "List what sweeps find at sites", Permission.PLATFORM_READ, gives=SiteFindingPage),
)
async def list_site_findings(request: Request, query: SiteFindingList) -> Response:
    """List where sites and database disagree, as the last sweep found it, and why it left what it did not repair."""
    return await keyed_list(request, safety.LIST_SITE_FINDINGS, query)


@routes.post(
    "/v1/operator/clusters/{cluster:uuid}:force-delete",
    **operation(
        "forceDeleteCluster",
        "Delete a customer's cluster without waiting",
        Permission.PLATFORM_WRITE,
        gives=OperationOut,
        status=202,
        description=ACCEPTED,
    ),
)
async def force_delete_cluster(
    request: Request, cluster: Annotated[UUID, Field(description="Id of the cluster.")], body: ClusterForceDelete
) -> Response:
    """Delete a cluster of any project, protected or not; a delete that is under way no longer waits.

    Hardware that does not answer or has failed is isolated instead of waited for. Network, partitions and allocation
    are removed as in any delete, so the site's network and V-IPU controller must answer.
    """

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        project_id = await project_of(connection, cluster)
        actor = Actor(project_id, principal.token_id, trace_of(request).request_id)
        settings = services_of(request).settings
        begun = await force_delete(connection, actor, cluster, reason=body.reason, settings=settings)
        trace_of(request).concerns(operation_id=begun.operation_id, cluster_id=cluster)
        return await accepted_in(connection, project_id, begun.operation_id, begun.target_id)

    answer = await change_platform(request, effect)
    services_of(request).notifier.poke()
    return answer
