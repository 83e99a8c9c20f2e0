"""An account's balances, promotional credits, payments and refunds."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from pydantic import Field
from pydantic_core import to_json
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer, Moves
from ipucloud.api.paging import list_of_account
from ipucloud.api.reads import reading, reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId, ProjectRef
from ipucloud.api.v1.money import currency_of, payer_of
from ipucloud.api.writes import change, change_platform
from ipucloud.billing.accounts.store import account_of, refuse_other_currency
from ipucloud.billing.invoices import payments
from ipucloud.billing.invoices.credits import credit_document, credits_of, grant
from ipucloud.billing.invoices.reversals import reverse_payment, taken_back
from ipucloud.billing.ledger.transfers import balances_shown
from ipucloud.billing.prepaid.top_ups import pause_after_reversal
from ipucloud.contract.wallet import (
    BalancesOut,
    CreditCreate,
    CreditOut,
    CreditPage,
    PaymentCreate,
    PaymentFailure,
    PaymentList,
    PaymentOut,
    PaymentPage,
    RefundCreate,
    ReversalCreate,
    TopUpCreate,
)
from ipucloud.identity.access import Principal, Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import IDEMPOTENCY_KEY_REQUIRED, STATE_CONFLICT, Problem

routes = router()
_PAYS = Moves("payment_id", payments.payment_document)
_GRANTS = Moves("credit_id", credit_document)


@routes.get(
    "/v1/projects/{project}/billing/balance",
    **operation("getBalance", "Read the balance of the project's account", Permission.BILLING_READ, gives=BalancesOut),
)
async def get_balance(request: Request, project: ProjectRef) -> Response:
    """Return the balances of the account that pays for the project now, up to the last closed hour."""
    async with reading(request, project, of_payer=True) as (connection, scope):
        account, currency = await payer_of(request, connection, scope.project_id)
        items = await balances_shown(connection, account, currency)
    return Response(to_json({"account_id": account, "items": items}), media_type=JSON)


@routes.get(
    "/v1/projects/{project}/billing/credits",
    **operation("listCredits", "List promotional credits", Permission.BILLING_READ, gives=CreditPage),
)
async def list_credits(request: Request, project: ProjectRef) -> Response:
    """List credits of the account that pays for the project now, in order of expiry; at most 1000."""
    async with reading(request, project, of_payer=True) as (connection, scope):
        documents = await credits_of(connection, await account_of(connection, scope.project_id))
    return _listed(documents)


@routes.post(
    "/v1/projects/{project}/billing/top-ups",
    **operation(
        "topUpWallet",
        "Announce a wallet payment",
        Permission.BILLING_WRITE,
        gives=PaymentOut,
        status=201,
        description="Expected",
        errors=(STATE_CONFLICT, IDEMPOTENCY_KEY_REQUIRED),
    ),
)
async def top_up(request: Request, project: ProjectRef, body: TopUpCreate) -> Response:
    """Create a pending payment and its reference. The wallet is credited when the money arrives."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        account, currency = await payer_of(request, connection, scope.project_id)
        refuse_other_currency(body.amount.currency, currency)
        return await _paid(connection, await payments.expect_payment(connection, account, body.amount))

    return await change(request, project, effect, moves=_PAYS)


@routes.get(
    "/v1/billing/accounts/{account:ref}/credits",
    **operation("listAccountCredits", "List an account's credits", Permission.ACCOUNT_READ, gives=CreditPage),
)
async def list_account_credits(request: Request, account: AccountId) -> Response:
    """List the account's credits in order of expiry; at most 1000."""
    async with reading_account(request, account) as connection:
        return _listed(await credits_of(connection, account))


@routes.post(
    "/v1/billing/accounts/{account:ref}/credits",
    **operation(
        "grantCredit",
        "Grant promotional credit",
        Permission.PLATFORM_WRITE,
        gives=CreditOut,
        status=201,
        description="Granted",
        errors=(IDEMPOTENCY_KEY_REQUIRED,),
    ),
)
async def grant_credit(request: Request, account: AccountId, body: CreditCreate) -> Response:
    """Grant credit that pays for usage until it expires. What is unused then is reversed."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refuse_other_currency(body.amount.currency, await currency_of(request, connection, account))
        credit_id = await grant(connection, account, body.amount, reason=body.reason, expires_at=body.expires_at)
        return Answer(201, await credit_document(connection, credit_id), {}, credit_id)

    return await change_platform(request, effect, moves=_GRANTS)


@routes.get(
    "/v1/billing/accounts/{account:ref}/payments",
    **operation("listPayments", "List an account's payments", Permission.ACCOUNT_READ, gives=PaymentPage),
)
async def list_payments(request: Request, account: AccountId, query: PaymentList) -> Response:
    """List the account's received, refunded and pending payments."""
    return await list_of_account(request, account, payments.LIST_PAYMENTS, query)


