"""The end of sessions whose person signed out at the provider, as a logout token says.

The law: a token takes effect once, in the transaction that remembers it. Sent again, it ends no session that began
since. Tokens for programs and logins of the command line stay, as when a person signs out here.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.identity.logout_tokens import Logout


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
_REMEMBER = Query(
    "INSERT INTO provider_logouts (token_hash) VALUES (:token_hash) ON CONFLICT DO NOTHING RETURNING token_hash", bytes
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
    token_hash = hashlib.sha256(f"{logout.issuer}\0{logout.jti}".encode()).digest()
    if await _REMEMBER.one_or_none(connection, {"token_hash": token_hash}) is None:
        return None
    parameters = {"issuer": logout.issuer, "subject": logout.subject, "sid": logout.sid}
    return await _END.all(connection, parameters)
