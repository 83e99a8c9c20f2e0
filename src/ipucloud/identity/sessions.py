"""Browser sessions and the links that begin them.

A session has the rights of its token and ends with it: `access.PRINCIPAL` reads the token as it is now. It also ends
when it expires, when it was not used for a while, and when its holder signs out: here, or at the provider through which
it began.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.identity.access import PRINCIPAL
from ipucloud.identity.providers import Identity
from ipucloud.identity.token_store import TOKEN_OF_PRINCIPAL, TOKEN_PROJECT
from ipucloud.identity.tokens import Kind, new_secret
from ipucloud.kernel.errors import SIGN_IN_LINK_ENDED, UNAUTHENTICATED, Problem
from ipucloud.kernel.ids import new_id

LINK_SECONDS = 600
SESSIONS_OF_A_TOKEN = 100
"""At most so many; the oldest ends when one more begins."""


class SessionRow(NamedTuple):
    """What a caller can read about its session; `token` and `project` are JSON.

    A request by token has no session: then `signed_in_at` and `idle_until` are None.
    """

    rights: str
    token: str
    project: str | None
    signed_in_at: str | None
    expires_at: str | None
    idle_until: str | None


class AtProvider(NamedTuple):
    """The session at a provider through which a session began; `sid` is None where the provider did not say."""

    issuer: str
    subject: str
    sid: str | None


SESSION = Query(
    clauses(
        "WITH",
        PRINCIPAL,
        TOKEN_OF_PRINCIPAL,
        "SELECT principal.rights, documents.document::text AS token,",
        TOKEN_PROJECT,
        f", {rfc3339('s.created_at')} AS signed_in_at,",
        f"{rfc3339('least(s.expires_at, tokens.expires_at)')} AS expires_at, {rfc3339('s.idle_until')} AS idle_until",
        "FROM principal CROSS JOIN documents JOIN tokens ON tokens.id = principal.token_id",
        "LEFT JOIN projects ON projects.id = principal.home",
        "LEFT JOIN browser_sessions s ON s.secret_hash = :token_hash",
    ),
    SessionRow,
)

_TAKE_LINK = Query(
    """
    UPDATE sign_in_links SET used_at = app_now()
     WHERE secret_hash = :secret_hash AND used_at IS NULL AND expires_at > app_now() RETURNING token_id
    """,
    UUID,
)
_LINK_USED = Query("SELECT used_at IS NOT NULL FROM sign_in_links WHERE secret_hash = :secret_hash", bool)
_TOKEN_OF = Query("SELECT id FROM tokens WHERE secret_hash = :secret_hash", UUID)
_BEGIN = Query(
    """
    INSERT INTO browser_sessions (id, token_id, secret_hash, expires_at, idle_until, issuer, subject, sid)
    SELECT :id, tokens.id, :secret_hash, app_now() + make_interval(secs => :seconds),
           app_now() + make_interval(secs => :idle), CAST(:issuer AS text), CAST(:subject AS text), CAST(:sid AS text)
      FROM tokens
     WHERE tokens.id = :token_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > app_now())
    RETURNING id
    """,
    UUID,
)
_END = Query(
    "DELETE FROM browser_sessions WHERE secret_hash = :secret_hash"
    " RETURNING coalesce(issuer, '') AS issuer, coalesce(subject, '') AS subject, sid",
    AtProvider,
)
_TRIM = sa.text(
    """
    DELETE FROM browser_sessions WHERE id IN (
      (SELECT id FROM browser_sessions WHERE token_id = :token_id ORDER BY created_at DESC, id OFFSET :most)
      UNION ALL
      (SELECT id FROM browser_sessions WHERE least(expires_at, idle_until) < app_now() - interval '1 day'
                                         AND expires_at < app_now() + interval '1 day' LIMIT 100))
    """
)
_TRIM_LINKS = sa.text(
    """
    DELETE FROM sign_in_links WHERE id IN (
      SELECT id FROM sign_in_links WHERE expires_at < app_now() - interval '1 day' LIMIT 100)
    """
)
_MAKE_LINK = Query(
    f"""
    INSERT INTO sign_in_links (id, token_id, secret_hash, expires_at)
    VALUES (:id, :token_id, :secret_hash, app_now() + make_interval(secs => :seconds))
    RETURNING {rfc3339("expires_at")}
    """,  # noqa: S608  # our own text
    str,
)


class Lives(NamedTuple):
    """How long sessions last: at most, and without a request."""

    longest: timedelta
    idle: timedelta


async def begin_by_token(
    connection: AsyncConnection, token_hash: bytes | None, lives: Lives
) -> tuple[UUID, str, bytes]:
    """Begin a session of the token: the token's id, the secret and its hash. Raises `Problem` unauthenticated."""
    token_id = None if token_hash is None else await _TOKEN_OF.one_or_none(connection, {"secret_hash": token_hash})
    if token_id is None:
        raise _unknown("token")
    return await _begin(connection, token_id, lives, "token")


