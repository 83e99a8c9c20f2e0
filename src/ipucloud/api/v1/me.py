"""The caller as a person: who it is and where a member, its password, and its logins of the command line."""

from __future__ import annotations

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.credentials import require_same_site
from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.problems import invalid
from ipucloud.api.reads import principal, read_itself
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.v1.provider_sign_in import membership, verified
from ipucloud.api.writes import change_platform
from ipucloud.contract.people import LoginCreate, LoginOut, MeOut, PasswordChange
from ipucloud.contract.tokens import WhoamiOut
from ipucloud.events.log import act_as
from ipucloud.identity import passwords, people
from ipucloud.identity.access import Principal
from ipucloud.identity.roles import Permission, Rights
from ipucloud.identity.token_store import WHOAMI
from ipucloud.kernel.errors import (
    ACCOUNT_DEACTIVATED,
    CROSS_SITE_REQUEST,
    NOT_A_MEMBER,
    STATE_CONFLICT,
    UNAUTHENTICATED,
    FieldError,
    Problem,
)

routes = router()

_LOGIN = "/v1/login"


@routes.get("/v1/me", **operation("getMe", "Read who one is", Permission.CATALOGUE_READ, gives=MeOut))
async def get_me(request: Request) -> Response:
    """Return the person whose the token or session is, and where it is a member; a service token is nobody's."""
    row = await read_itself(request, people.ME)
    rights = Rights.of(row.rights)
    body = {
        "token": orjson.Fragment(row.token),
        "role": rights.role,
        "scopes": sorted(rights.scopes),
        "project": None if row.project is None else orjson.Fragment(row.project),
        "user": None if row.user is None else orjson.Fragment(row.user),
        "memberships": orjson.Fragment(row.memberships),
    }
    return Response(orjson.dumps(body), media_type=JSON)


@routes.put(
    "/v1/me/password",
    **operation(
        "changePassword",
        "Change the password",
        Permission.CATALOGUE_READ,
        status=204,
        description="Changed",
        errors=(STATE_CONFLICT,),
    ),
)
async def change_password(request: Request, body: PasswordChange) -> Response:
    """Change the caller's password. Their other sessions, and the logins of the command line, end immediately."""
    services = services_of(request)
    caller = await principal(request)
    user = await services.reader.one(people.USER_OF_TOKEN, {"token_id": caller.token_id})
    if user is None:
        raise Problem(STATE_CONFLICT, "A service token has no password.")
    if user.password_hash is None:
        raise Problem(STATE_CONFLICT, "You sign in through an identity provider: your account has no password.")
    services.attempts.take(request, user.email)
    if not await services.passwords.verify(user.password_hash, body.current_password):
        raise invalid([FieldError("/current_password", "wrong", "This is not the present password.")])
    services.attempts.succeeded(request, user.email)
    if fault := passwords.weakness(body.new_password, user.email, "/new_password"):
        raise invalid([fault])
    password_hash = await services.passwords.hash(body.new_password)

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        if not await people.set_password(connection, user, password_hash, but=trace_of(request).credential()):
            raise Problem(STATE_CONFLICT, "Another request has just changed the password.")
        return Answer(204)

    return await change_platform(request, effect)


@routes.post(
    _LOGIN,
    **operation(
        "logIn",
        "Log in",
        None,
        gives=LoginOut,
        status=201,
        description="Logged in",
        errors=(UNAUTHENTICATED, CROSS_SITE_REQUEST, ACCOUNT_DEACTIVATED, NOT_A_MEMBER),
    ),
)
async def log_in(request: Request, body: LoginCreate) -> Response:
    """Exchange an e-mail and password for a token of the person, for the command line.

    It has the role of the membership, ends with it, and expires.
    """
    require_same_site(request.scope, browser=False)
    services = services_of(request)
    user = await verified(request, body.email, body.password)
    login = people.Login(
        body.name, services.settings.environment, services.settings.login_seconds, trace_of(request).request_id
    )

    async def work(connection: AsyncConnection) -> bytes:
        member = await membership(request, connection, user, body.project)
        home = member.project_id or member.account_id
        await act_as(connection, user.email, home=home, origin=origin_of(request))
        token = await people.log_in(connection, user, member, login)
        trace_of(request).concerns(subject_id=token.id)
        return orjson.dumps({**orjson.loads(token.document), "token": token.secret, "project": member.project})

    document = await services.database.transact(work)
    services.notifier.poke()
    return Response(document, 201, {"Location": "/v1/me"}, JSON)


@routes.delete(
    _LOGIN,
    **operation(
        "logOut",
        "Log out",
        Permission.CATALOGUE_READ,
        status=204,
        description="Logged out",
        errors=(STATE_CONFLICT,),
    ),
)
async def log_out(request: Request) -> Response:
    """End the caller's token, which is one of `POST /v1/login`."""

    async def effect(connection: AsyncConnection, caller: Principal) -> Answer:
        if not await people.log_out(connection, caller.token_id):
            raise Problem(STATE_CONFLICT, "This is not a token of a login. Revoke it where it was created.")
        return Answer(204)

    return await change_platform(request, effect)


@routes.get("/v1/whoami", **operation("whoami", "Read the caller's token", Permission.CATALOGUE_READ, gives=WhoamiOut))
async def whoami(request: Request) -> Response:
    """Return the caller's token, project, role and permissions."""
    row = await read_itself(request, WHOAMI)
    rights = Rights.of(row.rights)
    body = {
        "token": orjson.Fragment(row.token),
        "role": rights.role,
        "scopes": sorted(rights.scopes),
        "project": None if row.project is None else orjson.Fragment(row.project),
    }
    return Response(orjson.dumps(body), media_type=JSON)
