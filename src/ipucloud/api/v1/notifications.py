"""E-mails that a person gets of events."""

from __future__ import annotations

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.reads import principal
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.writes import change_platform
from ipucloud.contract.notifications import NotificationsOut, NotificationsReplace
from ipucloud.identity import people
from ipucloud.identity.access import Principal, unauthenticated
from ipucloud.identity.people import User
from ipucloud.identity.roles import Permission
from ipucloud.kernel.errors import NOT_A_MEMBER, NOT_CONFIGURED, STATE_CONFLICT, Problem
from ipucloud.notifications import store
from ipucloud.notifications.store import Chosen

routes = router()

_PATH = "/v1/me/notifications"


@routes.get(
    _PATH,
    **operation(
        "getNotifications",
        "Read which events one gets by e-mail",
        Permission.CATALOGUE_READ,
        gives=NotificationsOut,
        errors=(STATE_CONFLICT,),
    ),
)
async def get_notifications(request: Request) -> Response:
    """Return the events of which the person gets e-mails, by project."""
    caller = await principal(request)
    reader = services_of(request).reader
    user = _person(await reader.one(people.USER_OF_TOKEN, {"token_id": caller.token_id}))
    row = await reader.one(store.READ, {"user_id": user.id})
    if row is None:
        raise unauthenticated()
    return Response(_document(request, row), media_type=JSON)


@routes.put(
    _PATH,
    **operation(
        "replaceNotifications",
        "Choose which events one gets by e-mail",
        Permission.CATALOGUE_READ,
        gives=NotificationsOut,
        errors=(STATE_CONFLICT, NOT_A_MEMBER, NOT_CONFIGURED),
    ),
)
async def replace_notifications(request: Request, body: NotificationsReplace) -> Response:
    """Choose the events of which the person gets e-mails from now on, in all of their projects.

    E-mails end with the membership. They are sent at least once; each has a `Message-ID` of its own.
    """

    async def effect(connection: AsyncConnection, caller: Principal) -> Answer:
        user = _person(await people.USER_OF_TOKEN.one_or_none(connection, {"token_id": caller.token_id}))
        if body.subscriptions and services_of(request).settings.smtp_host is None:
            raise Problem(NOT_CONFIGURED, "This installation sends no e-mail: IPUCLOUD_SMTP_HOST is not set.")
        memberships = await people.memberships(connection, user)
        await store.replace(connection, user, memberships, body.language, body.subscriptions)
        return Answer(200, _document(request, await store.READ.one(connection, {"user_id": user.id})))

    return await change_platform(request, effect, own=True)


def _person(user: User | None) -> User:
    if user is None:
        raise Problem(STATE_CONFLICT, "A service token is nobody's: only people get e-mails.")
    return user


def _document(request: Request, row: Chosen) -> bytes:
    body = {
        "available": services_of(request).settings.smtp_host is not None,
        "email": row.email,
        "language": row.language,
        "subscriptions": orjson.Fragment(row.subscriptions),
    }
    return orjson.dumps(body)
