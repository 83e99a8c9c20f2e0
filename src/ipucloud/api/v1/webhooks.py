"""Webhooks of projects and of billing accounts: endpoints, secrets and deliveries."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON, expected_version, tagged
from ipucloud.api.idempotency import Answer, shown_once
from ipucloud.api.owners import Owner, OwnerRouter, Twin, lock, path_of, statement
from ipucloud.api.problems import invalid
from ipucloud.api.routing import operation
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH
from ipucloud.contract.webhooks import (
    AccountWebhookCreate,
    AccountWebhookPatch,
    DeliveryList,
    DeliveryOut,
    DeliveryPage,
    KeepSecret,
    NewWebhookOut,
    WebhookCreate,
    WebhookList,
    WebhookOut,
    WebhookPage,
    WebhookPatch,
)
from ipucloud.db.documents import DocumentPage, OneDocument
from ipucloud.egress.urls import UrlRefused, target_of
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, PRECONDITION_FAILED, QUOTA_EXCEEDED, STATE_CONFLICT, FieldError
from ipucloud.kernel.sealing import Keys
from ipucloud.webhooks import store

owned = OwnerRouter()
routes = owned.routes

WebhookId = Annotated[UUID, Field(description="Id of the webhook.")]
DeliveryId = Annotated[UUID, Field(description="Id of the delivery.")]
_LIST_WEBHOOKS = {order: statement(text, DocumentPage) for order, text in store.LIST_WEBHOOKS.items()}
_GET_WEBHOOK = statement(store.GET_WEBHOOK, OneDocument)
_LIST_DELIVERIES = {order: statement(text, DocumentPage) for order, text in store.LIST_DELIVERIES.items()}
_GET_DELIVERY = statement(store.GET_DELIVERY, OneDocument)
_ONE = "/webhooks/{webhook:uuid}"
_DELIVERY = _ONE + "/deliveries/{delivery:uuid}"


@owned.get(
    "/webhooks",
    Twin("listAccountWebhooks", "List an account's webhooks"),
    **operation("listWebhooks", "List webhooks", Permission.PROJECT_READ, gives=WebhookPage),
)
async def list_webhooks(owner: Owner, query: WebhookList) -> Response:
    """List the webhooks without their secrets."""
    return await owner.list_of(_LIST_WEBHOOKS, query)


@owned.post(
    "/webhooks",
    Twin("createAccountWebhook", "Create a webhook of an account", AccountWebhookCreate),
    **operation(
        "createWebhook",
        "Create a webhook",
        Permission.WEBHOOK_WRITE,
        gives=NewWebhookOut,
        status=201,
        description="Created",
        errors=(QUOTA_EXCEEDED, NOT_CONFIGURED),
    ),
)
async def create_webhook(owner: Owner, body: WebhookCreate) -> Response:
    """Send events to an endpoint from now on; those of a billing account are about its money.

    Messages follow the Standard Webhooks specification. They are signed with the secret in this response, which is not
    shown again.
    """
    _check_url(owner.request, body.url)

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await lock(connection, home)
        webhook = await store.create(connection, home, body, _keys(owner.request))
        headers = {"Location": f"{path_of(home)}/webhooks/{webhook.id}"}
        return shown_once(201, orjson.loads(webhook.document), {"secret": webhook.secret}, headers, webhook.id)

    return await owner.change(effect)


@owned.get(
    _ONE,
    Twin("getAccountWebhook", "Read a webhook of an account"),
    **operation("getWebhook", "Read a webhook", Permission.PROJECT_READ, gives=WebhookOut, headers=(IF_NONE_MATCH,)),
)
async def get_webhook(owner: Owner, webhook: WebhookId) -> Response:
    """Return a webhook and its delivery status."""
    document, version = await owner.read_one(_GET_WEBHOOK, webhook_id=webhook)
    return tagged(owner.request, document, version)


@owned.patch(
    _ONE,
    Twin("updateAccountWebhook", "Change a webhook of an account", AccountWebhookPatch),
    **operation(
        "updateWebhook",
        "Change a webhook",
        Permission.WEBHOOK_WRITE,
        gives=WebhookOut,
        errors=(PRECONDITION_FAILED, NOT_CONFIGURED),
        headers=(IF_MATCH,),
    ),
)
async def update_webhook(owner: Owner, webhook: WebhookId, body: WebhookPatch) -> Response:
    """Change a webhook. Events that occur while it is disabled are never sent."""
    request = owner.request
    _check_url(request, body.url)

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        version = expected_version(request)
        document = await store.update(connection, home, webhook, body, _keys(request), if_match=version)
        return Answer(200, document.encode(), subject_id=webhook)

    return await owner.change(effect)


@owned.delete(
    _ONE,
    Twin("deleteAccountWebhook", "Delete a webhook of an account"),
    **operation("deleteWebhook", "Delete a webhook", Permission.WEBHOOK_WRITE, status=204, description="Deleted"),
)
async def delete_webhook(owner: Owner, webhook: WebhookId) -> Response:
    """Delete a webhook and its deliveries."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        await store.delete(connection, home, webhook)
        return Answer(204)

    return await owner.change(effect)


