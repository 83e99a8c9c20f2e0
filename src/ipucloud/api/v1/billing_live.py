"""A project's prices, and summaries of a month for projects and accounts."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.services import catalogue_of
from ipucloud.api.shapes import IF_NONE_MATCH, AccountId, ProjectRef
from ipucloud.api.v1.catalogue import prices_listing
from ipucloud.api.v1.money import currency_of, payer_of
from ipucloud.billing.budgets.store import Owner, budgets_of_month
from ipucloud.billing.invoices.calculation import expected
from ipucloud.billing.invoices.tax import Tax
from ipucloud.billing.ledger.transfers import balances_shown
from ipucloud.billing.pricing.queries import paid_by
from ipucloud.billing.reports.summary import account_spending, project_spending
from ipucloud.billing.reports.unusual import unusual_days
from ipucloud.contract.prices import PaidPricePage, PriceList
from ipucloud.contract.reports import ExpectedTaxOut, SpendingOut, SummaryOut, SummaryQuery
from ipucloud.db.statements import Statements
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import FieldError
from ipucloud.kernel.money import plain

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
async def list_project_prices(request: Request, project: ProjectRef, query: PriceList) -> Response:
    """List current and future prices of the account that pays then: its contract prices, else list prices."""
    async with reading(request, project, of_payer=True) as (connection, scope):
        prices = await paid_by(connection, scope.project_id, catalogue_of(request))
    return prices_listing(request, query, prices)


@routes.get(
    "/v1/projects/{project}/billing/summary",
    **operation("getProjectSummary", "Summarise a project's cost in a month", Permission.USAGE_READ, gives=SummaryOut),
)
async def get_project_summary(request: Request, project: ProjectRef, query: SummaryQuery) -> Response:
    """Return what the project cost in a month so far, on what, the forecast for its end, and what is left to pay it.

    The same time of the month before is beside each figure.
    Prices and expiries that are known apply from when they begin. Clusters that are not billed yet are not included.
    """
    async with reading(request, project, of_payer=True) as (connection, scope):
        account, currency = await payer_of(request, connection, scope.project_id)
        spent = await project_spending(connection, scope.project_id, month=_month(query), currency=currency)
        return await _summary(connection, spent, account, Owner("project", scope.project_id))


@routes.get(
    "/v1/billing/accounts/{account:ref}/summary",
    **operation(
        "getAccountSummary", "Summarise an account's cost in a month", Permission.ACCOUNT_READ, gives=SummaryOut
    ),
)
async def get_account_summary(request: Request, account: AccountId, query: SummaryQuery) -> Response:
    """Return what all projects of the account cost in a month so far, and the forecast for its end."""
    async with reading_account(request, account) as connection:
        currency = await currency_of(request, connection, account)
        spent = await account_spending(connection, account, month=_month(query), currency=currency)
        return await _summary(connection, spent, account, Owner("account", account))


def _month(query: SummaryQuery) -> date | None:
    return None if query.month is None else date.fromisoformat(f"{query.month}-01")


async def _summary(connection: Statements, spent: SpendingOut, account: UUID, owner: Owner) -> Response:
    if spent.since > spent.observed_at:
        raise invalid([FieldError("?month", "not_begun", "The month has not begun: choose the current or a past one.")])
    currency = spent.accrued.currency
    tax, credit = await expected(connection, account, currency=currency)
    days = await unusual_days(
        connection,
        since=spent.since,
        until=min(spent.until, spent.posted_until or spent.since),
        currency=currency,
        project_id=owner.id if owner.kind == "project" else None,
        account_id=owner.id if owner.kind == "account" else None,
    )
    summary = SummaryOut(
        **dict(spent),
        credit=credit,
        tax=tax and _tax(tax, spent),
        balances=await balances_shown(connection, account, currency),
        budgets=await budgets_of_month(connection, owner, spent),
        unusual_days=days,
    )
    return Response(to_json(summary), media_type=JSON)


def _tax(tax: Tax, spent: SpendingOut) -> ExpectedTaxOut:
    return ExpectedTaxOut(
        treatment=tax.treatment,
        name=tax.name,
        rate=plain(tax.rate),
        on_accrued=(spent.accrued * tax.rate).rounded(),
        on_forecast=(spent.forecast * tax.rate).rounded(),
    )
