"""Signing people in: with their password, or with the answer of an identity provider to `POST /v1/session`.

The sign-in is used up before its code is shown to the provider, and no transaction is open meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.attempts import ANYBODY
from ipucloud.api.credentials import over_tls
from ipucloud.api.links import inviting_of, mail_again
from ipucloud.api.services import services_of
from ipucloud.api.trace import origin_of, trace_of
from ipucloud.contract.sessions import SessionCreate
from ipucloud.identity import federation, people, provider_logouts
from ipucloud.identity.federation import Begun
from ipucloud.identity.people import Membership, User
from ipucloud.identity.providers import Identity
from ipucloud.identity.tokens import Kind, secret_hash
from ipucloud.identity.verification import Again
from ipucloud.kernel.errors import NOT_A_MEMBER, SIGN_IN_ENDED, Problem

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
    begun = await services.database.transact(lambda connection: federation.consume(connection, *hashes))
    provider = services.providers.all.get(begun.provider)
    if provider is None:
        raise Problem(SIGN_IN_ENDED, f"The provider {begun.provider} was removed meanwhile. Sign in again.")
    identity = await services.providers.identify(
        provider, code=body.authorization_code or "", browser=browser, redirect_uri=begun.redirect_uri
    )
    return Returned(begun, identity)


@dataclass(frozen=True, slots=True)
class Signed:
    """The person who is back. `again`: memberships that became invitations; None: the account was theirs before."""

    user: User
    returned: Returned
    again: list[Again] | None


async def person_of(request: Request, returned: Returned) -> Signed:
    """Whose the identity is, which is committed: what had access to the account before ends, whatever follows.

    Raises `Problem` as `federation.person`.
    """
    inviting = inviting_of(request)
    invitation_hash = returned.begun.invitation_hash

    async def work(connection: AsyncConnection) -> Signed:
        user, again = await federation.person(
            connection, returned.identity, invitation_hash, inviting, origin_of(request)
        )
        if again is not None:
            trace_of(request).concerns(verified_user_id=user.id)
            await mail_again(request, connection, again)
        return Signed(user, returned, again)

    return await services_of(request).database.transact(work)


async def membership_of(
    request: Request, connection: AsyncConnection, signed: Signed, project: str | None
) -> Membership:
    """Where the person acts: in what the invitation was to, or the project.

    Raises `Problem` as `federation.join`, and sign_in_ended for a person who has signed out at the provider meanwhile.
    """
    trace, begun = trace_of(request), signed.returned.begun
    await provider_logouts.require_signed_in(connection, signed.returned.identity, begun.used_at)
    joined = await federation.join(connection, signed.user, begun.invitation_hash, trace.request_id, origin_of(request))
    if signed.again and joined is None:
        places = ", ".join(each.place for each in signed.again)
        way = (
            f"Open the links that were just sent to {signed.user.email}"
            if inviting_of(request).mailed
            else "Ask an owner of each to renew the invitation and to send you the link"
        )
        raise Problem(
            NOT_A_MEMBER,
            "Your e-mail is verified now. Others may have used this account before, so its password, sessions and"
            f" tokens have ended, and you are invited again to what it was a member of: {places}. {way}.",
        )
    return await membership(request, connection, signed.user, joined or project)


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


async def verified(request: Request, email: str, password: str) -> User:
    """The person with this e-mail and password. Raises `Problem` 401, the same for either, and rate_limited."""
    services = services_of(request)
    services.attempts.take(request, email)
    user = await services.reader.one(people.FIND_USER, {"email": email})
    if not await services.passwords.verify(user and user.password_hash, password) or user is None:
        raise people.wrong_password()
    services.attempts.succeeded(request, email)
    return user


async def membership(request: Request, connection: AsyncConnection, user: User, project: str | None) -> Membership:
    """Where the person acts. Raises `Problem` account_deactivated, not_a_member."""
    await people.require_active(connection, user.id)
    member = people.chosen(await people.memberships(connection, user), project)
    trace_of(request).concerns(token_id=member.id, project_id=member.project_id)
    return member
