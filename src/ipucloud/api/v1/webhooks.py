"""Webhooks of a project: endpoints, secrets and deliveries."""

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
from ipucloud.api.paging import list_of
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import IF_MATCH, IF_NONE_MATCH, ProjectRef
from ipucloud.api.trace import trace_of
from ipucloud.api.writes import change
from ipucloud.contract.webhooks import (
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
from ipucloud.identity.access import Scope, authenticated
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, PRECONDITION_FAILED, QUOTA_EXCEEDED, STATE_CONFLICT, FieldError
from ipucloud.kernel.sealing import Keys
from ipucloud.webhooks import store

routes = router()

WebhookId = Annotated[UUID, Field(description="Id of the webhook.")]
DeliveryId = Annotated[UUID, Field(description="Id of the delivery.")]
_LIST_WEBHOOKS = {order: authenticated(text, DocumentPage) for order, text in store.LIST_WEBHOOKS.items()}
_GET_WEBHOOK = authenticated(store.GET_WEBHOOK, OneDocument)
_LIST_DELIVERIES = {order: authenticated(text, DocumentPage) for order, text in store.LIST_DELIVERIES.items()}
_GET_DELIVERY = authenticated(store.GET_DELIVERY, OneDocument)
_ALL = "/v1/projects/{project}/webhooks"
_ONE = _ALL + "/{webhook:uuid}"
_DELIVERY = _ONE + "/deliveries/{delivery:uuid}"


@routes.get(_ALL, **operation("listWebhooks", "List webhooks", Permission.PROJECT_READ, gives=WebhookPage))
async def list_webhooks(request: Request, project: ProjectRef, query: WebhookList) -> Response:
    """List the project's webhooks without their secrets."""
    return await list_of(request, project, _LIST_WEBHOOKS, query)


@routes.post(
    _ALL,
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
async def create_webhook(request: Request, project: ProjectRef, body: WebhookCreate) -> Response:
    """Send events to an endpoint from now on.

    Messages follow the Standard Webhooks specification. They are signed with the secret in this response, which is not
    shown again.
    """
    check_url(request, body.url)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await created(request, connection, home_of(request, scope), body)

    return await change(request, project, effect)


@routes.get(
    _ONE,
    **operation("getWebhook", "Read a webhook", Permission.PROJECT_READ, gives=WebhookOut, headers=(IF_NONE_MATCH,)),
)
async def get_webhook(request: Request, project: ProjectRef, webhook: WebhookId) -> Response:
    """Return a webhook and its delivery status."""
    document, version = await read_one(request, _GET_WEBHOOK, project, webhook_id=webhook)
    return tagged(request, document, version)


@routes.patch(
    _ONE,
    **operation(
        "updateWebhook",
        "Change a webhook",
        Permission.WEBHOOK_WRITE,
        gives=WebhookOut,
        errors=(PRECONDITION_FAILED, NOT_CONFIGURED),
        headers=(IF_MATCH,),
    ),
)
async def update_webhook(request: Request, project: ProjectRef, webhook: WebhookId, body: WebhookPatch) -> Response:
    """Change a webhook. Events that occur while it is disabled are never sent."""
    check_url(request, body.url)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await updated(request, connection, home_of(request, scope), webhook, body)

    return await change(request, project, effect)


@routes.delete(
    _ONE, **operation("deleteWebhook", "Delete a webhook", Permission.WEBHOOK_WRITE, status=204, description="Deleted")
)
async def delete_webhook(request: Request, project: ProjectRef, webhook: WebhookId) -> Response:
    """Delete a webhook and its deliveries."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await store.delete(connection, home_of(request, scope), webhook)
        return Answer(204)

    return await change(request, project, effect)


@routes.post(
    _ONE + ":ping",
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
async def ping_webhook(request: Request, project: ProjectRef, webhook: WebhookId) -> Response:
    """Send a message of type `webhook.ping`. The result is in its delivery."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await pinged(connection, home_of(request, scope), webhook)

    return await change(request, project, effect)


@routes.post(
    _ONE + ":rotate-secret",
    **operation(
        "rotateWebhookSecret",
        "Rotate a webhook's secret",
        Permission.WEBHOOK_WRITE,
        gives=NewWebhookOut,
        errors=(NOT_CONFIGURED,),
    ),
)
async def rotate_webhook_secret(
    request: Request, project: ProjectRef, webhook: WebhookId, body: KeepSecret
) -> Response:
    """Create a new signing secret, shown only once. For a while messages are also signed with the previous secret."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await rotated(request, connection, home_of(request, scope), webhook, body)

    return await change(request, project, effect)


@routes.get(
    _ONE + "/deliveries",
    **operation("listDeliveries", "List a webhook's deliveries", Permission.PROJECT_READ, gives=DeliveryPage),
)
async def list_deliveries(request: Request, project: ProjectRef, webhook: WebhookId, query: DeliveryList) -> Response:
    """List the messages of the last 30 days and pending ones, with all attempts."""
    await read_one(request, _GET_WEBHOOK, project, webhook_id=webhook)
    return await list_of(request, project, _LIST_DELIVERIES, query, webhook_id=webhook)


@routes.get(_DELIVERY, **operation("getDelivery", "Read a delivery", Permission.PROJECT_READ, gives=DeliveryOut))
async def get_delivery(request: Request, project: ProjectRef, webhook: WebhookId, delivery: DeliveryId) -> Response:
    """Return a message with all attempts."""
    document, _ = await read_one(request, _GET_DELIVERY, project, webhook_id=webhook, delivery_id=delivery)
    return Response(document, media_type=JSON)


@routes.post(
    _DELIVERY + ":redeliver",
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
async def redeliver(request: Request, project: ProjectRef, webhook: WebhookId, delivery: DeliveryId) -> Response:
    """Send a message again with the same id, starting a new retry schedule, whatever its state."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        return await redelivered(connection, home_of(request, scope), webhook, delivery)

    return await change(request, project, effect)


def home_of(request: Request, scope: Scope) -> Home:
    return Home(scope.project_id, None, trace_of(request).request_id)


def check_url(request: Request, url: str | None) -> None:
    """Raises `Problem` validation_failed."""
    if url is None:
        return
    try:
        target_of(url, private=services_of(request).settings.webhook_private_addresses)
    except UrlRefused as refused:
        raise invalid([FieldError("/url", refused.code, str(refused))]) from None


async def created(request: Request, connection: AsyncConnection, home: Home, body: WebhookCreate) -> Answer:
    """The answers of this and the following are the same for a project and for a billing account."""
    webhook = await store.create(connection, home, body, _keys(request))
    headers = {"Location": f"{_path(home)}/{webhook.id}"}
    return shown_once(201, orjson.loads(webhook.document), {"secret": webhook.secret}, headers, webhook.id)


async def updated(
    request: Request, connection: AsyncConnection, home: Home, webhook: UUID, body: WebhookPatch
) -> Answer:
    document = await store.update(connection, home, webhook, body, _keys(request), if_match=expected_version(request))
    return Answer(200, document.encode(), subject_id=webhook)


async def pinged(connection: AsyncConnection, home: Home, webhook: UUID) -> Answer:
    return _sent(home, webhook, *await store.ping(connection, home, webhook))


async def rotated(request: Request, connection: AsyncConnection, home: Home, webhook: UUID, body: KeepSecret) -> Answer:
    keep = body.keep_previous_seconds
    row = await store.rotate_secret(connection, home, webhook, _keys(request), keep_seconds=keep)
    return shown_once(200, orjson.loads(row.document), {"secret": row.secret}, {}, row.id)


async def redelivered(connection: AsyncConnection, home: Home, webhook: UUID, delivery: UUID) -> Answer:
    return _sent(home, webhook, *await store.redeliver(connection, home, webhook, delivery))


def _keys(request: Request) -> Keys | None:
    return services_of(request).settings.sealing_keys()


def _path(home: Home) -> str:
    return f"/v1/{'projects' if home.account_id is None else 'billing/accounts'}/{home.id}/webhooks"


def _sent(home: Home, webhook: UUID, delivery: UUID, document: str) -> Answer:
    location = f"{_path(home)}/{webhook}/deliveries/{delivery}"
    return Answer(202, document.encode(), {"Location": location}, webhook)
