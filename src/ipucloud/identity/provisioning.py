"""People as the installation's identity provider keeps them.

The law: whoever is deactivated has no session, no token, no membership and no open invitation from the same commit on,
and gets none until they are active again. What ended stays ended. Nothing stands in the way of that, not even that the
person is the only owner of a project. Whoever was deleted is gone for the provider; the row stays for what the person
did, and the e-mail is free for another person.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import MemberOf
from ipucloud.contract.event_types.projects import MEMBER_REMOVED
from ipucloud.db.rows import Query
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Role
from ipucloud.kernel.errors import NAME_TAKEN, NOT_FOUND, Problem
from ipucloud.kernel.ids import new_id

log = structlog.get_logger(__name__)


class Profile(NamedTuple):
    """What an identity provider says of a person. Everything but the e-mail and `active` may be unknown."""

    email: str
    active: bool
    external_id: str | None = None
    display_name: str | None = None
    formatted_name: str | None = None
    given_name: str | None = None
    family_name: str | None = None


class Person(NamedTuple):
    """Somebody with an account, provisioned or not."""

    id: UUID
    created_at: datetime
    updated_at: datetime
    profile: Profile


class _Member(NamedTuple):
    id: UUID
    project_id: UUID | None
    account_id: UUID | None
    role: Role


_COLUMNS = """
id, created_at, updated_at,
email, deactivated_at IS NULL AS active, external_id, display_name, formatted_name, given_name, family_name
"""
_THERE = "FROM users WHERE deleted_at IS NULL"
_CHOSEN = f"""
{_THERE} AND (CAST(:email AS text) IS NULL OR email = CAST(:email AS text))
         AND (CAST(:external_id AS text) IS NULL OR external_id = CAST(:external_id AS text))
"""
FIND = Query(f"SELECT {_COLUMNS} {_THERE} AND id = :id", Person)
LIST = Query(f"SELECT {_COLUMNS} {_CHOSEN} ORDER BY created_at, id OFFSET :offset LIMIT :limit", Person)
COUNT = Query(f"SELECT count(*) {_CHOSEN}", int)
_LOCK = Query(f"SELECT {_COLUMNS} {_THERE} AND id = :id FOR NO KEY UPDATE", Person)
_CREATE = Query(
    f"""
    INSERT INTO users (id, email, external_id, display_name, formatted_name, given_name, family_name, password_set_at,
                       deactivated_at)
    VALUES (:id, :email, :external_id, :display_name, :formatted_name, :given_name, :family_name, NULL,
            CASE WHEN NOT :active THEN app_now() END)
    ON CONFLICT (email) WHERE deleted_at IS NULL DO NOTHING RETURNING {_COLUMNS}
    """,  # noqa: S608
    Person,
)
_UPDATE = Query(
    f"""
    UPDATE users
       SET email = :email, external_id = :external_id, display_name = :display_name, formatted_name = :formatted_name,
           given_name = :given_name, family_name = :family_name, updated_at = app_now(),
           deactivated_at = CASE WHEN NOT :active THEN coalesce(deactivated_at, app_now()) END
     WHERE id = :id RETURNING {_COLUMNS}
    """,  # noqa: S608
    Person,
)
_DELETE = sa.text(
    """
    UPDATE users
       SET deleted_at = app_now(), deactivated_at = coalesce(deactivated_at, app_now()), updated_at = app_now(),
           password_hash = NULL, password_set_at = NULL, external_id = NULL, display_name = NULL,
           formatted_name = NULL, given_name = NULL, family_name = NULL
     WHERE id = :id
    """
)
_FORGET_IDENTITIES = sa.text("DELETE FROM user_identities WHERE user_id = :id")
_MEMBERS = Query(
    """
    SELECT tokens.id, tokens.project_id, tokens.account_id, tokens.role
      FROM tokens LEFT JOIN projects ON projects.id = tokens.project_id
     WHERE tokens.owner_id = :id AND tokens.kind = 'member' AND tokens.revoked_at IS NULL
       AND projects.deleted_at IS NULL
     ORDER BY tokens.id FOR NO KEY UPDATE OF tokens
    """,
    _Member,
)
_OWNERLESS = Query(
    """
    SELECT slug FROM projects
     WHERE id = ANY (:projects)
       AND 'owner' <> ALL (SELECT role FROM tokens
                            WHERE project_id = projects.id AND kind = 'member' AND revoked_at IS NULL)
     ORDER BY slug
    """,
    str,
)
_END = (
    sa.text("DELETE FROM browser_sessions WHERE token_id IN (SELECT id FROM tokens WHERE owner_id = :id)"),
    sa.text("UPDATE tokens SET revoked_at = app_now() WHERE owner_id = :id AND revoked_at IS NULL"),
    sa.text(
        """
        UPDATE invitations SET revoked_at = app_now()
         WHERE email = :email AND accepted_at IS NULL AND revoked_at IS NULL
        """
    ),
)


async def create(connection: AsyncConnection, profile: Profile) -> Person:
    """An account without a password. Raises `Problem` name_taken."""
    made = await _CREATE.one_or_none(connection, {"id": new_id(), **profile._asdict()})
    if made is None:
        raise _taken(profile.email)
    return made


async def locked(connection: AsyncConnection, person_id: UUID) -> Person:
    """The person, as they are until the transaction ends. Raises `Problem` not_found."""
    found = await _LOCK.one_or_none(connection, {"id": person_id})
    if found is None:
        raise no_person()
    return found


async def update(connection: AsyncConnection, person: Person, profile: Profile, request_id: str) -> Person:
    """Change what `locked` has found. Whoever becomes inactive loses everything that they signed in with.

    Raises `Problem` name_taken.
    """
    if profile == person.profile:
        return person
    if person.profile.active and not profile.active:
        await _end(connection, person, request_id)
    try:
        return await _UPDATE.one(connection, {"id": person.id, **profile._asdict()})
    except IntegrityError as error:
        raise _taken(profile.email) from error


async def delete(connection: AsyncConnection, person_id: UUID, request_id: str) -> None:
    """Deactivate a person for good. Raises `Problem` not_found."""
    person = await locked(connection, person_id)
    await _end(connection, person, request_id)
    await connection.execute(_FORGET_IDENTITIES, {"id": person_id})
    await connection.execute(_DELETE, {"id": person_id})


def no_person() -> Problem:
    """404, the same for an id that nobody ever had and for a person who was deleted."""
    return Problem(NOT_FOUND, "There is no user with this id, or it was deleted.")


async def _end(connection: AsyncConnection, person: Person, request_id: str) -> None:
    members = await _MEMBERS.all(connection, {"id": person.id})
    for statement in _END:
        await connection.execute(statement, {"id": person.id, "email": person.profile.email})
    for each in members:
        home = Home(each.project_id, each.account_id, request_id)
        data = MemberOf(email=person.profile.email, role=each.role)
        await home.note(connection, MEMBER_REMOVED, each.id, data)
    owned = [each.project_id for each in members if each.role is Role.OWNER and each.project_id is not None]
    ownerless = await _OWNERLESS.all(connection, {"projects": owned})
    if ownerless:
        log.warning("projects_without_owner", projects=ownerless, person=str(person.id))


def _taken(email: str) -> Problem:
    return Problem(NAME_TAKEN, f"Another user has the userName {email}. Find it by a filter, and update that one.")
