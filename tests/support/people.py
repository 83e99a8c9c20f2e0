"""People for tests: with a known password and a verified e-mail, members without an invitation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from argon2 import PasswordHasher
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.identity.people import unknowable
from ipucloud.identity.roles import Role
from ipucloud.identity.tables import tokens, users
from ipucloud.identity.tokens import TokenKind, new_token
from ipucloud.kernel.ids import new_id
from tests.support.factories import Token

PASSWORD = "quiet-harbour-42-lamp"
_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with an account, and the first of its memberships."""

    id: UUID
    email: str
    member: UUID


async def make_person(
    connection: AsyncConnection, project_id: UUID, role: Role = Role.VIEWER, *, email: str | None = None
) -> Person:
    """A person with `PASSWORD` who is a member of a project, or with the role payer of a billing account."""
    user_id, email = new_id(), email or f"person-{next(_numbers)}@example.com"
    known = {"id": user_id, "email": email, "password_hash": _HASH, "verified_at": sa.func.app_now()}
    await connection.execute(sa.insert(users).values(**known))
    return Person(user_id, email, await make_member(connection, user_id, project_id, role))


async def make_member(connection: AsyncConnection, user_id: UUID, home: UUID, role: Role) -> UUID:
    """A membership of a person; its id."""
    return (await _token(connection, user_id, home, role, kind=TokenKind.MEMBER, secret_hash=unknowable())).id


async def make_owned(
    connection: AsyncConnection, person: Person, home: UUID, role: Role, kind: TokenKind = TokenKind.LOGIN
) -> Token:
    """A token of a person, as `ipucloud login` gets one."""
    secret = new_token("test")
    row = await _token(connection, person.id, home, role, kind=kind, secret_hash=secret.hash)
    return Token(row.id, secret.secret, role)


async def _token(
    connection: AsyncConnection, user_id: UUID, home: UUID, role: Role, *, kind: TokenKind, secret_hash: bytes
) -> Token:
    token_id = new_id()
    await connection.execute(
        sa.insert(tokens).values(
            id=token_id,
            project_id=None if role is Role.PAYER else home,
            account_id=home if role is Role.PAYER else None,
            name=f"{kind} {next(_numbers)}",
            role=role,
            display_prefix="",
            secret_hash=secret_hash,
            kind=kind,
            owner_id=user_id,
        )
    )
    return Token(token_id, "", role)
