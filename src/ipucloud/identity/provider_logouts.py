"""The end of sessions whose person signed out at the provider, as a logout token says.

The law: a token takes effect once, in the transaction that remembers it. Sent again, it ends no session that began
since; and no session begins of a sign-in that was on its way at that moment. Tokens for programs and logins of the
command line stay, as when a person signs out here.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.identity.logout_tokens import Logout
from ipucloud.identity.providers import Identity
from ipucloud.kernel.errors import SIGN_IN_ENDED, Problem


class Ended(NamedTuple):
    """A session that has just ended: the membership that it was of, and its project."""

    token_id: UUID
    project_id: UUID | None


_TRIM = sa.text(
    """
    DELETE FROM provider_logouts WHERE token_hash IN (
      SELECT token_hash FROM provider_logouts WHERE created_at < app_now() - interval '1 day' LIMIT 100)
    """
)
"""A day is far longer than a logout token is accepted (`logout_tokens.OLDEST`)."""
_LOCK = sa.text("SELECT pg_advisory_xact_lock(7220603, hashtext(CAST(:issuer AS text)))")
_LOCK_SHARED = sa.text("SELECT pg_advisory_xact_lock_shared(7220603, hashtext(CAST(:issuer AS text)))")
_REMEMBER = Query(
    """
    INSERT INTO provider_logouts (token_hash, issuer, subject, sid) VALUES (:token_hash, :issuer, :subject, :sid)
    ON CONFLICT DO NOTHING RETURNING token_hash
    """,
    bytes,
)
_SIGNED_OUT = Query(
    """
    SELECT EXISTS (
      SELECT FROM provider_logouts
       WHERE issuer = :issuer AND created_at >= :since AND coalesce(subject = CAST(:subject AS text), true)
         AND coalesce(sid = CAST(:sid AS text), true))
    """,
    bool,
)
# A session of the person of which the provider did not say `sid` may be the one that ended there.
_END = Query(
    """
    DELETE FROM browser_sessions
     WHERE issuer = :issuer AND (
           subject = CAST(:subject AS text) AND coalesce(sid = CAST(:sid AS text), true)
        OR sid = CAST(:sid AS text) AND CAST(:subject AS text) IS NULL)
    RETURNING token_id, (SELECT project_id FROM tokens WHERE tokens.id = token_id) AS project_id
    """,
    Ended,
)


async def end_sessions(connection: AsyncConnection, logout: Logout) -> list[Ended] | None:
    """End the sessions that began in the session of the provider, or in any of the person's there.

    None if the logout token took effect before.
    """
    await connection.execute(_TRIM)
    await connection.execute(_LOCK, {"issuer": logout.issuer})
    parameters = {"issuer": logout.issuer, "subject": logout.subject, "sid": logout.sid}
    token_hash = hashlib.sha256(f"{logout.issuer}\0{logout.jti}".encode()).digest()
    if await _REMEMBER.one_or_none(connection, {"token_hash": token_hash, **parameters}) is None:
        return None
    return await _END.all(connection, parameters)


async def require_signed_in(connection: AsyncConnection, identity: Identity, since: datetime) -> None:
    """Call it in the transaction that begins a session. Raises `Problem` sign_in_ended for who signed out there since.

    Logouts of the provider wait until that transaction ends, and then find the session.
    """
    await connection.execute(_LOCK_SHARED, {"issuer": identity.issuer})
    parameters = {"issuer": identity.issuer, "subject": identity.subject, "sid": identity.sid, "since": since}
    if await _SIGNED_OUT.one(connection, parameters):
        raise Problem(SIGN_IN_ENDED, "You have signed out at the identity provider meanwhile. Sign in again.")
