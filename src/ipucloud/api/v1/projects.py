"""Projects: every token reads its own; the platform's administrators make them; and a project at a glance."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, changed_since, expected_version, tag, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import named_behind, named_page
from ipucloud.api.reads import read_one, read_platform, reading
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.money import payer_of, refuse_unprintable
from ipucloud.api.writes import actor, change, change_platform
from ipucloud.billing.budgets.store import Owner, list_budgets
from ipucloud.billing.reports.summary import project_spending
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.clusters.overview import overview
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.contract.budgets import BudgetOut
from ipucloud.contract.projects import (
    OverviewOut,
    OverviewSpendingOut,
    ProjectCreate,
    ProjectList,
    ProjectOut,
    ProjectPage,
    ProjectPatch,
)
from ipucloud.db.documents import list_parameters
from ipucloud.identity import projects
from ipucloud.identity.access import Principal, Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import IN_USE, NAME_TAKEN, PRECONDITION_FAILED, STATE_CONFLICT, Problem
from ipucloud.quotas.store import list_quotas, set_limit

routes = router()


@routes.get("/v1/projects", **operation("listProjects", "List projects", Permission.PROJECT_READ, gives=ProjectPage))
async def list_projects(request: Request, query: ProjectList) -> Response:
    """List the projects visible to the token: its own, or all with a platform role."""
    parameters = list_parameters(query, named_behind(query, request))
    return named_page(query, request, await read_platform(request, projects.LIST_PROJECTS[query.order], **parameters))


@routes.post(
    "/v1/projects",
    **operation(
        "createProject",
        "Create a project",
        Permission.PLATFORM_WRITE,
        gives=ProjectOut,
        status=201,
        description="Created",
        errors=(NAME_TAKEN,),
    ),
)
async def create_project(request: Request, body: ProjectCreate) -> Response:
    """Create a project, without tokens and quota."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refuse_unprintable(body)
        project_id = await projects.create(
            connection, slug=body.slug, name=body.name, request_id=trace_of(request).request_id
        )
        trace_of(request).concerns(project_id=project_id)
        document, version = await projects.project_document(connection, project_id)
        return Answer(
            201, document, {"Location": f"/v1/projects/{project_id}", "ETag": tag(version, document)}, project_id
        )

    return await change_platform(request, effect)


@routes.get(
    "/v1/projects/{project}",
    **operation("getProject", "Read a project", Permission.PROJECT_READ, gives=ProjectOut, headers=(IF_NONE_MATCH,)),
)
async def get_project(request: Request, project: ProjectRef) -> Response:
    """Return a project."""
    document, version = await read_one(request, projects.GET_PROJECT, project)
    return tagged(request, document, version)


@routes.patch(
    "/v1/projects/{project}",
    **operation(
        "updateProject",
        "Rename a project",
        Permission.PLATFORM_WRITE,
        gives=ProjectOut,
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def update_project(request: Request, project: ProjectRef, body: ProjectPatch) -> Response:
    """Change the project's display name. Its slug never changes."""
    if_version = expected_version(request)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        renamed = await projects.rename(connection, actor(request, scope), body.name, if_version=if_version)
        document, version = await projects.project_document(connection, scope.project_id)
        if not renamed:
            raise changed_since(version, document)
        return Answer(200, document, {"ETag": tag(version, document)}, scope.project_id)

    return await change(request, project, effect)


@routes.delete(
    "/v1/projects/{project}",
    **operation(
        "deleteProject",
        "Delete a project",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Deleted",
        errors=(IN_USE,),
    ),
)
async def delete_project(request: Request, project: ProjectRef) -> Response:
    """Delete a project that holds no machines, and revoke its tokens. Its billing data is kept."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await projects.end(connection, actor(request, scope))
        for held in (VOLUMES, ADDRESSES, SNAPSHOTS):
            await held.refuse_if_any(connection, scope.project_id)
        try:
            # A create authorised just before finds no quota left, or its machines are counted here.
            for quota in await list_quotas(connection, project_id=scope.project_id):
                await set_limit(
                    connection,
                    project_id=scope.project_id,
                    region=quota.region,
                    machine_type=quota.machine_type,
                    machines=0,
                )
        except Problem as problem:
            if problem.kind is not STATE_CONFLICT:
                raise
            raise Problem(
                IN_USE, "Delete the project's clusters first, and wait until their machines are clean."
            ) from None
        return Answer(204)

    return await change(request, project, effect)


@routes.get(
    "/v1/projects/{project}/overview",
    **operation("getOverview", "Read a project's overview", Permission.USAGE_READ, gives=OverviewOut),
)
async def get_overview(request: Request, project: ProjectRef) -> Response:
    """Return what the project has and costs: clusters by state, quotas, what needs attention, running operations, the
    latest events, and this month's cost with its budgets. Lists have what is not shown.
    """
    async with reading(request, project, of_payer=True) as (connection, scope):
        facts = await overview(connection, scope.project_id)
        payer = await payer_of(request, connection, scope.project_id)
        spent = await project_spending(connection, scope.project_id, currency=payer.currency)
        budgets = await list_budgets(connection, Owner("project", scope.project_id))
    spending = OverviewSpendingOut(
        month=spent.month,
        accrued=spent.accrued,
        per_hour=spent.per_hour,
        forecast=spent.forecast,
        budgets=[BudgetOut.model_validate_json(each) for each in budgets],
    )
    shown = OverviewOut(**dict(facts), spending=spending)
    return Response(shown.model_dump_json(), media_type=JSON)
