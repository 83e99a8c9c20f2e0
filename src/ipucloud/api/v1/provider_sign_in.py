"""What `POST /v1/session` does with the answer of an identity provider.

The sign-in is used up before its code is shown to the provider, and no transaction is open meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.attempts import ANYBODY
from ipucloud.api.credentials import over_tls
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.api.v1.sign_in import membership
from ipucloud.contract.sessions import SessionCreate
from ipucloud.identity import federation
from ipucloud.identity.federation import Begun
from ipucloud.identity.people import Membership
from ipucloud.identity.providers import Identity
from ipucloud.identity.tokens import Kind, secret_hash
from ipucloud.kernel.errors import SIGN_IN_ENDED, Problem

_PLAIN_COOKIE = "ipucloud-sign-in"
_SECURE_COOKIE = f"__Host-{_PLAIN_COOKIE}"


@dataclass(frozen=True, slots=True)
class Returned:
    """A browser that is back from its provider, and who the person is."""

    begun: Begun
    identity: Identity


async def identify(request: Request, body: SessionCreate) -> Returned:
    """Who signed in. Raises `Problem` sign_in_ended, and as `Providers.identify`."""
    services = services_of(request)
    services.attempts.take(request, ANYBODY)
    browser = request.cookies.get(_SECURE_COOKIE) or request.cookies.get(_PLAIN_COOKIE) or ""
    hashes = secret_hash(Kind.STATE, body.state or ""), secret_hash(Kind.BROWSER, browser)
    begun = await services.database.transact(lambda connection: federation.take(connection, *hashes))
    provider = services.providers.all.get(begun.provider)
    if provider is None:
        raise Problem(SIGN_IN_ENDED, f"The provider {begun.provider} was removed meanwhile. Sign in again.")
    identity = await services.providers.identify(
        provider, code=body.authorization_code or "", browser=browser, redirect_uri=begun.redirect_uri
    )
    return Returned(begun, identity)


async def membership_of(
    request: Request, connection: AsyncConnection, returned: Returned, project: str | None
) -> Membership:
    """Where the person acts: in what the invitation was to, or the project. Raises `Problem` as `federation.person`."""
    user, joined = await federation.person(
        connection,
        returned.identity,
        returned.begun.invitation_hash,
        trace_of(request).request_id,
        origin_of(request),
    )
    return await membership(request, connection, user, joined or project)


def set_cookie(request: Request, response: Response, secret: str, seconds: int) -> None:
    """Bind the sign-in to this browser, or forget it with 0 seconds."""
    secure = over_tls(request.scope)
    response.set_cookie(
        _SECURE_COOKIE if secure else _PLAIN_COOKIE,
        secret,
        max_age=seconds,
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
