"""Dunning: reminders of overdue invoices, and restrictions of their account."""

from __future__ import annotations

from uuid import UUID

from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId
from ipucloud.api.v1.money import currency_of
from ipucloud.api.writes import change_platform
from ipucloud.billing.dunning.store import dunning_of, end_dunning, set_dunning
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.accounts import DunningOut, DunningPolicy
from ipucloud.db.statements import Statements
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import FieldError, not_found

routes = router()
_PATH = "/v1/billing/accounts/{account:ref}/dunning"


@routes.get(
    _PATH,
    **operation("getDunning", "Read an account's dunning policy", Permission.ACCOUNT_READ, gives=DunningOut),
)
async def get_dunning(request: Request, account: AccountId) -> Response:
    """Return the account's policy, what is overdue now, and how the account is restricted."""
    async with reading_account(request, account) as connection:
        body = await _shown(request, connection, account)
    return Response(body, media_type=JSON)


@routes.put(
    _PATH,
    **operation("setDunning", "Set an account's dunning policy", Permission.PLATFORM_WRITE, gives=DunningOut),
)
async def put_dunning(request: Request, account: AccountId, body: DunningPolicy) -> Response:
    """Remind of overdue invoices, and restrict the account while they are. Applies to all of its open invoices."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        if body.suspend_after is not None and body.suspend_after < (body.refuse_creates_after or 0):
            sentence = "Suspend no earlier than creates are refused."
            raise invalid([FieldError("/suspend_after", "too_early", sentence)])
        await set_dunning(connection, account, body)
        return Answer(200, await _shown(request, connection, account))

    return await change_platform(request, effect)


@routes.delete(
    _PATH,
    **operation(
        "endDunning",
        "End an account's dunning",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Nothing follows when invoices are overdue",
    ),
)
async def delete_dunning(request: Request, account: AccountId) -> Response:
    """Send no more reminders, and lift the account's restriction. Suspended clusters have to be resumed."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if not await end_dunning(connection, account):
            raise not_found()
        return Answer(204)

    return await change_platform(request, effect)


async def _shown(request: Request, connection: Statements, account: UUID) -> bytes:
    currency = await currency_of(request, connection, account)
    return to_json(await dunning_of(connection, account, currency=currency))
