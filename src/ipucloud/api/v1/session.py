"""Browser sessions: a password, a token, or the code of a sign-in link is exchanged for a cookie."""

from __future__ import annotations

from datetime import timedelta

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.cookies import new_session_path, session_path
from ipucloud.api.credentials import PLAIN_COOKIE, SECURE_COOKIE, over_tls, require_same_site
from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer, shown_once
from ipucloud.api.links import own_url
from ipucloud.api.problems import invalid
from ipucloud.api.reads import read_itself
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.v1 import provider_sign_in
from ipucloud.api.v1.provider_sign_in import membership, verified
from ipucloud.api.writes import change_platform
from ipucloud.contract.people import SessionSwitch
from ipucloud.contract.sessions import NewSessionOut, SessionCreate, SessionEndedOut, SessionOut, SignInLinkOut
from ipucloud.identity import people, sessions
from ipucloud.identity.access import Principal, rights_at, unauthenticated
from ipucloud.identity.roles import Permission, Rights
from ipucloud.identity.sessions import AtProvider, Lives, SessionRow
from ipucloud.identity.tokens import Kind, secret_hash, token_hash
from ipucloud.kernel.errors import (
    ACCOUNT_DEACTIVATED,
    ALREADY_MEMBER,
    CROSS_SITE_REQUEST,
    EMAIL_NOT_VERIFIED,
    IDENTITY_CONFLICT,
    IDENTITY_REFUSED,
    INVITATION_ENDED,
    NO_ACCOUNT,
    NOT_A_MEMBER,
    NOT_FOUND,
    PERMISSION_DENIED,
    PROVIDER_UNAVAILABLE,
    SIGN_IN_ENDED,
    SIGN_IN_LINK_ENDED,
    SOURCE_NOT_ALLOWED,
    STATE_CONFLICT,
    UNAUTHENTICATED,
    FieldError,
    Problem,
    not_found,
)

routes = router()

_PATH = "/v1/session"
SIGN_IN = "/sign-in"
"""The panel's page to which a provider returns the browser after a logout; operators register it at the provider."""


@routes.post(
    _PATH,
    **operation(
        "signIn",
        "Sign in",
        None,
        gives=NewSessionOut,
        status=201,
        description="Signed in",
        errors=(
            UNAUTHENTICATED,
            SOURCE_NOT_ALLOWED,
            CROSS_SITE_REQUEST,
            ACCOUNT_DEACTIVATED,
            NOT_A_MEMBER,
            SIGN_IN_LINK_ENDED,
            SIGN_IN_ENDED,
            IDENTITY_REFUSED,
            EMAIL_NOT_VERIFIED,
            NO_ACCOUNT,
            IDENTITY_CONFLICT,
            PROVIDER_UNAVAILABLE,
            INVITATION_ENDED,
            ALREADY_MEMBER,
        ),
    ),
)
async def sign_in(request: Request, body: SessionCreate) -> Response:
    """Exchange a password, a token, the code of a sign-in link, or that of an identity provider, for a session.

    The session is in an HttpOnly cookie. Over plain HTTP browsers send it to requests below `path` only, which no
    program at another port of this host can know.

    For browsers: a program sends its token with each request instead. The session has the rights of the membership or
    token and ends with it. A repeat with a password or token begins another session; a code works once.
    """
    require_same_site(request.scope, browser=False)
    _check_one_way(body)
    settings = services_of(request).settings
    lives = Lives(timedelta(seconds=settings.session_seconds), timedelta(seconds=settings.session_idle_seconds))
    user = None if body.email is None else await verified(request, body.email, body.password or "")
    returned = None if body.state is None else await provider_sign_in.identify(request, body)
    signed = None if returned is None else await provider_sign_in.person_of(request, returned)

    async def work(connection: AsyncConnection) -> tuple[str, SessionRow]:
        if signed is not None:
            member = await provider_sign_in.membership_of(request, connection, signed, body.project)
            begun = await sessions.begin_by_membership(connection, member.id, lives, signed.returned.identity)
        elif user is not None:
            member = await membership(request, connection, user, body.project)
            begun = await sessions.begin_by_membership(connection, member.id, lives)
        elif body.token is not None:
            begun = await sessions.begin_by_token(connection, token_hash(body.token), lives)
        else:
            begun = await sessions.begin_by_code(connection, secret_hash(Kind.LINK, body.code or ""), lives)
        token_id, secret, hashed = begun
        trace_of(request).concerns(token_id=token_id)
        row = await sessions.SESSION.one(connection, {"token_hash": hashed})
        rights_at(origin_of(request), row.rights)
        return secret, row

    secret, row = await services_of(request).database.transact(work)
    path = None if over_tls(request.scope) else new_session_path()
    response = Response(_document(row, path=path), 201, {"Location": _PATH}, JSON)
    _set_cookie(request, response, secret, int(settings.session_seconds), path or "/")
    if body.email is not None:
        services_of(request).devices.remember(request, response, body.email)
    if signed is not None:
        provider_sign_in.set_cookie(request, response, "", 0)
        services_of(request).notifier.poke()
    return response


@routes.get(_PATH, **operation("getSession", "Read the session", Permission.CATALOGUE_READ, gives=SessionOut))
async def get_session(request: Request) -> Response:
    """Return who is signed in, and for how long; for a request by token, its token."""
    return Response(_document(await read_itself(request, sessions.SESSION)), media_type=JSON)


