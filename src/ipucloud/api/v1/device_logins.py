"""Logins of command lines that a person approves in the panel (RFC 8628)."""

from __future__ import annotations

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.attempts import ANYBODY
from ipucloud.api.credentials import require_same_site
from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.links import own_url
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.v1.provider_sign_in import membership
from ipucloud.api.writes import change_platform
from ipucloud.contract.people import LoginOut
from ipucloud.contract.sign_in import (
    DeviceLoginCreate,
    DeviceLoginOut,
    DeviceLoginShow,
    DeviceTokenCreate,
    WaitingDeviceOut,
)
from ipucloud.events.log import act_as
from ipucloud.identity import device_logins, people
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission
from ipucloud.identity.tokens import Kind, secret_hash
from ipucloud.kernel.errors import (
    ACCESS_DENIED,
    AUTHORIZATION_PENDING,
    CROSS_SITE_REQUEST,
    EXPIRED_TOKEN,
    NOT_A_MEMBER,
    NOT_FOUND,
    SLOW_DOWN,
    STATE_CONFLICT,
    Problem,
)

routes = router()

_ALL = "/v1/login/devices"


@routes.post(
    _ALL,
    **operation(
        "beginDeviceLogin",
        "Begin a login that is approved in a browser",
        None,
        gives=DeviceLoginOut,
        status=201,
        description="Begun",
        errors=(CROSS_SITE_REQUEST,),
    ),
)
async def begin(request: Request, body: DeviceLoginCreate) -> Response:
    """Return a code that a person approves in the panel, however they sign in there, within ten minutes.

    For devices without a browser of their own, such as a command line; meanwhile the device asks for its token.
    """
    require_same_site(request.scope, browser=False)
    services = services_of(request)
    services.attempts.take(request, ANYBODY)
    page = f"{own_url(request)}/device"

    async def work(connection: AsyncConnection) -> tuple[str, str, str]:
        address = origin_of(request).address
        return await device_logins.begin(connection, name=body.name, project=body.project, address=address)

    device, user_code, _ = await services.database.transact(work)
    known = {
        "device_code": device,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?code={user_code}",
        "expires_in": device_logins.DEVICE_SECONDS,
        "interval": device_logins.INTERVAL,
    }
    return Response(orjson.dumps(known), 201, {"Location": _ALL}, JSON)


@routes.post(
    f"{_ALL}:token",
    **operation(
        "fetchDeviceToken",
        "Fetch the token of an approved login",
        None,
        gives=LoginOut,
        status=201,
        description="Logged in",
        errors=(AUTHORIZATION_PENDING, SLOW_DOWN, ACCESS_DENIED, EXPIRED_TOKEN, CROSS_SITE_REQUEST, NOT_A_MEMBER),
    ),
)
async def fetch(request: Request, body: DeviceTokenCreate) -> Response:
    """Return a token of the person who approved, once; until then the error says whether to ask again.

    It has the role of the membership, ends with it, and expires.
    """
    require_same_site(request.scope, browser=False)
    services = services_of(request)
    device_hash = secret_hash(Kind.DEVICE, body.device_code)

    async def ask(connection: AsyncConnection) -> Problem | None:
        return await device_logins.poll(connection, device_hash)

    problem = await services.database.transact(ask)  # that it asked is kept, whatever the answer
    if problem is not None or device_hash is None:
        raise problem or Problem(EXPIRED_TOKEN, "The code has expired or was used. Begin another login.")

    async def work(connection: AsyncConnection) -> bytes:
        approved = await device_logins.use(connection, device_hash)
        user = await device_logins.USER_OF_MEMBER.one_or_none(connection, {"member_id": approved.member_id})
        if user is None:
            raise people.not_a_member()
        where = approved.project or await device_logins.HOME.one(connection, {"member_id": approved.member_id})
        member = await membership(request, connection, user, where)
        home = member.project_id or member.account_id
        await act_as(connection, user.email, home=home, origin=origin_of(request))
        settings = services.settings
        login = people.Login(approved.name, settings.environment, settings.login_seconds, trace_of(request).request_id)
        token = await people.log_in(connection, user, member, login)
        trace_of(request).concerns(subject_id=token.id)
        return orjson.dumps({**orjson.loads(token.document), "token": token.secret, "project": member.project})

    document = await services.database.transact(work)
    services.notifier.poke()
    return Response(document, 201, {"Location": "/v1/me"}, JSON)


@routes.post(
    f"{_ALL}:show",
    **operation(
        "showDeviceLogin",
        "Show a login that waits",
        Permission.CATALOGUE_READ,
        gives=WaitingDeviceOut,
        errors=(NOT_FOUND, STATE_CONFLICT),
    ),
)
async def show(request: Request, body: DeviceLoginShow) -> Response:
    """Return which device waits for this code, so that the person can tell whether it is theirs."""
    services_of(request).attempts.take(request, ANYBODY)

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        await device_logins.require_person(connection, principal.token_id)
        code = device_logins.normalised(body.user_code)
        row = await device_logins.SHOW.one_or_none(connection, {"user_code": code})
        if row is None:
            raise device_logins.unknown()
        return Answer(200, orjson.dumps(row._asdict()))

    return await change_platform(request, effect, own=True)


@routes.post(
    f"{_ALL}:approve",
    **operation(
        "approveDeviceLogin",
        "Approve a login that waits",
        Permission.CATALOGUE_READ,
        status=204,
        description="Approved",
        errors=(NOT_FOUND, STATE_CONFLICT),
    ),
)
async def approve(request: Request, body: DeviceLoginShow) -> Response:
    """Give the device that shows this code a token of yours. From a browser session that began with a person's sign-in.

    Approve only what you have begun yourself.
    """
    return await _decide(request, body, approve=True)


@routes.post(
    f"{_ALL}:deny",
    **operation(
        "denyDeviceLogin",
        "Deny a login that waits",
        Permission.CATALOGUE_READ,
        status=204,
        description="Denied",
        errors=(NOT_FOUND, STATE_CONFLICT),
    ),
)
async def deny(request: Request, body: DeviceLoginShow) -> Response:
    """Refuse the device that shows this code."""
    return await _decide(request, body, approve=False)


async def _decide(request: Request, body: DeviceLoginShow, *, approve: bool) -> Response:
    services_of(request).attempts.take(request, ANYBODY)

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        await device_logins.decide(connection, body.user_code, principal.token_id, approve=approve)
        return Answer(204)

    return await change_platform(request, effect, own=True)
