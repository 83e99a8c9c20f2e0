"""Webhooks of a billing account, for its payers: they get the events of its money."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, tagged
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of_account
from ipucloud.api.reads import read_one_of_account
from ipucloud.api.routing import operation, router
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, AccountId
from ipucloud.api.trace import trace_of
from ipucloud.api.v1.webhooks import (
    DeliveryId,
    WebhookId,
    check_url,
    created,
    pinged,
    redelivered,
    rotated,
    updated,
)
from ipucloud.api.writes import change_account
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.webhooks import (
    AccountWebhookCreate,
    AccountWebhookPatch,
    DeliveryList,
    DeliveryOut,
    DeliveryPage,
    KeepSecret,
    NewWebhookOut,
    WebhookList,
    WebhookOut,
    WebhookPage,
)
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, PRECONDITION_FAILED, QUOTA_EXCEEDED, STATE_CONFLICT
from ipucloud.webhooks import store

routes = router()

_ALL = "/v1/billing/accounts/{account:ref}/webhooks"
_ONE = _ALL + "/{webhook:uuid}"
_DELIVERY = _ONE + "/deliveries/{delivery:uuid}"


@routes.get(
    _ALL, **operation("listAccountWebhooks", "List an account's webhooks", Permission.ACCOUNT_READ, gives=WebhookPage)
)
async def list_account_webhooks(request: Request, account: AccountId, query: WebhookList) -> Response:
    """List the billing account's webhooks without their secrets."""
    return await list_of_account(request, account, store.LIST_ACCOUNT_WEBHOOKS, query)


@routes.post(
    _ALL,
    **operation(
        "createAccountWebhook",
        "Create a webhook of an account",
        Permission.ACCOUNT_WRITE,
        gives=NewWebhookOut,
        status=201,
        description="Created",
        errors=(QUOTA_EXCEEDED, NOT_CONFIGURED),
    ),
)
async def create_account_webhook(request: Request, account: AccountId, body: AccountWebhookCreate) -> Response:
    """Send the events of the account's money to an endpoint from now on.

    Messages follow the Standard Webhooks specification. They are signed with the secret in this response, which is not
    shown again.
    """
    check_url(request, body.url)

    async def effect(connection: AsyncConnection) -> Answer:
        await lock_payer(connection, account)
        return await created(request, connection, _home(request, account), body)

    return await change_account(request, account, effect)


@routes.get(
    _ONE,
    **operation(
        "getAccountWebhook",
        "Read a webhook of an account",
        Permission.ACCOUNT_READ,
        gives=WebhookOut,
        headers=(IF_NONE_MATCH,),
    ),
)
async def get_account_webhook(request: Request, account: AccountId, webhook: WebhookId) -> Response:
    """Return a webhook and its delivery status."""
    document, version = await read_one_of_account(request, store.GET_ACCOUNT_WEBHOOK, account, webhook_id=webhook)
    return tagged(request, document, version)


@routes.patch(
    _ONE,
    **operation(
        "updateAccountWebhook",
        "Change a webhook of an account",
        Permission.ACCOUNT_WRITE,
        gives=WebhookOut,
        errors=(PRECONDITION_FAILED, NOT_CONFIGURED),
        headers=(IF_MATCH,),
    ),
)
async def update_account_webhook(
    request: Request, account: AccountId, webhook: WebhookId, body: AccountWebhookPatch
) -> Response:
    """Change a webhook. Events that occur while it is disabled are never sent."""
    check_url(request, body.url)

    async def effect(connection: AsyncConnection) -> Answer:
        return await updated(request, connection, _home(request, account), webhook, body)

    return await change_account(request, account, effect)


@routes.delete(
    _ONE,
    **operation(
        "deleteAccountWebhook",
        "Delete a webhook of an account",
        Permission.ACCOUNT_WRITE,
        status=204,
        description="Deleted",
    ),
)
async def delete_account_webhook(request: Request, account: AccountId, webhook: WebhookId) -> Response:
    """Delete a webhook and its deliveries."""

    async def effect(connection: AsyncConnection) -> Answer:
        await store.delete(connection, _home(request, account), webhook)
        return Answer(204)

    return await change_account(request, account, effect)


@routes.post(
    _ONE + ":ping",
    **operation(
        "pingAccountWebhook",
        "Send a test message to an account's webhook",
        Permission.ACCOUNT_WRITE,
        gives=DeliveryOut,
        status=202,
        description="Accepted",
        errors=(STATE_CONFLICT,),
    ),
)
async def ping_account_webhook(request: Request, account: AccountId, webhook: WebhookId) -> Response:
    """Send a message of type `webhook.ping`. The result is in its delivery."""

    async def effect(connection: AsyncConnection) -> Answer:
        return await pinged(connection, _home(request, account), webhook)

    return await change_account(request, account, effect)


@routes.post(
    _ONE + ":rotate-secret",
    **operation(
        "rotateAccountWebhookSecret",
        "Rotate the secret of an account's webhook",
        Permission.ACCOUNT_WRITE,
        gives=NewWebhookOut,
        errors=(NOT_CONFIGURED,),
    ),
)
async def rotate_account_webhook_secret(
    request: Request, account: AccountId, webhook: WebhookId, body: KeepSecret
) -> Response:
    """Create a new signing secret, shown only once. For a while messages are also signed with the previous secret."""

    async def effect(connection: AsyncConnection) -> Answer:
        return await rotated(request, connection, _home(request, account), webhook, body)

    return await change_account(request, account, effect)


@routes.get(
    _ONE + "/deliveries",
    **operation(
        "listAccountDeliveries",
        "List the deliveries of an account's webhook",
        Permission.ACCOUNT_READ,
        gives=DeliveryPage,
    ),
)
async def list_account_deliveries(
    request: Request, account: AccountId, webhook: WebhookId, query: DeliveryList
) -> Response:
    """List the messages of the last 30 days and pending ones, with all attempts."""
    await read_one_of_account(request, store.GET_ACCOUNT_WEBHOOK, account, webhook_id=webhook)
    return await list_of_account(request, account, store.LIST_ACCOUNT_DELIVERIES, query, webhook_id=webhook)


@routes.get(
    _DELIVERY,
    **operation(
        "getAccountDelivery", "Read a delivery of an account's webhook", Permission.ACCOUNT_READ, gives=DeliveryOut
    ),
)
async def get_account_delivery(
    request: Request, account: AccountId, webhook: WebhookId, delivery: DeliveryId
) -> Response:
    """Return a message with all attempts."""
    document, _ = await read_one_of_account(
        request, store.GET_ACCOUNT_DELIVERY, account, webhook_id=webhook, delivery_id=delivery
    )
    return Response(document, media_type=JSON)


@routes.post(
    _DELIVERY + ":redeliver",
    **operation(
        "redeliverToAccount",
        "Redeliver a message of an account",
        Permission.ACCOUNT_WRITE,
        gives=DeliveryOut,
        status=202,
        description="Accepted",
        errors=(STATE_CONFLICT,),
    ),
)
async def redeliver_to_account(
    request: Request, account: AccountId, webhook: WebhookId, delivery: DeliveryId
) -> Response:
    """Send a message again with the same id, starting a new retry schedule, whatever its state."""

    async def effect(connection: AsyncConnection) -> Answer:
        return await redelivered(connection, _home(request, account), webhook, delivery)

    return await change_account(request, account, effect)


def _home(request: Request, account: AccountId) -> Home:
    return Home(None, account, trace_of(request).request_id)