@owned.post(
    _ONE + ":ping",
    Twin("pingAccountWebhook", "Send a test message to an account's webhook"),
    **operation(
        "pingWebhook",
        "Send a test message",
        Permission.WEBHOOK_WRITE,
        gives=DeliveryOut,
        status=202,
        description="Accepted",
        errors=(STATE_CONFLICT,),
    ),
)
async def ping_webhook(owner: Owner, webhook: WebhookId) -> Response:
    """Send a message of type `webhook.ping`. The result is in its delivery."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        return _sent(home, webhook, *await store.ping(connection, home, webhook))

    return await owner.change(effect)


@owned.post(
    _ONE + ":rotate-secret",
    Twin("rotateAccountWebhookSecret", "Rotate the secret of an account's webhook"),
    **operation(
        "rotateWebhookSecret",
        "Rotate a webhook's secret",
        Permission.WEBHOOK_WRITE,
        gives=NewWebhookOut,
        errors=(NOT_CONFIGURED,),
    ),
)
async def rotate_webhook_secret(owner: Owner, webhook: WebhookId, body: KeepSecret) -> Response:
    """Create a new signing secret, shown only once. For a while messages are also signed with the previous secret."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        keep = body.keep_previous_seconds
        row = await store.rotate_secret(connection, home, webhook, _keys(owner.request), keep_seconds=keep)
        return shown_once(200, orjson.loads(row.document), {"secret": row.secret}, {}, row.id)

    return await owner.change(effect)


@owned.get(
    _ONE + "/deliveries",
    Twin("listAccountDeliveries", "List the deliveries of an account's webhook"),
    **operation("listDeliveries", "List a webhook's deliveries", Permission.PROJECT_READ, gives=DeliveryPage),
)
async def list_deliveries(owner: Owner, webhook: WebhookId, query: DeliveryList) -> Response:
    """List the messages of the last 30 days and pending ones, with all attempts."""
    await owner.read_one(_GET_WEBHOOK, webhook_id=webhook)
    return await owner.list_of(_LIST_DELIVERIES, query, webhook_id=webhook)


@owned.get(
    _DELIVERY,
    Twin("getAccountDelivery", "Read a delivery of an account's webhook"),
    **operation("getDelivery", "Read a delivery", Permission.PROJECT_READ, gives=DeliveryOut),
)
async def get_delivery(owner: Owner, webhook: WebhookId, delivery: DeliveryId) -> Response:
    """Return a message with all attempts."""
    document, _ = await owner.read_one(_GET_DELIVERY, webhook_id=webhook, delivery_id=delivery)
    return Response(document, media_type=JSON)


@owned.post(
    _DELIVERY + ":redeliver",
    Twin("redeliverToAccount", "Redeliver a message of an account"),
    **operation(
        "redeliver",
        "Redeliver a message",
        Permission.WEBHOOK_WRITE,
        gives=DeliveryOut,
        status=202,
        description="Accepted",
        errors=(STATE_CONFLICT,),
    ),
)
async def redeliver(owner: Owner, webhook: WebhookId, delivery: DeliveryId) -> Response:
    """Send a message again with the same id, starting a new retry schedule, whatever its state."""

    async def effect(connection: AsyncConnection, home: Home) -> Answer:
        return _sent(home, webhook, *await store.redeliver(connection, home, webhook, delivery))

    return await owner.change(effect)


def _check_url(request: Request, url: str | None) -> None:
    """Raises `Problem` validation_failed."""
    if url is None:
        return
    try:
        target_of(url, private=services_of(request).settings.webhook_private_addresses)
    except UrlRefused as refused:
        raise invalid([FieldError("/url", refused.code, str(refused))]) from None


def _keys(request: Request) -> Keys | None:
    return services_of(request).settings.sealing_keys()


def _sent(home: Home, webhook: UUID, delivery: UUID, document: str) -> Answer:
    location = f"{path_of(home)}/webhooks/{webhook}/deliveries/{delivery}"
    return Answer(202, document.encode(), {"Location": location}, webhook)
