"""Live money: what a project pays, and what its month, or an account's, comes to."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.reads import principal, reading
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import IF_NONE_MATCH, Page, ProjectRef
from ipucloud.api.v1.catalogue import listing
from ipucloud.billing.accounts import store as accounts
from ipucloud.billing.pricing.queries import paid_by
from ipucloud.billing.reports.forecast import account_forecast, project_forecast
from ipucloud.identity.roles import Permission
from ipucloud.kernel.money import Money

routes = router()


class PaidPriceOut(BaseModel):
    """What the project pays in [valid_from, valid_to)."""

    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit: str = Field(description="what the price is for", examples=["machine-minute", "GiB-minute"])
    unit_price: Money = Field(description="per unit, exact")
    list_unit_price: Money = Field(description="what it would be without a contract")
    contract: bool = Field(description="of this account alone")
    account_id: UUID = Field(description="who pays then")
    valid_from: datetime
    valid_to: datetime | None = Field(description="null: until changed")
    source: str = Field(description="who set it")


class PaidPricePage(Page[PaidPriceOut]):
    pass


class ForecastOut(BaseModel):
    """What the running UTC month [since, until) comes to, unrounded; `posted + accruing = so_far`."""

    since: datetime
    until: datetime
    now: datetime
    posted: Money = Field(description="in hours that are closed")
    accruing: Money = Field(description="used since; below 0 while a correction is due")
    so_far: Money
    to_come: Money = Field(description="what runs now, carried on until it expires or the month ends")
    forecast: Money = Field(description="so_far + to_come")
    unpriced_minutes: int = Field(description="minutes without a price, which are in no figure")


@routes.get(
    "/v1/projects/{project}/prices",
    **operation(
        "listProjectPrices",
        "List what the project pays",
        Permission.USAGE_READ,
        gives=PaidPricePage,
        headers=(IF_NONE_MATCH,),
    ),
)
async def list_project_prices(request: Request, project: ProjectRef) -> Response:
    """Prices now and later, of the account that pays then: its contract's where it has one, else the list's."""
    async with reading(request, project) as (connection, scope):
        return listing(request, await paid_by(connection, scope.project_id, catalogue_of(request)))


@routes.get(
    "/v1/projects/{project}/billing/forecast",
    **operation("getProjectForecast", "Forecast the project's month", Permission.USAGE_READ, gives=ForecastOut),
)
async def get_project_forecast(request: Request, project: ProjectRef) -> Response:
    """What the project's clusters come to this month, with known prices and expiries, whoever pays for them."""
    async with reading(request, project) as (connection, scope):
        found = await project_forecast(connection, scope.project_id, currency=services_of(request).settings.currency)
    return Response(to_json(found), media_type=JSON)


@routes.get(
    "/v1/billing/accounts/{account:uuid}/forecast",
    **operation("getAccountForecast", "Forecast an account's month", Permission.PLATFORM_WRITE, gives=ForecastOut),
)
async def get_account_forecast(
    request: Request, account: Annotated[UUID, Path(description="the billing account's id")]
) -> Response:
    """What the account pays for this month, of all its projects."""
    await principal(request)
    currency = services_of(request).settings.currency
    async with services_of(request).database.read() as connection:
        await accounts.account_document(connection, account, currency=currency)
        found = await account_forecast(connection, account, currency=currency)
    return Response(to_json(found), media_type=JSON)
