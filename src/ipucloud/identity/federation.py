"""Signing in through providers: the sign-ins on their way, and whose an identity is.

The law: an identity, the pair of issuer and subject, belongs to one account for ever, and an account has at most one of
each issuer. It is linked to an account by the e-mail once, and only if the provider verified that and is trusted with
its domain (`providers.Identity`); afterwards the e-mail at the provider does not count.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.log import act_as
from ipucloud.identity import invitations, people, verification
from ipucloud.identity.people import USER, User
from ipucloud.identity.providers import Identity
from ipucloud.identity.tokens import Kind, new_secret
from ipucloud.identity.verification import Again, Inviting, Proof
from ipucloud.kernel.actor import Origin
from ipucloud.kernel.errors import (
    IDENTITY_CONFLICT,
    INVITATION_ENDED,
    NO_ACCOUNT,
    PERMISSION_DENIED,
    SIGN_IN_ENDED,
    Problem,
)
from ipucloud.kernel.ids import new_id

SIGN_IN_SECONDS = 600


class Begun(NamedTuple):
    """A sign-in that has come back from its provider."""

    provider: str
    invitation_hash: bytes | None
    redirect_uri: str
    used_at: datetime


_BEGIN = Query(
    f"""
    INSERT INTO provider_sign_ins (id, provider, state_hash, browser_hash, invitation_hash, redirect_uri, expires_at)
    VALUES (:id, :provider, :state_hash, :browser_hash, :invitation_hash, :redirect_uri,
            app_now() + make_interval(secs => :seconds))
    RETURNING {rfc3339("expires_at")}
    """,  # noqa: S608  # our own text
    str,
)
_TRIM = sa.text(
    """
    DELETE FROM provider_sign_ins WHERE id IN (
      SELECT id FROM provider_sign_ins WHERE expires_at < app_now() - interval '1 day' LIMIT 100)
    """
)
_TAKE = Query(
    """
    UPDATE provider_sign_ins SET used_at = app_now()
     WHERE state_hash = :state_hash AND browser_hash = :browser_hash AND used_at IS NULL AND expires_at > app_now()
    RETURNING provider, invitation_hash, redirect_uri, app_now() AS used_at
    """,
    Begun,
)
_OF_IDENTITY = Query(
    f"""
    SELECT {USER} FROM users JOIN user_identities ON user_id = users.id
     WHERE issuer = :issuer AND subject = :subject
    """,  # noqa: S608  # our own text
    User,
)
_LINK = Query(
    """
    INSERT INTO user_identities (issuer, subject, user_id) VALUES (:issuer, :subject, :user_id)
    ON CONFLICT DO NOTHING RETURNING user_id
    """,
    UUID,
)


async def begin(
    connection: AsyncConnection, provider: str, *, redirect_uri: str, invitation_hash: bytes | None
) -> tuple[str, str, str]:
    """Begin a sign-in: its `state`, the secret for the browser's cookie, and when it expires."""
    state, state_hash = new_secret(Kind.STATE)
    browser, browser_hash = new_secret(Kind.BROWSER)
    await connection.execute(_TRIM)
    expires_at = await _BEGIN.one(
        connection,
        {
            "id": new_id(),
            "provider": provider,
            "state_hash": state_hash,
            "browser_hash": browser_hash,
            "invitation_hash": invitation_hash,
            "redirect_uri": redirect_uri,
            "seconds": SIGN_IN_SECONDS,
        },
    )
    return state, browser, expires_at


async def consume(connection: AsyncConnection, state_hash: bytes | None, browser_hash: bytes | None) -> Begun:
    """Use up a sign-in, before its code is shown to anybody. Raises `Problem` sign_in_ended."""
    parameters = {"state_hash": state_hash or b"", "browser_hash": browser_hash or b""}
    sign_in = await _TAKE.one_or_none(connection, parameters)
    if sign_in is None:
        raise Problem(
            SIGN_IN_ENDED, "This sign-in was finished already, has expired, or began in another browser. Sign in again."
        )
    return sign_in


async def person(
    connection: AsyncConnection, identity: Identity, invitation_hash: bytes | None, inviting: Inviting, origin: Origin
) -> tuple[User, list[Again] | None]:
    """Whose the identity is. With an open invitation to its e-mail the person gets an account if there is none.

    If nobody had shown that the account's e-mail is theirs, this identity does: what had access ends, and the account's
    memberships are the invitations that are returned. The caller commits that before anything else is refused.

    Raises `Problem` no_account, identity_conflict, account_deactivated; of an invitation not_found, invitation_ended.
    """
    user = await _OF_IDENTITY.one_or_none(connection, {"issuer": identity.issuer, "subject": identity.subject})
    if user is None:
        user = await people.FIND_USER.one_or_none(connection, {"email": identity.email})
        if user is None:
            return await _begin_account(connection, identity, invitation_hash), None
        if user.verified:
            await people.require_active(connection, user.id)
        await _link(connection, identity, user)
    if user.verified:
        return user, None
    await act_as(connection, user.email, origin=origin)
    again = await verification.verify(connection, user.id, Proof.PROVIDER, inviting)
    return await _OF_IDENTITY.one(connection, {"issuer": identity.issuer, "subject": identity.subject}), again


async def join(
    connection: AsyncConnection, user: User, invitation_hash: bytes | None, request_id: str, origin: Origin
) -> str | None:
    """The home that the person joins by the invitation, if there is one: the slug of a project, or an account's id.

    Raises `Problem` not_found, invitation_ended, permission_denied, already_member, account_deactivated.
    """
    if invitation_hash is None:
        return None
    invited = invitations.opened(await invitations.FIND.one_or_none(connection, {"secret_hash": invitation_hash}))
    if invited.email != user.email:
        raise Problem(PERMISSION_DENIED, f"The invitation is to {invited.email}, and you signed in as {user.email}.")
    await invitations.accept(connection, invitation_hash, user.id, request_id, origin)
    return invited.project or str(invited.account_id)


async def _begin_account(connection: AsyncConnection, identity: Identity, invitation_hash: bytes | None) -> User:
    """A new account, for whoever is invited."""
    invited = None
    if invitation_hash is not None:
        invited = invitations.opened(await invitations.FIND.one_or_none(connection, {"secret_hash": invitation_hash}))
    if invited is None or invited.email != identity.email:
        raise Problem(
            NO_ACCOUNT, f"There is no account for {identity.email}. Ask an owner of a project to invite this address."
        )
    user_id = await people.add_user(connection, identity.email, None, verified=True)
    if user_id is None:
        raise Problem(INVITATION_ENDED, "Another request has just made this account. Sign in again.")
    user = User(user_id, identity.email, None, verified=True)
    await _link(connection, identity, user)
    return user


async def _link(connection: AsyncConnection, identity: Identity, user: User) -> None:
    """The account is the identity's from now on."""
    parameters = {"issuer": identity.issuer, "subject": identity.subject, "user_id": user.id}
    if await _LINK.one_or_none(connection, parameters) is None:
        raise Problem(
            IDENTITY_CONFLICT,
            f"The account of {identity.email} belongs to another identity of this provider. Ask the operator.",
        )
