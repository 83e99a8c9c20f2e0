"""The payment method of an account, which its automatic top-ups are charged to."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import reading_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import AccountId
from ipucloud.api.writes import change_platform
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.wallet import PaymentMethodOut, PaymentMethodSet
from ipucloud.extras.stripe.methods import method_document, remove_method, set_method
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission

routes = router()

_METHOD = "/v1/billing/accounts/{account:ref}/payment-method"


@routes.get(
    _METHOD,
    **operation(
        "getPaymentMethod", "Read an account's payment method", Permission.ACCOUNT_READ, gives=PaymentMethodOut
    ),
)
async def get_payment_method(request: Request, account: AccountId) -> Response:
    """Return what automatic top-ups of the account are charged to; 404 if that is nothing."""
    async with reading_account(request, account) as connection:
        document = await method_document(connection, account)
    return Response(document, media_type=JSON)


@routes.put(
    _METHOD,
    **operation(
        "setPaymentMethod", "Set an account's payment method", Permission.PLATFORM_WRITE, gives=PaymentMethodOut
    ),
)
async def put_payment_method(request: Request, account: AccountId, body: PaymentMethodSet) -> Response:
    """Charge further automatic top-ups to a payment method that the customer saved at Stripe.

    One that Stripe was asked for already goes on with the former payment method.
    """

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        await set_method(connection, account, body)
        return Answer(200, await method_document(connection, account))

    return await change_platform(request, effect)


@routes.delete(
    _METHOD,
    **operation(
        "removePaymentMethod",
        "Remove an account's payment method",
        Permission.PLATFORM_WRITE,
        status=204,
        description="Top-ups are charged to nothing",
    ),
)
async def delete_payment_method(request: Request, account: AccountId) -> Response:
    """Charge further top-ups to nothing. One that Stripe was asked for already may still come in."""

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        await lock_payer(connection, account)
        await remove_method(connection, account)
        return Answer(204)

    return await change_platform(request, effect)
