"""Logins of a command line that a person approves in the panel, as in RFC 8628.

The device has a secret code, the person a short one to compare. Whoever approves gives the device a token of their
own, with the role of the membership; it is made when the device fetches it, once.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.identity.people import USER, User
from ipucloud.identity.tokens import Kind, new_secret
from ipucloud.kernel.errors import (
    ACCESS_DENIED,
    AUTHORIZATION_PENDING,
    EXPIRED_TOKEN,
    NOT_FOUND,
    SLOW_DOWN,
    STATE_CONFLICT,
    Problem,
)
from ipucloud.kernel.ids import new_id

DEVICE_SECONDS = 600
INTERVAL = 5
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so no words; as RFC 8628, section 6.1, proposes."""
_LENGTH = 8


class Device(NamedTuple):
    """A device that waits, as the person sees it."""

    name: str
    project: str | None
    address: str
    created_at: str
    expires_at: str


class Approved(NamedTuple):
    """What a device may fetch."""

    name: str
    project: str | None
    member_id: UUID


class _Polled(NamedTuple):
    early: bool
    ended: bool
    denied: bool
    member_id: UUID | None


_BEGIN = Query(
    f"""
    INSERT INTO device_logins (id, device_hash, user_code, name, project, address, expires_at)
    VALUES (:id, :device_hash, :user_code, :name, :project, :address, app_now() + make_interval(secs => :seconds))
    RETURNING {rfc3339("expires_at")}
    """,  # noqa: S608  # our own text
    str,
)
_TRIM = sa.text(
    """
    DELETE FROM device_logins WHERE id IN (
      SELECT id FROM device_logins WHERE expires_at < app_now() - interval '1 day' LIMIT 100)
    """
)
_WAITING = "user_code = :user_code AND decided_at IS NULL AND expires_at > app_now()"
SHOW = Query(
    f"""
    SELECT name, project, address, {rfc3339("created_at")} AS created_at, {rfc3339("expires_at")} AS expires_at
      FROM device_logins WHERE {_WAITING}
    """,  # noqa: S608  # our own text
    Device,
)
_DECIDE = Query(
    f"UPDATE device_logins SET decided_at = app_now(), member_id = :member_id WHERE {_WAITING} RETURNING id",  # noqa: S608
    UUID,
)
_POLL = Query(
    """
    UPDATE device_logins SET polled_at = app_now()
      FROM (SELECT id, coalesce(polled_at > app_now() - make_interval(secs => :interval), false) AS early
              FROM device_logins WHERE device_hash = :device_hash FOR UPDATE) AS before
     WHERE device_logins.id = before.id
    RETURNING before.early AS early, used_at IS NOT NULL OR expires_at <= app_now() AS ended,
              decided_at IS NOT NULL AND member_id IS NULL AS denied, member_id
    """,
    _Polled,
)
_USE = Query(
    """
    UPDATE device_logins SET used_at = app_now() WHERE device_hash = :device_hash AND used_at IS NULL
    RETURNING name, project, member_id
    """,
    Approved,
)
# Not of a login or a personal token: a token would otherwise renew itself for ever.
_PERSON = Query(
    f"""
    SELECT {USER} FROM tokens JOIN users ON users.id = tokens.owner_id
     WHERE tokens.id = :token_id AND tokens.kind = 'member'
    """,  # noqa: S608  # our own text
    User,
)
USER_OF_MEMBER = Query(
    f"""
    SELECT {USER} FROM tokens JOIN users ON users.id = tokens.owner_id
     WHERE tokens.id = :member_id AND tokens.revoked_at IS NULL
    """,  # noqa: S608  # our own text
    User,
)

HOME = Query("SELECT coalesce(project_id, account_id)::text FROM tokens WHERE id = :member_id", str)
"""The id of the project or account of a membership."""


async def begin(connection: AsyncConnection, *, name: str, project: str | None, address: str) -> tuple[str, str, str]:
    """Let a device wait: its code, the person's code, and when both expire."""
    device, device_hash = new_secret(Kind.DEVICE)
    user_code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    await connection.execute(_TRIM)
    expires_at = await _BEGIN.one(
        connection,
        {
            "id": new_id(),
            "device_hash": device_hash,
            "user_code": user_code,
            "name": name,
            "project": project,
            "address": address,
            "seconds": DEVICE_SECONDS,
        },
    )
    return device, f"{user_code[:4]}-{user_code[4:]}", expires_at


def normalised(user_code: str) -> str:
    """The code as it is stored, however it was entered."""
    return "".join(each for each in user_code.upper() if each in _LETTERS)


async def require_person(connection: AsyncConnection, token_id: UUID) -> None:
    """Raises `Problem` state_conflict for whoever did not sign in as a person."""
    if await _PERSON.one_or_none(connection, {"token_id": token_id}) is None:
        raise Problem(
            STATE_CONFLICT, "Only a person who signed in with a password or an identity provider can approve a login."
        )


async def decide(connection: AsyncConnection, user_code: str, token_id: UUID, *, approve: bool) -> None:
    """Approve or deny. Raises `Problem` not_found, state_conflict for whoever did not sign in as a person."""
    await require_person(connection, token_id)
    parameters = {"user_code": normalised(user_code), "member_id": token_id if approve else None}
    if await _DECIDE.one_or_none(connection, parameters) is None:
        raise unknown()


def unknown() -> Problem:
    """404, the same for a wrong code and one that has expired or was decided."""
    return Problem(
        NOT_FOUND, "No login waits for this code: it is mistyped, has expired, or was decided. Begin another."
    )


async def poll(connection: AsyncConnection, device_hash: bytes | None) -> Problem | None:
    """Note that the device asks: None if it may `use` its code now, else the problem to answer with."""
    login = None
    if device_hash is not None:
        login = await _POLL.one_or_none(connection, {"device_hash": device_hash, "interval": INTERVAL - 1})
    if login is None or login.ended:
        return Problem(EXPIRED_TOKEN, "The code has expired or was used. Begin another login.")
    if login.denied:
        return Problem(ACCESS_DENIED, "The login was denied.")
    if login.member_id is not None:
        return None
    if login.early:
        return Problem(SLOW_DOWN, f"Ask every {INTERVAL} seconds.")
    return Problem(AUTHORIZATION_PENDING, "The login was not approved yet.")


async def use(connection: AsyncConnection, device_hash: bytes) -> Approved:
    """Use up the code of an approved login. Raises `Problem` expired_token if another request just did."""
    login = await _USE.one_or_none(connection, {"device_hash": device_hash})
    if login is None:
        raise Problem(EXPIRED_TOKEN, "The code was used. Begin another login.")
    return login
