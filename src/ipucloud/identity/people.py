"""People: their accounts, and the tokens that are theirs where they are members.

A membership is a token of the kind `member`, whose secret nobody knows: sessions of the panel are of it, and what the
person does is recorded with its id. The law: when a membership ends, every token and session of the person in this
project or account ends in the same statement.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.identity.access import PRINCIPAL
from ipucloud.identity.access_ends import END_DEVICES
from ipucloud.identity.roles import Role
from ipucloud.identity.token_store import TOKEN_OF_PRINCIPAL, TOKEN_PROJECT, MadeToken, Owner, create
from ipucloud.identity.tokens import TokenKind
from ipucloud.kernel.errors import ACCOUNT_DEACTIVATED, NOT_A_MEMBER, UNAUTHENTICATED, Problem
from ipucloud.kernel.ids import new_id


class User(NamedTuple):
    """A person with an account. `password_hash` is None for one who signs in through a provider only.

    `verified`: they have shown that the e-mail is theirs, as nobody else can have made an account without a password.
    """

    id: UUID
    email: str
    password_hash: str | None
    verified: bool


USER = """
users.id, users.email, users.password_hash,
users.verified_at IS NOT NULL OR users.password_hash IS NULL AS verified
"""
"""The columns of a `User`."""


class Holder(NamedTuple):
    """The person whose a token is, and when the token ends."""

    email: str
    expires_at: datetime | None


class Membership(NamedTuple):
    """Where a person is a member: of a project or of a billing account; `id` is the token's."""

    id: UUID
    role: Role
    project_id: UUID | None
    project: str | None
    account_id: UUID | None


class MeRow(NamedTuple):
    """What a caller can read about itself; all but `rights` are JSON. `user` is None for a service token."""

    rights: str
    token: str
    project: str | None
    user: str | None
    memberships: str


