"""A project at a glance."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import reading
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.v1.payers import payer_of
from ipucloud.billing.budgets.store import Owner, list_budgets
from ipucloud.billing.reports.summary import project_spending
from ipucloud.clusters.overview import overview
from ipucloud.contract.budgets import BudgetOut
from ipucloud.contract.overview import OverviewOut, OverviewSpendingOut
from ipucloud.identity.roles import Permission

routes = router()


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
