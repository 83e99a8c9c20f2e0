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
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.identity import verification
from ipucloud.identity.access_ends import end_access
from ipucloud.identity.verification import Again, Inviting, Proof
from ipucloud.kernel.errors import NAME_TAKEN, NOT_FOUND, Problem
from ipucloud.kernel.ids import new_id


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
    verified: bool
    profile: Profile


_COLUMNS = """
id, created_at, updated_at, verified_at IS NOT NULL OR password_hash IS NULL AS verified,
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
                       verified_at, deactivated_at)
    VALUES (:id, :email, :external_id, :display_name, :formatted_name, :given_name, :family_name, NULL,
            app_now(), CASE WHEN NOT :active THEN app_now() END)
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
_END_INVITATIONS = sa.text(
    """
    UPDATE invitations SET revoked_at = app_now()
     WHERE email = :email AND accepted_at IS NULL AND revoked_at IS NULL
    """
)


async def create(connection: AsyncConnection, profile: Profile) -> Person:
    """An account without a password. Raises `Problem` name_taken."""
    person = await _CREATE.one_or_none(connection, {"id": new_id(), **profile._asdict()})
    if person is None:
        raise _name_taken(profile.email)
    return person


async def locked(connection: AsyncConnection, person_id: UUID) -> Person:
    """The person, as they are until the transaction ends. Raises `Problem` not_found."""
    person = await _LOCK.one_or_none(connection, {"id": person_id})
    if person is None:
        raise no_person()
    return person


async def update(
    connection: AsyncConnection, person: Person, profile: Profile, inviting: Inviting
) -> tuple[Person, list[Again]]:
    """Change what `locked` has found. Whoever becomes inactive loses everything that they signed in with.

    So does an account whose e-mail nobody had shown to be theirs: from now on the provider says whose it is. Its
    memberships are invitations again, which are returned. Raises `Problem` name_taken.
    """
    if profile == person.profile and person.verified:
        return person, []
    if person.profile.active and not profile.active:
        await _end(connection, person, inviting.request_id)
    elif person.profile.email != profile.email:
        await connection.execute(_END_INVITATIONS, {"email": person.profile.email})
    try:
        updated = await _UPDATE.one(connection, {"id": person.id, **profile._asdict()})
    except IntegrityError as error:
        raise _name_taken(profile.email) from error
    if not profile.active and not person.verified:
        await verification.set_verified(connection, person.id, None)
    again = await verification.verify(connection, person.id, Proof.DIRECTORY, inviting) if profile.active else None
    return updated, again or []


async def delete(connection: AsyncConnection, person_id: UUID, request_id: str) -> None:
    """Deactivate a person for good. Raises `Problem` not_found."""
    person = await locked(connection, person_id)
    await _end(connection, person, request_id)
    await connection.execute(_FORGET_IDENTITIES, {"id": person_id})
    await connection.execute(_DELETE, {"id": person_id})


def no_person() -> Problem:
    """404, the same for an id that nobody ever had and for a person who was deleted."""
    return Problem(NOT_FOUND, "There is no user with this id, or it was deleted.")


async def _end(connection: AsyncConnection, person: Person, request_id: str | None) -> None:
    await end_access(connection, person.id, person.profile.email, request_id)
    await connection.execute(_END_INVITATIONS, {"email": person.profile.email})


def _name_taken(email: str) -> Problem:
    return Problem(NAME_TAKEN, f"Another user has the userName {email}. Find it by a filter, and update that one.")