FIND_USER = Query(
    f"SELECT {USER} FROM users WHERE email = :email ORDER BY deleted_at IS NOT NULL, deleted_at DESC LIMIT 1",  # noqa: S608
    User,
)
"""A person who was deleted, if nobody else has the e-mail: whoever wants to sign in as them is told so."""
IS_ACTIVE = Query("SELECT deactivated_at IS NULL FROM users WHERE id = :user_id", bool)
_LOCK_ACTIVE = Query("SELECT deactivated_at IS NULL FROM users WHERE id = :user_id FOR SHARE", bool)
_LOCK_PASSWORD = Query(
    "SELECT password_hash IS NOT DISTINCT FROM CAST(:password_hash AS text) FROM users WHERE id = :user_id FOR SHARE",
    bool,
)
_HOLDER = Query(
    """
    SELECT users.email, tokens.expires_at FROM tokens JOIN users ON users.id = tokens.owner_id
     WHERE tokens.id = :token_id
    """,
    Holder,
)
USER_OF_TOKEN = Query(
    f"SELECT {USER} FROM users JOIN tokens ON tokens.owner_id = users.id WHERE tokens.id = :token_id",  # noqa: S608
    User,
)
_ADD_USER = Query(
    """
    INSERT INTO users (id, email, password_hash, password_set_at, verified_at)
    VALUES (:id, :email, :password_hash, CASE WHEN CAST(:password_hash AS text) IS NOT NULL THEN app_now() END,
            CASE WHEN :verified THEN app_now() END)
    ON CONFLICT (email) WHERE deleted_at IS NULL DO NOTHING RETURNING id
    """,
    UUID,
)
_SET_PASSWORD = Query(
    """
    UPDATE users SET password_hash = :password_hash, password_set_at = app_now()
     WHERE id = :id AND password_hash IS NOT DISTINCT FROM CAST(:previous AS text) RETURNING id
    """,
    UUID,
)
_MEMBERS = """
FROM tokens LEFT JOIN projects ON projects.id = tokens.project_id
WHERE tokens.kind = 'member' AND tokens.revoked_at IS NULL AND projects.deleted_at IS NULL
"""
_MEMBERSHIPS = Query(
    clauses(
        "SELECT tokens.id, tokens.role, tokens.project_id, projects.slug AS project, tokens.account_id",
        _MEMBERS,
        "AND tokens.owner_id = :user_id AND EXISTS (",
        "SELECT FROM users WHERE users.id = tokens.owner_id"
        " AND password_hash IS NOT DISTINCT FROM CAST(:password_hash AS text))",
        "ORDER BY tokens.last_used_at DESC NULLS LAST, tokens.created_at, tokens.id",
    ),
    Membership,
)
ME = Query(
    clauses(
        "WITH",
        PRINCIPAL,
        TOKEN_OF_PRINCIPAL,
        f"""
        , person AS (
          SELECT users.id, users.email, {rfc3339("users.created_at")} AS created_at,
                 {rfc3339("users.password_set_at")} AS password_set_at, {rfc3339("users.verified_at")} AS verified_at
            FROM users JOIN tokens ON tokens.owner_id = users.id JOIN principal ON principal.token_id = tokens.id),
        memberships AS (SELECT json_build_object(
            'id', tokens.id, 'role', tokens.role, 'project_id', tokens.project_id, 'project', projects.slug,
            'account_id', tokens.account_id, 'since', {rfc3339("tokens.created_at")}) AS document, projects.slug
        """,  # noqa: S608  # our own text
        _MEMBERS,
        "AND tokens.owner_id = (SELECT id FROM person))",
        "SELECT principal.rights, documents.document::text AS token,",
        TOKEN_PROJECT,
        ", (SELECT json_build_object('id', id, 'email', email, 'created_at', created_at,"
        " 'password_set_at', password_set_at, 'verified_at', verified_at)::text FROM person) AS user,",
        "(SELECT coalesce(json_agg(document ORDER BY slug), '[]')::text FROM memberships) AS memberships",
        "FROM principal CROSS JOIN documents LEFT JOIN projects ON projects.id = principal.home",
    ),
    MeRow,
)
_SET_LANGUAGE = sa.text("UPDATE users SET language = :language WHERE id = :user_id")
_END_SESSIONS = sa.text(
    """
    DELETE FROM browser_sessions
     WHERE token_id IN (SELECT id FROM tokens WHERE owner_id = :user_id) AND secret_hash <> :but
    """
)
_END_LOGINS = sa.text(
    """
    UPDATE tokens SET revoked_at = app_now()
     WHERE owner_id = :user_id AND kind = 'login' AND revoked_at IS NULL AND secret_hash <> :but
    """
)
_LOG_OUT = Query(
    "UPDATE tokens SET revoked_at = coalesce(revoked_at, app_now()) WHERE id = :id AND kind = 'login' RETURNING id",
    UUID,
)
# Not a join with the present token: the same request at the same time may have changed that, and then finds no row.
_SWITCH = Query(
    """
    UPDATE browser_sessions SET token_id = chosen.id
      FROM tokens AS chosen LEFT JOIN projects ON projects.id = chosen.project_id
     WHERE browser_sessions.secret_hash = :secret_hash
       AND chosen.owner_id = (SELECT owner_id FROM tokens
                               WHERE id = browser_sessions.token_id AND kind IN ('member', 'login'))
       AND chosen.id = :membership_id AND chosen.kind = 'member' AND chosen.revoked_at IS NULL
       AND projects.deleted_at IS NULL
    RETURNING chosen.id
    """,
    UUID,
)


_IS_PERSONAL = Query("SELECT EXISTS (SELECT FROM tokens WHERE id = :token_id AND kind = 'personal')", bool)


async def add_user(
    connection: AsyncConnection, email: str, password_hash: str | None, *, verified: bool
) -> UUID | None:
    """Create an account, with or without a password; None when there is one with this e-mail already.

    `verified`: the person has shown that the e-mail is theirs.
    """
    parameters = {"id": new_id(), "email": email, "password_hash": password_hash, "verified": verified}
    return await _ADD_USER.one_or_none(connection, parameters)


async def memberships(connection: AsyncConnection, user: User) -> list[Membership]:
    """Where the person is a member, the most recently used first. Nowhere if the password was changed meanwhile."""
    return await _MEMBERSHIPS.all(connection, {"user_id": user.id, "password_hash": user.password_hash})


def chosen(choices: list[Membership], project: str | None) -> Membership:
    """The membership to sign in to: of the project with this slug or id, or the first.

    Raises `Problem` not_a_member.
    """
    for membership in choices:
        if project is None or project in {membership.project, str(membership.project_id), str(membership.account_id)}:
            return membership
    if not choices:
        raise not_a_member()
    where = ", ".join(sorted(each.project or f"billing account {each.account_id}" for each in choices))
    raise Problem(NOT_A_MEMBER, f"You are not a member of this project. You are a member of: {where}.")


