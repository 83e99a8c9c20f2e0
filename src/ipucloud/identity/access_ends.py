"""The end of what gives access to an account: of everything, or of all that was begun with the former password.

The law: the caller has locked the person's row, for which sign-ins, new tokens and joins wait: what is under way at the
same moment is refused or ends too.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import MemberRemoved
from ipucloud.contract.event_types.projects import MEMBER_REMOVED
from ipucloud.db.rows import Query
from ipucloud.identity.members import Home
from ipucloud.identity.roles import Role

log = structlog.get_logger(__name__)


class Ended(NamedTuple):
    """A membership that has just ended, and who had invited the person."""

    id: UUID
    project_id: UUID | None
    project: str | None
    account_id: UUID | None
    role: Role
    invited_by: str | None


_MEMBERS = Query(
    """
    SELECT tokens.id, tokens.project_id, projects.slug AS project, tokens.account_id, tokens.role,
           (SELECT max(i.invited_by) FROM invitations i
             WHERE i.member_id = tokens.id
               AND (i.project_id = tokens.project_id OR i.account_id = tokens.account_id)) AS invited_by
      FROM tokens LEFT JOIN projects ON projects.id = tokens.project_id
     WHERE tokens.owner_id = :id AND tokens.kind = 'member' AND tokens.revoked_at IS NULL
       AND projects.deleted_at IS NULL
     ORDER BY tokens.id FOR NO KEY UPDATE OF tokens
    """,
    Ended,
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
_END_SESSIONS = sa.text("DELETE FROM browser_sessions WHERE token_id IN (SELECT id FROM tokens WHERE owner_id = :id)")
_END_TOKENS = sa.text("UPDATE tokens SET revoked_at = app_now() WHERE owner_id = :id AND revoked_at IS NULL")
_END_ALL_BUT_MEMBERSHIPS = sa.text(
    "UPDATE tokens SET revoked_at = app_now() WHERE owner_id = :id AND revoked_at IS NULL AND kind <> 'member'"
)
END_DEVICES = sa.text(
    """
    UPDATE device_logins SET used_at = app_now()
     WHERE used_at IS NULL AND member_id IN (SELECT id FROM tokens WHERE owner_id = :id)
    """
)
"""Logins of the command line that a person, `:id`, has approved, and that have not fetched their token yet."""


async def end_access(
    connection: AsyncConnection, person_id: UUID, email: str, request_id: str | None, reason: str | None = None
) -> list[Ended]:
    """End the person's sessions, tokens and memberships, everywhere. Nothing stands in the way of that.

    `reason`: for people, in the events of the projects and accounts. Service tokens are nobody's, and stay.
    """
    members = await _MEMBERS.all(connection, {"id": person_id})
    for statement in (_END_SESSIONS, _END_TOKENS):
        await connection.execute(statement, {"id": person_id})
    for member in members:
        home = Home(member.project_id, member.account_id, request_id)
        data = MemberRemoved(email=email, role=member.role, reason=reason)
        await home.note(connection, MEMBER_REMOVED, member.id, data)
    owned = [member.project_id for member in members if member.role is Role.OWNER and member.project_id is not None]
    ownerless = await _OWNERLESS.all(connection, {"projects": owned})
    if ownerless:
        log.warning("projects_without_owner", projects=ownerless, person=str(person_id))
    return members


async def end_sign_ins(connection: AsyncConnection, person_id: UUID) -> None:
    """End the person's sessions and tokens. Memberships stay."""
    for statement in (END_DEVICES, _END_SESSIONS, _END_ALL_BUT_MEMBERSHIPS):
        await connection.execute(statement, {"id": person_id})
