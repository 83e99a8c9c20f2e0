"""Whose the e-mail of an account is, and what happens when a person shows that for the first time.

Whoever had the link of an invitation could make an account with the e-mail of somebody else. The law: an account is
nobody's until a person has shown that its e-mail is theirs. What had access to it until then ends in the same
transaction, and its memberships become invitations, which the person may accept.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.identity import access_ends, invitations, people
from ipucloud.identity.access_ends import Ended
from ipucloud.identity.members import Home

log = structlog.get_logger(__name__)


class Proof(StrEnum):
    """How a person showed that an e-mail is theirs, in a sentence."""

    PROVIDER = "when the person signed in through an identity provider"
    DIRECTORY = "when the identity provider that keeps the people took the account over"
    MAILBOX = "when the person opened a link that only the mailbox got"
    OPERATOR = "when the operator reset the password"


class Inviting(NamedTuple):
    """How people are invited again: by a link that is valid for `seconds`, and `mailed` to nobody but them, or not."""

    seconds: float
    mailed: bool
    request_id: str | None = None


class Again(NamedTuple):
    """An invitation in the place of a membership that ended."""

    id: UUID
    secret: str
    email: str
    home: Home
    place: str


class Reset(NamedTuple):
    """What became of the memberships of an account with a new password: kept, or invitations again."""

    kept: list[str]
    again: list[Again]


class Unverified(NamedTuple):
    """An account whose e-mail nobody has shown to be theirs, and the projects and accounts that it is a member of."""

    id: UUID
    email: str
    created_at: datetime
    places: str | None


class _Locked(NamedTuple):
    email: str
    active: bool
    verified: bool


_LOCK = Query(
    """
    SELECT email, deactivated_at IS NULL AS active, verified_at IS NOT NULL OR password_hash IS NULL AS verified
      FROM users WHERE id = :id FOR NO KEY UPDATE
    """,
    _Locked,
)
_VERIFY = sa.text(
    """
    UPDATE users SET verified_at = coalesce(verified_at, app_now()), password_hash = :password_hash,
                     password_set_at = CASE WHEN CAST(:password_hash AS text) IS NOT NULL THEN app_now() END
     WHERE id = :id
    """
)
_FORGET_IDENTITIES = sa.text("DELETE FROM user_identities WHERE user_id = :id")
_PLACES = Query(
    """
    SELECT coalesce(projects.slug, 'billing account ' || tokens.account_id)
      FROM tokens LEFT JOIN projects ON projects.id = tokens.project_id
     WHERE owner_id = :id AND kind = 'member' AND revoked_at IS NULL ORDER BY 1
    """,
    str,
)

UNVERIFIED = Query(
    """
    SELECT id, email, created_at, (
             SELECT string_agg(coalesce(projects.slug, 'billing account ' || tokens.account_id), ', ' ORDER BY slug)
               FROM tokens LEFT JOIN projects ON projects.id = tokens.project_id
              WHERE owner_id = users.id AND kind = 'member' AND revoked_at IS NULL) AS places
      FROM users
     WHERE verified_at IS NULL AND password_hash IS NOT NULL AND deactivated_at IS NULL
       AND (CAST(:emails AS text[]) IS NULL OR email = ANY (CAST(:emails AS text[])))
     ORDER BY email FOR NO KEY UPDATE
    """,
    Unverified,
)
"""Locked until the transaction ends; `:emails` None: all."""
VOUCH = sa.text("UPDATE users SET verified_at = app_now() WHERE id = ANY (CAST(:ids AS uuid[]))")
"""An operator says that those who use the accounts `:ids` read their e-mail."""


async def verify(
    connection: AsyncConnection, user_id: UUID, proof: Proof, inviting: Inviting, *, password_hash: str | None = None
) -> list[Again] | None:
    """Give the account to the person who has just shown that its e-mail is theirs, with this password or none.

    None, and nothing happens, if a person has shown that before. Raises `Problem` account_deactivated.
    """
    user = await _LOCK.one(connection, {"id": user_id})
    if not user.active:
        raise people.deactivated()
    if user.verified:
        return None
    await set_verified(connection, user_id, password_hash)
    return await _invite_again(connection, user_id, user.email, proof, inviting)


async def set_verified(connection: AsyncConnection, user_id: UUID, password_hash: str | None) -> None:
    """The account is a person's, with this password or none. The caller ends what had access."""
    await connection.execute(_VERIFY, {"id": user_id, "password_hash": password_hash})


async def reset_password(
    connection: AsyncConnection, email: str, password_hash: str, inviting: Inviting, *, keep: bool | None = None
) -> Reset | None:
    """Give a person another password, which the operator hands to nobody else; what signed in before ends.

    Sessions, logins, personal tokens and identities at providers. Memberships stay if `keep`; None: if the person has
    shown that the e-mail is theirs. None if nobody has this e-mail, or the person was deactivated.
    """
    user = await people.FIND_USER.one_or_none(connection, {"email": email})
    locked = user and await _LOCK.one(connection, {"id": user.id})
    if user is None or locked is None or not locked.active:
        return None
    await set_verified(connection, user.id, password_hash)
    await connection.execute(_FORGET_IDENTITIES, {"id": user.id})
    if locked.verified if keep is None else keep:
        await access_ends.end_sign_ins(connection, user.id)
        return Reset(await _PLACES.all(connection, {"id": user.id}), [])
    return Reset([], await _invite_again(connection, user.id, email, Proof.OPERATOR, inviting))


async def _invite_again(
    connection: AsyncConnection, user_id: UUID, email: str, proof: Proof, inviting: Inviting
) -> list[Again]:
    reason = (
        f"The e-mail was verified {proof}. What had access under this name before has ended, and the person is invited"
        " again. Check service tokens, SSH keys and webhooks that were made under this name."
    )
    ended = await access_ends.end_access(connection, user_id, email, inviting.request_id, reason)
    log.warning("earlier_access_ended", person=str(user_id), proof=proof.name.lower(), memberships=len(ended))
    again = [await _invite(connection, each, email, inviting) for each in ended]
    return [each for each in again if each is not None]


async def _invite(connection: AsyncConnection, ended: Ended, email: str, inviting: Inviting) -> Again | None:
    """None if there is an invitation already."""
    home = Home(ended.project_id, ended.account_id, inviting.request_id)
    invitation = await invitations.insert(
        connection,
        home,
        email=email,
        role=ended.role,
        seconds=inviting.seconds,
        mailed=inviting.mailed,
        invited_by=ended.invited_by,
    )
    if invitation is None:
        return None
    return Again(*invitation, email, home, ended.project or f"billing account {ended.account_id}")