async def require_active(connection: AsyncConnection, user_id: UUID) -> None:
    """Raises `Problem` account_deactivated; else the person is active until the transaction ends."""
    if not await _LOCK_ACTIVE.one(connection, {"user_id": user_id}):
        raise deactivated()


async def require_password(connection: AsyncConnection, user: User) -> None:
    """Raises `Problem` 401 if the password was changed or taken away since it was compared."""
    if not await _LOCK_PASSWORD.one(connection, {"user_id": user.id, "password_hash": user.password_hash}):
        raise wrong_password()


def deactivated() -> Problem:
    """403 for a person whom the installation's identity provider has deactivated or deleted."""
    return Problem(
        ACCOUNT_DEACTIVATED,
        "This account was deactivated by the identity provider of this installation. Ask those who manage accounts"
        " there to activate yours, and then an owner of your project to invite you again.",
    )


def not_a_member() -> Problem:
    """403 for a person without any membership."""
    return Problem(NOT_A_MEMBER, "You are not a member of any project. Ask an owner of a project to invite you.")


def wrong_password() -> Problem:
    """401, the same for an unknown e-mail and a wrong password."""
    return Problem(UNAUTHENTICATED, "The e-mail or the password is wrong.")


class _Sources(NamedTuple):
    allowed_sources: list[str]


# Shared, so that a change that has begun is waited for, and one that follows finds the login.
_SOURCES = Query("SELECT allowed_sources FROM tokens WHERE id = :id FOR SHARE", _Sources)


@dataclass(frozen=True, slots=True)
class Login:
    """A token that `ipucloud login` asks for."""

    name: str
    env: str
    seconds: float
    request_id: str


async def log_in(connection: AsyncConnection, user: User, membership: Membership, login: Login) -> MadeToken:
    """Create a token of the person with the role and the allowed sources of the membership, which expires."""
    of_member = await _SOURCES.one(connection, {"id": membership.id})
    return await create(
        connection,
        env=login.env,
        project_id=membership.project_id,
        account_id=membership.account_id,
        name=login.name,
        role=membership.role,
        seconds=login.seconds,
        created_by=membership.id,
        request_id=login.request_id,
        owner=Owner(user.id, kind=TokenKind.LOGIN),
        allowed_sources=of_member.allowed_sources,
    )


async def log_out(connection: AsyncConnection, token_id: UUID) -> bool:
    """End the token if it is one of `log_in`; a request that comes at the same time may have done so."""
    return await _LOG_OUT.one_or_none(connection, {"id": token_id}) is not None


async def switch(connection: AsyncConnection, secret_hash: bytes, membership_id: UUID) -> bool:
    """Let a session go on as another membership of its person. False if it has none with this id.

    Nor if it is of a personal token, which may do less than the person.
    """
    parameters = {"secret_hash": secret_hash, "membership_id": membership_id}
    return await _SWITCH.one_or_none(connection, parameters) is not None


async def is_personal(connection: AsyncConnection, token_id: UUID | None) -> bool:
    """Whether the token is one that a person created, with a role of its own."""
    return await _IS_PERSONAL.one(connection, {"token_id": token_id})


async def set_language(connection: AsyncConnection, user_id: UUID, language: str) -> None:
    """Choose the language of a person's e-mails."""
    await connection.execute(_SET_LANGUAGE, {"user_id": user_id, "language": language})


async def set_password(connection: AsyncConnection, user: User, password_hash: str, *, but: bytes) -> bool:
    """Change the password, and end every session and login of the person except the one with the hash `but`.

    Logins that were approved and have not fetched their token get none.

    False if another request changed it first.
    """
    parameters = {"id": user.id, "password_hash": password_hash, "previous": user.password_hash}
    if await _SET_PASSWORD.one_or_none(connection, parameters) is None:
        return False
    await connection.execute(END_DEVICES, {"id": user.id})
    for statement in (_END_SESSIONS, _END_LOGINS):
        await connection.execute(statement, {"user_id": user.id, "but": but})
    return True


def unknowable() -> bytes:
    """The hash of a secret that nobody knows, for memberships."""
    return secrets.token_bytes(32)


async def holder_of(connection: AsyncConnection, token_id: UUID | None) -> Holder | None:
    """Whose the token is; None: a service token, or no request."""
    return await _HOLDER.one_or_none(connection, {"token_id": token_id})