@routes.post(
    "/v1/billing/accounts/{account:ref}/payments",
    **operation(
        "recordPayment",
        "Record a received payment",
        Permission.PLATFORM_WRITE,
        gives=PaymentOut,
        status=201,
        description="Recorded",
        errors=(STATE_CONFLICT, IDEMPOTENCY_KEY_REQUIRED),
    ),
)
async def record_payment(request: Request, account: AccountId, body: PaymentCreate) -> Response:
    """Record a received payment. It pays the invoice; any excess is added to the wallet.

    A reference that was announced completes that payment. A repeated reference is the same payment.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if body.invoice is None:
            refuse_other_currency(body.amount.currency, await currency_of(request, connection, account))
        payment_id = await payments.record_payment(
            connection, account, body.amount, reference=body.reference, invoice=body.invoice
        )
        return await _paid(connection, payment_id)

    return await change_platform(request, effect, moves=_PAYS)


@routes.post(
    "/v1/billing/accounts/{account:ref}/payments/{payment:uuid}:fail",
    **operation(
        "failPayment",
        "Record that an expected payment failed",
        Permission.PLATFORM_WRITE,
        gives=PaymentOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def fail_payment(
    request: Request,
    account: AccountId,
    payment: Annotated[UUID, Field(description="Id of the payment.")],
    body: PaymentFailure,
) -> Response:
    """Record that a payment which was announced, or requested as a top-up, will not come."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await payments.fail_payment(connection, account, payment, reason=body.reason)
        return Answer(200, await payments.payment_document(connection, payment))

    return await change_platform(request, effect)


@routes.post(
    "/v1/billing/accounts/{account:ref}/refunds",
    **operation(
        "recordRefund",
        "Record a wallet refund",
        Permission.PLATFORM_WRITE,
        gives=PaymentOut,
        status=201,
        description="Recorded",
        errors=(STATE_CONFLICT, IDEMPOTENCY_KEY_REQUIRED),
    ),
)
async def record_refund(request: Request, account: AccountId, body: RefundCreate) -> Response:
    """Record money paid back from the wallet, at most its balance. A repeated reference is the same refund."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        refund_id = await payments.record_refund(connection, account, body.amount, reference=body.reference)
        return await _paid(connection, refund_id)

    return await change_platform(request, effect, moves=_PAYS)


@routes.post(
    "/v1/billing/accounts/{account:ref}/payments/{payment:uuid}/reversals",
    **operation(
        "reversePayment",
        "Reverse a payment that was taken back",
        Permission.PLATFORM_WRITE,
        gives=PaymentOut,
        status=201,
        description="Recorded",
        errors=(STATE_CONFLICT, IDEMPOTENCY_KEY_REQUIRED),
    ),
)
async def reverse_a_payment(
    request: Request,
    account: AccountId,
    payment: Annotated[UUID, Field(description="Id of the payment.")],
    body: ReversalCreate,
) -> Response:
    """Take out of the wallet what was refunded or disputed at the payment provider, below zero if it was spent.

    Automatic top-ups are paused if the payment was one. A repeated reference is the same reversal.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        found = await taken_back(connection, payment, body.reference)
        amount = found if body.amount is None else body.amount
        if amount is None:
            raise Problem(STATE_CONFLICT, f"The provider has not reported {body.reference}: give the amount.")
        if found is not None and found != amount:
            raise Problem(STATE_CONFLICT, f"The provider took back {found} as {body.reference}: reverse that amount.")
        done = await reverse_payment(connection, account, payment, amount, reference=body.reference)
        if done.automatic:
            await pause_after_reversal(connection, account, done.reference)
        return await _paid(connection, done.id)

    return await change_platform(request, effect, moves=_PAYS)


async def _paid(connection: AsyncConnection, payment: UUID) -> Answer:
    return Answer(201, await payments.payment_document(connection, payment), {}, payment)


def _listed(documents: object) -> Response:
    items = [orjson.Fragment(each) for each in documents] if isinstance(documents, list) else []
    return Response(orjson.dumps({"items": items, "next_cursor": None}), media_type=JSON)