@routes.delete(
    _PATH,
    **operation("signOut", "Sign out", Permission.CATALOGUE_READ, gives=SessionEndedOut, description="Signed out"),
)
async def sign_out(request: Request) -> Response:
    """End the session of this browser. Others of its token go on; a request by token has none to end.

    Whoever signed in through an identity provider is still signed in there: the answer says where to sign out, if the
    provider has such a page.
    """
    left: list[AtProvider] = []

    async def effect(connection: AsyncConnection, _: Principal) -> Answer:
        ended = await sessions.end(connection, trace_of(request).credential())
        left[:] = [] if ended is None else [ended]
        return Answer(204)

    await change_platform(request, effect, itself=True)
    provider = await _still_signed_in(request, left[0]) if left else None
    response = Response(orjson.dumps({"provider": provider}), media_type=JSON)
    _set_cookie(request, response, "", 0, session_path(request.scope) or "/")
    return response


@routes.post(
    f"{_PATH}/links",
    **operation(
        "createSignInLink",
        "Create a sign-in link",
        Permission.CATALOGUE_READ,
        gives=SignInLinkOut,
        status=201,
        description="Created",
        errors=(PERMISSION_DENIED,),
    ),
)
async def create_sign_in_link(request: Request) -> Response:
    """Create a link that signs one browser in with this token: once, within ten minutes.

    Only this response has the link; a replay has null instead. A browser session cannot create links: it would outlive
    itself.
    """
    site = own_url(request)

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        if trace_of(request).by_cookie:
            raise Problem(PERMISSION_DENIED, "A browser session cannot create sign-in links: send a token.")
        link_id, code, expires_at = await sessions.make_link(connection, principal.token_id)
        secret = {"url": f"{site}/sign-in#code={code}", "code": code}
        return shown_once(201, {"id": link_id, "expires_at": expires_at}, secret, {"Location": _PATH}, None)

    return await change_platform(request, effect, own=True)


@routes.put(
    f"{_PATH}/membership",
    **operation(
        "switchSession",
        "Go on as another membership",
        Permission.CATALOGUE_READ,
        gives=SessionOut,
        errors=(PERMISSION_DENIED, STATE_CONFLICT, NOT_FOUND),
    ),
)
async def switch_session(request: Request, body: SessionSwitch) -> Response:
    """Let this browser's session go on in another project or billing account where the person is a member."""

    async def effect(connection: AsyncConnection, principal: Principal) -> Answer:
        credential = trace_of(request).credential()
        if not trace_of(request).by_cookie:
            raise Problem(STATE_CONFLICT, "Only a browser session can be switched; a token is of one project.")
        if await people.is_personal(connection, principal.token_id):
            raise Problem(PERMISSION_DENIED, "This session is of a personal token. Sign in as yourself to switch.")
        if not await people.switch(connection, credential, body.membership_id):
            raise not_found()
        row = await sessions.SESSION.one(connection, {"token_hash": credential})
        rights_at(origin_of(request), row.rights)
        return Answer(200, _document(row))

    return await change_platform(request, effect, own=True)


async def _still_signed_in(request: Request, left: AtProvider) -> dict[str, str] | None:
    """The provider, and where the browser signs out there; None where it cannot."""
    services = services_of(request)
    public = services.settings.public_url
    back = None if public is None else f"{public.rstrip('/')}{SIGN_IN}"
    there = await services.providers.sign_out_url(left.issuer, left.sid or left.subject, back)
    if there is None:
        return None
    provider, url = there
    return {"name": provider.name, "title": provider.title, "sign_out_url": url}


def _check_one_way(body: SessionCreate) -> None:
    """Raise `Problem` validation_failed unless the body has one way to sign in."""
    if [body.token, body.code, body.email, body.state].count(None) != 3:
        sentence = "Send an e-mail and a password, or a token, or a code, or what an identity provider returned."
        raise invalid([FieldError("/token", "one_of", sentence)])
    if (body.state is None) != (body.authorization_code is None):
        raise invalid([FieldError("/state", "with_code", "Send authorization_code and state together.")])
    if (body.email is None) != (body.password is None):
        raise invalid([FieldError("/password", "with_email", "Send the password with the e-mail, and only with it.")])
    if body.project is not None and body.email is None and body.state is None:
        raise invalid([FieldError("/project", "with_email", "A token and a code have a project of their own.")])


def _document(row: SessionRow | None, **more: str | None) -> bytes:
    if row is None:
        raise unauthenticated()
    rights = Rights.of(row.rights)
    body = {
        "token": orjson.Fragment(row.token),
        "role": rights.role,
        "scopes": sorted(rights.scopes),
        "project": None if row.project is None else orjson.Fragment(row.project),
        "signed_in_at": row.signed_in_at,
        "expires_at": row.expires_at,
        "idle_until": row.idle_until,
    }
    return orjson.dumps(body | more)


def _set_cookie(request: Request, response: Response, secret: str, seconds: int, path: str) -> None:
    """Set the session's cookie, or remove it with 0 seconds."""
    secure = over_tls(request.scope)
    response.set_cookie(
        SECURE_COOKIE if secure else PLAIN_COOKIE,
        secret,
        max_age=seconds,
        path=path,
        secure=secure,
        httponly=True,
        samesite="strict",
    )
