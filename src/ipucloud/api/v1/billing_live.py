"""A project's prices, and forecasts for projects and accounts."""

from __future__ import annotations

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import IF_NONE_MATCH, AccountId, ProjectRef
from ipucloud.api.v1.catalogue import listing
from ipucloud.billing.pricing.queries import paid_by
from ipucloud.billing.reports.forecast import account_forecast, project_forecast
from ipucloud.contract.prices import PaidPricePage
from ipucloud.contract.reports import ForecastOut
from ipucloud.identity.roles import Permission

routes = router()


@routes.get(
    "/v1/projects/{project}/prices",
    **operation(
        "listProjectPrices",
        "List the project's prices",
        Permission.USAGE_READ,
        gives=PaidPricePage,
        headers=(IF_NONE_MATCH,),
    ),
)
async def list_project_prices(request: Request, project: ProjectRef) -> Response:
    """List current and future prices of the account that pays then: its contract prices, else list prices."""
    async with reading(request, project) as (connection, scope):
        return listing(request, await paid_by(connection, scope.project_id, catalogue_of(request)))


@routes.get(
    "/v1/projects/{project}/billing/forecast",
    **operation("getProjectForecast", "Forecast the project's month", Permission.USAGE_READ, gives=ForecastOut),
)
async def get_project_forecast(request: Request, project: ProjectRef) -> Response:
    """Forecast this month's cost of the project's clusters from known prices and expiries, whichever account pays."""
    async with reading(request, project) as (connection, scope):
        found = await project_forecast(connection, scope.project_id, currency=services_of(request).settings.currency)
    return Response(to_json(found), media_type=JSON)


@routes.get(
    "/v1/billing/accounts/{account:uuid}/forecast",
    **operation("getAccountForecast", "Forecast an account's month", Permission.PLATFORM_WRITE, gives=ForecastOut),
)
async def get_account_forecast(request: Request, account: AccountId) -> Response:
    """Forecast this month's cost of all projects that the account pays for."""
    async with reading_account(request, account) as connection:
        found = await account_forecast(connection, account, currency=services_of(request).settings.currency)
    return Response(to_json(found), media_type=JSON)
