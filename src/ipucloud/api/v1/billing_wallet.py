"""What an account has: balance, promotional credits, payments that come in, refunds of a wallet."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from fastapi import Query
from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of_account
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import AccountId, ProjectRef
from ipucloud.api.writes import change, change_platform
from ipucloud.billing.accounts.store import account_of
from ipucloud.billing.invoices import payments
from ipucloud.billing.invoices.credits import credits_of, grant
from ipucloud.billing.ledger.wallet import standing
from ipucloud.contract.lists import Listed
from ipucloud.contract.wallet import (
    BalancesOut,
    CreditCreate,
    CreditOut,
    CreditPage,
    PaymentCreate,
    PaymentOut,
    PaymentPage,
    RefundCreate,
    TopUpCreate,
)
from ipucloud.identity.access import Principal, Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import STATE_CONFLICT

routes = router()


@routes.get(
    "/v1/projects/{project}/billing/balance",
    **operation(
        "getBalance", "Read what the project's account has and owes", Permission.BILLING_READ, gives=BalancesOut
    ),
)
async def get_balance(request: Request, project: ProjectRef) -> Response:
    """Of the account that pays for the project now, up to the last closed hour."""
    async with reading(request, project) as (connection, scope):
        account = await account_of(connection, scope.project_id)
        items = await standing(connection, account, services_of(request).settings.currency)
    return Response(to_json({"account_id": account, "items": items}), media_type=JSON)


@routes.get(
    "/v1/projects/{project}/billing/credits",
    **operation("listCredits", "List promotional credits", Permission.BILLING_READ, gives=CreditPage),
)
async def list_credits(request: Request, project: ProjectRef) -> Response:
    """Of the account that pays for the project now, the one that expires first at the top; 1000 at most."""
    async with reading(request, project) as (connection, scope):
        found = await credits_of(connection, await account_of(connection, scope.project_id))
    return _listed(found)


@routes.post(
    "/v1/projects/{project}/billing/top-ups",
    **operation(
        "topUpWallet",
        "Announce a payment into the wallet",
        Permission.BILLING_WRITE,
        gives=PaymentOut,
        status=201,
        description="Expected",
        errors=(STATE_CONFLICT,),
    ),
)
async def top_up(request: Request, project: ProjectRef, body: TopUpCreate) -> Response:
    """A payment with a reference to name when paying. The wallet is filled when the money has come."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        account = await account_of(connection, scope.project_id)
        return await _paid(connection, await payments.expect_payment(connection, account, body.amount))

    return await change(request, project, effect)


@routes.get(
    "/v1/billing/accounts/{account:uuid}/credits",
    **operation("listAccountCredits", "List an account's credits", Permission.PLATFORM_WRITE, gives=CreditPage),
)
async def list_account_credits(request: Request, account: AccountId) -> Response:
    """The one that expires first at the top; 1000 at most."""
    async with reading_account(request, account) as connection:
        return _listed(await credits_of(connection, account))


@routes.post(
    "/v1/billing/accounts/{account:uuid}/credits",
    **operation(
        "grantCredit",
        "Grant promotional credit",
        Permission.PLATFORM_WRITE,
        gives=CreditOut,
        status=201,
        description="Granted",
    ),
)
async def grant_credit(request: Request, account: AccountId, body: CreditCreate) -> Response:
    """Credit that pays for usage before it expires. What is left then goes back."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        made = await grant(connection, account, body.amount, reason=body.reason, expires_at=body.expires_at)
        [document] = await credits_of(connection, account, id=made)
        return Answer(201, document.encode(), {}, made)

    return await change_platform(request, effect)


@routes.get(
    "/v1/billing/accounts/{account:uuid}/payments",
    **operation("listPayments", "List an account's payments", Permission.PLATFORM_WRITE, gives=PaymentPage),
)
async def list_payments(request: Request, account: AccountId, query: Annotated[Listed, Query()]) -> Response:
    """What came in, what went back, and what is expected."""
    return await list_of_account(request, account, payments.LIST_PAYMENTS, query)


@routes.post(
    "/v1/billing/accounts/{account:uuid}/payments",
    **operation(
        "recordPayment",
        "Record a payment that came in",
        Permission.PLATFORM_WRITE,
        gives=PaymentOut,
        status=201,
        description="Recorded",
        errors=(STATE_CONFLICT,),
    ),
)
async def record_payment(request: Request, account: AccountId, body: PaymentCreate) -> Response:
    """Money on the bank statement: it pays the invoice, and what that does not ask for goes into the wallet.

    A payment that was announced is ended by its reference. The same reference twice is one payment.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        made = await payments.record_payment(
            connection, account, body.amount, reference=body.reference, invoice=body.invoice
        )
        return await _paid(connection, made)

    return await change_platform(request, effect)


@routes.post(
    "/v1/billing/accounts/{account:uuid}/refunds",
    **operation(
        "recordRefund",
        "Record a refund of the wallet",
        Permission.PLATFORM_WRITE,
        gives=PaymentOut,
        status=201,
        description="Recorded",
        errors=(STATE_CONFLICT,),
    ),
)
async def record_refund(request: Request, account: AccountId, body: RefundCreate) -> Response:
    """Money of the wallet that was paid back; never more than it holds. The same reference twice is one refund."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        made = await payments.record_refund(connection, account, body.amount, reference=body.reference)
        return await _paid(connection, made)

    return await change_platform(request, effect)


async def _paid(connection: AsyncConnection, payment: UUID) -> Answer:
    return Answer(201, await payments.payment_document(connection, payment), {}, payment)


def _listed(documents: object) -> Response:
    items = [orjson.Fragment(each) for each in documents] if isinstance(documents, list) else []
    return Response(orjson.dumps({"items": items, "next_cursor": None}), media_type=JSON)
