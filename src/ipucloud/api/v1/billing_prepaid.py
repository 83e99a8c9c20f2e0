"""Prepaid accounts: their funds, and the policy for when these are exhausted."""

from __future__ import annotations

from uuid import UUID

from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import AccountId, ProjectRef
from ipucloud.api.v1.money import currency_of, payer_of
from ipucloud.api.writes import change_platform
from ipucloud.billing.accounts.store import refuse_other_currency
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.billing.prepaid.funds import end_prepaid, funds_of, set_prepaid
from ipucloud.billing.prepaid.top_ups import end_top_up, set_top_up, shown_policy
from ipucloud.contract.wallet import FundsOut, PrepaidPolicy, TopUpPolicy
from ipucloud.db.statements import Statements
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT, FieldError, not_found

routes = router()


@routes.get(
    "/v1/projects/{project}/billing/funds",
    **operation("getProjectFunds", "Read the funds of the project's account", Permission.USAGE_READ, gives=FundsOut),
)
async def get_project_funds(request: Request, project: ProjectRef) -> Response:
    """Return the funds of the account that pays for the project now."""
    async with reading(request, project, of_payer=True) as (connection, scope):
        account, currency = await payer_of(request, connection, scope.project_id)
        body = await _shown(request, connection, account, currency)
    return Response(body, media_type=JSON)


@routes.get(
    "/v1/billing/accounts/{account:ref}/prepaid",
    **operation("getPrepaid", "Read an account's funds", Permission.ACCOUNT_READ, gives=FundsOut),
)
async def get_prepaid(request: Request, account: AccountId) -> Response:
    """Return the account's funds, whether it is prepaid or not."""
    async with reading_account(request, account) as connection:
        body = await _funds(request, connection, account)
    return Response(body, media_type=JSON)


@routes.put(
    "/v1/billing/accounts/{account:ref}/prepaid",
    **operation("setPrepaid", "Make an account prepaid", Permission.PLATFORM_WRITE, gives=FundsOut),
)
async def put_prepaid(request: Request, account: AccountId, body: PrepaidPolicy) -> Response:
    """Make the account prepaid from now on. Its funds are checked every minute."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        currency = await currency_of(request, connection, account)
        await set_prepaid(
            connection, account, currency=currency, when_empty=body.when_empty, warn_hours=body.warn_hours
        )
        return Answer(200, await _funds(request, connection, account))

    return await change_platform(request, effect)


@routes.delete(
    "/v1/billing/accounts/{account:ref}/prepaid",
    **operation(
        "endPrepaid",
        "End an account's prepayment",
        Permission.PLATFORM_WRITE,
        status=204,
        description="The account is no longer prepaid",
    ),
)
async def delete_prepaid(request: Request, account: AccountId) -> Response:
    """Release holds and stop refusing requests for lack of funds. The wallet stays and pays invoices first."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if not await end_prepaid(connection, account):
            raise not_found()
        return Answer(204)

    return await change_platform(request, effect)


@routes.put(
    "/v1/billing/accounts/{account:ref}/prepaid/top-up",
    **operation(
        "setTopUp",
        "Top an account up automatically",
        Permission.PLATFORM_WRITE,
        gives=FundsOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def put_top_up(request: Request, account: AccountId, body: TopUpPolicy) -> Response:
    """Top a prepaid account up whenever its funds reach the level. A paused policy is resumed."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        _check(body, await currency_of(request, connection, account))
        await set_top_up(connection, account, body)
        return Answer(200, await _funds(request, connection, account))

    return await change_platform(request, effect)


@routes.delete(
    "/v1/billing/accounts/{account:ref}/prepaid/top-up",
    **operation(
        "endTopUp",
        "End an account's automatic top-ups",
        Permission.PLATFORM_WRITE,
        status=204,
        description="The account is topped up no more",
    ),
)
async def delete_top_up(request: Request, account: AccountId) -> Response:
    """Request no more top-ups. One that is under way may still come in."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        if not await end_top_up(connection, account):
            raise not_found()
        return Answer(204)

    return await change_platform(request, effect)


def _check(policy: TopUpPolicy, currency: str) -> None:
    """Raise `Problem` validation_failed."""
    for field in ("amount", "below", "month_limit"):
        money = getattr(policy, field)
        if money is not None:
            refuse_other_currency(money.currency, currency, field=field)
    if (policy.below is None) == (policy.below_hours is None):
        raise invalid([FieldError("/below", "one_level", "Give either `below` or `below_hours`.")])
    if policy.month_limit.amount < policy.amount.amount:
        raise invalid([FieldError("/month_limit/amount", "limit_too_low", "Allow at least one top-up in a month.")])


async def _funds(request: Request, connection: Statements, account: UUID) -> bytes:
    return await _shown(request, connection, account, await currency_of(request, connection, account))


async def _shown(request: Request, connection: Statements, account: UUID, currency: str) -> bytes:
    minutes = services_of(request).settings.prepaid_hold_minutes
    funds = await funds_of(connection, account, currency=currency, hold_minutes=minutes)
    return to_json(funds.model_copy(update={"top_up": await shown_policy(connection, account)}))
