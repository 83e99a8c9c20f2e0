"""Prepaid accounts: their funds, and the policy for when these are exhausted."""

from __future__ import annotations

from uuid import UUID

from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import AccountId, ProjectRef
from ipucloud.api.v1.payers import currency_of, payer_of
from ipucloud.api.writes import change_platform
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.billing.prepaid.funds import funds_of
from ipucloud.billing.prepaid.store import end_prepaid, set_prepaid
from ipucloud.contract.wallet import FundsOut, PrepaidPolicy
from ipucloud.db.statements import Statements
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import not_found

routes = router()


@routes.get(
    "/v1/projects/{project}/billing/funds",
    **operation("getProjectFunds", "Read the funds of the project's account", Permission.USAGE_READ, gives=FundsOut),
)
async def get_project_funds(request: Request, project: ProjectRef) -> Response:
    """Return the funds of the account that pays for the project now."""
    async with reading(request, project) as (connection, scope):
        account, currency = await payer_of(request, connection, scope.project_id)
        body = to_json(await funds_of(connection, account, currency=currency, hold_minutes=_hold_minutes(request)))
    return Response(body, media_type=JSON)


@routes.get(
    "/v1/billing/accounts/{account:ref}/prepaid",
    **operation("getPrepaid", "Read an account's funds", Permission.PLATFORM_WRITE, gives=FundsOut),
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


async def _funds(request: Request, connection: Statements, account: UUID) -> bytes:
    currency = await currency_of(request, connection, account)
    return to_json(await funds_of(connection, account, currency=currency, hold_minutes=_hold_minutes(request)))


def _hold_minutes(request: Request) -> int:
    return services_of(request).settings.prepaid_hold_minutes
