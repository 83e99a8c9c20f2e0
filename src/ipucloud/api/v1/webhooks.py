"""Webhooks of a project: endpoints, secrets and deliveries."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import orjson
from fastapi import Path, Query
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
from ipucloud.api.writes import actor, change
from ipucloud.contract.lists import Listed
from ipucloud.contract.webhooks import (
    DeliveryList,
    DeliveryOut,
    DeliveryPage,
    KeepSecret,
    NewWebhookOut,
    WebhookCreate,
    WebhookOut,
    WebhookPage,
    WebhookPatch,
)
from ipucloud.db.documents import DocumentPage, OneDocument
from ipucloud.egress.urls import UrlRefused, target_of
from ipucloud.identity.access import Scope, authenticated
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_CONFIGURED, PRECONDITION_FAILED, QUOTA_EXCEEDED, STATE_CONFLICT, FieldError
from ipucloud.kernel.sealing import Keys, read_keys
from ipucloud.webhooks import store

routes = router()

WebhookId = Annotated[UUID, Path(description="Id of the webhook.")]
DeliveryId = Annotated[UUID, Path(description="Id of the delivery.")]
_LIST_WEBHOOKS = {order: authenticated(text, DocumentPage) for order, text in store.LIST_WEBHOOKS.items()}
_GET_WEBHOOK = authenticated(store.GET_WEBHOOK, OneDocument)
_LIST_DELIVERIES = {order: authenticated(text, DocumentPage) for order, text in store.LIST_DELIVERIES.items()}
_GET_DELIVERY = authenticated(store.GET_DELIVERY, OneDocument)
_ALL = "/v1/projects/{project}/webhooks"
_ONE = _ALL + "/{webhook:uuid}"
_DELIVERY = _ONE + "/deliveries/{delivery:uuid}"


@routes.get(_ALL, **operation("listWebhooks", "List webhooks", Permission.PROJECT_READ, gives=WebhookPage))
async def list_webhooks(request: Request, project: ProjectRef, query: Annotated[Listed, Query()]) -> Response:
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
    _check_url(request, body.url)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        made = await store.create(connection, actor(request, scope), body, _keys(request))
        headers = {"Location": f"/v1/projects/{scope.project_id}/webhooks/{made.id}"}
        return shown_once(201, orjson.loads(made.document), {"secret": made.secret}, headers, made.id)

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
        errors=(PRECONDITION_FAILED,),
        headers=(IF_MATCH,),
    ),
)
async def update_webhook(request: Request, project: ProjectRef, webhook: WebhookId, body: WebhookPatch) -> Response:
    """Change a webhook. Events that occur while it is disabled are never sent."""
    if body.url is not None:
        _check_url(request, body.url)
    if_match = expected_version(request)

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        document = await store.update(connection, actor(request, scope), webhook, body, if_match=if_match)
        return Answer(200, document.encode(), subject_id=webhook)

    return await change(request, project, effect)


@routes.delete(
    _ONE, **operation("deleteWebhook", "Delete a webhook", Permission.WEBHOOK_WRITE, status=204, description="Deleted")
)
async def delete_webhook(request: Request, project: ProjectRef, webhook: WebhookId) -> Response:
    """Delete a webhook and its deliveries."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        await store.delete(connection, actor(request, scope), webhook)
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
        made, document = await store.ping(connection, actor(request, scope), webhook)
        return _sent(scope, webhook, made, document)

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
        made = await store.rotate_secret(
            connection, actor(request, scope), webhook, _keys(request), keep_seconds=body.keep_previous_seconds
        )
        return shown_once(200, orjson.loads(made.document), {"secret": made.secret}, {}, made.id)

    return await change(request, project, effect)


@routes.get(
    _ONE + "/deliveries",
    **operation("listDeliveries", "List a webhook's deliveries", Permission.PROJECT_READ, gives=DeliveryPage),
)
async def list_deliveries(
    request: Request, project: ProjectRef, webhook: WebhookId, query: Annotated[DeliveryList, Query()]
) -> Response:
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
        made, document = await store.redeliver(connection, actor(request, scope), webhook, delivery)
        return _sent(scope, webhook, made, document)

    return await change(request, project, effect)


def _check_url(request: Request, url: str) -> None:
    try:
        target_of(url, private=services_of(request).settings.webhook_private_addresses)
    except UrlRefused as refused:
        raise invalid([FieldError("/url", refused.code, str(refused))]) from None


def _keys(request: Request) -> Keys | None:
    key = services_of(request).settings.secrets_key
    return None if key is None else read_keys(key.get_secret_value())


def _sent(scope: Scope, webhook: UUID, delivery: UUID, document: str) -> Answer:
    location = f"/v1/projects/{scope.project_id}/webhooks/{webhook}/deliveries/{delivery}"
    return Answer(202, document.encode(), {"Location": location}, delivery)