async def begin_by_membership(
    connection: AsyncConnection, member_id: UUID, lives: Lives, identity: Identity | None = None
) -> tuple[UUID, str, bytes]:
    """As `begin_by_token`, of a membership whose person was verified; `identity`: by a provider."""
    return await _begin(connection, member_id, lives, "membership", identity)


async def begin_by_code(connection: AsyncConnection, code_hash: bytes | None, lives: Lives) -> tuple[UUID, str, bytes]:
    """As `begin_by_token`, with the code of a link, which is used up.

    Raises `Problem` sign_in_link_ended for a link that was used or has expired, unauthenticated for no link at all and
    for one whose token has ended.
    """
    if code_hash is None:
        raise _unknown("code")
    token_id = await _TAKE_LINK.one_or_none(connection, {"secret_hash": code_hash})
    if token_id is not None:
        return await _begin(connection, token_id, lives, "link's token")
    used = await _LINK_USED.one_or_none(connection, {"secret_hash": code_hash})
    if used is None:
        raise _unknown("code")
    why = "was used already; each signs in once" if used else "has expired"
    raise Problem(SIGN_IN_LINK_ENDED, f"The sign-in link {why}. Make another with `ipucloud panel`, or enter a token.")


async def end(connection: AsyncConnection, secret_hash: bytes) -> AtProvider | None:
    """End the session with this hash, if there is one; what it left at a provider, if it began through one."""
    ended = await _END.one_or_none(connection, {"secret_hash": secret_hash})
    return ended if ended is not None and ended.issuer else None


async def make_link(connection: AsyncConnection, token_id: UUID) -> tuple[UUID, str, str]:
    """Make a link for the token: its id, its code, and when it expires."""
    await connection.execute(_TRIM_LINKS)
    link_id, (code, code_hash) = new_id(), new_secret(Kind.LINK)
    parameters = {"id": link_id, "token_id": token_id, "secret_hash": code_hash, "seconds": LINK_SECONDS}
    return link_id, code, await _MAKE_LINK.one(connection, parameters)


async def _begin(
    connection: AsyncConnection, token_id: UUID, lives: Lives, by: str, identity: Identity | None = None
) -> tuple[UUID, str, bytes]:
    secret, secret_hash = new_secret(Kind.SESSION)
    parameters = {
        "id": new_id(),
        "token_id": token_id,
        "secret_hash": secret_hash,
        "seconds": lives.longest.total_seconds(),
        "idle": lives.idle.total_seconds(),
        "issuer": identity and identity.issuer,
        "subject": identity and identity.subject,
        "sid": identity and identity.sid,
    }
    if await _BEGIN.one_or_none(connection, parameters) is None:
        raise _unknown(by)
    await connection.execute(_TRIM, {"token_id": token_id, "most": SESSIONS_OF_A_TOKEN})
    return token_id, secret, secret_hash


def _unknown(what: str) -> Problem:
    return Problem(UNAUTHENTICATED, f"The {what} is not valid: it may be mistyped, expired or revoked.")
