"""Members of a project or of a billing account: listing them, changing their role, removing them.

The law: of a project's members one is an owner for as long as it has any, so that somebody can invite others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import MemberRemoved, MemberRoleChanged, MemberSources
from ipucloud.contract.event_types.projects import MEMBER_REMOVED, MEMBER_ROLE_CHANGED, MEMBER_SOURCES_CHANGED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, READ_BACK, DocumentPage, clauses, page_of, rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.log import record, record_for_account
from ipucloud.identity.access import authenticated
from ipucloud.identity.roles import Role, within
from ipucloud.kernel.errors import LAST_OWNER, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.networks import allows

_DOCUMENTS = f"""
, documents AS (SELECT place, json_build_object(
    'id', id, 'email', (SELECT email FROM users WHERE users.id = owner_id), 'role', role,
    'verified', (SELECT verified_at IS NOT NULL OR password_hash IS NULL FROM users WHERE users.id = owner_id),
    'allowed_sources', allowed_sources,
    'since', {rfc3339("created_at")}, 'last_seen_at', {rfc3339("seen_at")}) AS document
  FROM (SELECT page.*, (
          SELECT max(other.last_used_at) FROM tokens AS other
           WHERE other.owner_id = page.owner_id AND other.kind IN ('member', 'login')
             AND (other.project_id = page.project_id OR other.account_id = page.account_id)) AS seen_at
          FROM page) AS page)
"""  # noqa: S608  # our own text
_LIVING = """kind = 'member' AND revoked_at IS NULL
  AND (CAST(:email AS text) IS NULL OR EXISTS (
         SELECT FROM users
          WHERE users.id = owner_id AND position(lower(CAST(:email AS text)) IN lower(users.email)) > 0))
"""
_OF_ROLE = "AND (CAST(:role AS text) IS NULL OR role = CAST(:role AS text))"
_OF_PROJECT = "WHERE project_id = (SELECT project_id FROM project) AND"

LIST_MEMBERS: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(
        clauses(
            page_of("tokens", order, clauses(_OF_PROJECT, _LIVING, _OF_ROLE)),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""Parameters: those of `db.documents.list_parameters` for a `MemberList`."""

OWNED = "{owned}"
"""In the text of a statement: the condition that a row is of the project, or of the billing account."""
OF_ACCOUNT = "WITH principal AS (SELECT NULL AS rights), project AS (SELECT CAST(NULL AS uuid) AS project_id)"
LIST_ACCOUNT_MEMBERS: Mapping[Order, Query[DocumentPage]] = {
    order: Query(
        clauses(
            OF_ACCOUNT,
            page_of("tokens", order, f"WHERE account_id = :account_id AND {_LIVING}"),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""The same of a billing account, for `api.paging.list_of_account`, of an `AccountMemberList`."""

_READ = Query(
    clauses("WITH page AS (SELECT *, 1 AS place FROM tokens WHERE id = :id)", _DOCUMENTS, READ_BACK),
    str,
)


class _Member(NamedTuple):
    id: UUID
    user_id: UUID
    email: str
    role: Role
    allowed_sources: list[str]


_LOCK = Query(
    """
    SELECT tokens.id, users.id AS user_id, users.email, tokens.role, tokens.allowed_sources
      FROM tokens JOIN users ON users.id = tokens.owner_id
     WHERE (tokens.project_id = :project_id OR tokens.account_id = :account_id)
       AND tokens.kind = 'member' AND tokens.revoked_at IS NULL
     ORDER BY tokens.id FOR NO KEY UPDATE OF tokens
    """,
    _Member,
)
_SET_ROLE = sa.text(
    """
    UPDATE tokens SET role = CASE WHEN kind IN ('member', 'login') THEN :role ELSE role END,
                      revoked_at = CASE WHEN kind = 'personal' THEN app_now() END
     WHERE owner_id = :user_id AND project_id = :project_id AND revoked_at IS NULL
       AND (kind IN ('member', 'login') OR role <> ALL(CAST(:within AS text[])))
    """
)
# Logins too: they have the rights of the membership. Personal tokens have sources of their own.
_SET_SOURCES = sa.text(
    """
    UPDATE tokens SET allowed_sources = CAST(:sources AS text[])
     WHERE owner_id = :user_id AND project_id = :project_id AND revoked_at IS NULL AND kind IN ('member', 'login')
    """
)
_OWN = Query("SELECT owner_id IS NOT DISTINCT FROM CAST(:user_id AS uuid) FROM tokens WHERE id = :token_id", bool)
_END = sa.text(
    """
    UPDATE tokens SET revoked_at = app_now()
     WHERE owner_id = :user_id AND (project_id = :project_id OR account_id = :account_id) AND revoked_at IS NULL
    """
)
_END_INVITATIONS = sa.text(
    """
    UPDATE invitations SET revoked_at = app_now()
     WHERE email = :email AND (project_id = :project_id OR account_id = :account_id)
       AND accepted_at IS NULL AND revoked_at IS NULL
    """
)


@dataclass(frozen=True, slots=True)
class Home:
    """A project or a billing account, whose members, webhooks and exports are, and the request that changes something.

    Exactly one of the two ids is given.
    """

    project_id: UUID | None
    account_id: UUID | None
    request_id: str | None = None

    @property
    def parameters(self) -> dict[str, UUID | None]:
        return {"project_id": self.project_id, "account_id": self.account_id}

    @property
    def noun(self) -> str:
        """For sentences."""
        return "project" if self.account_id is None else "billing account"

    @property
    def id(self) -> UUID:
        """Of the project or of the account."""
        home_id = self.project_id or self.account_id
        if home_id is None:
            raise TypeError("neither a project nor an account")
        return home_id

    async def note(
        self, connection: AsyncConnection, type_: EventType, subject_id: UUID, data: BaseModel | None = None
    ) -> None:
        """Append an event."""
        if self.project_id is not None:
            await record(
                connection,
                type_,
                project_id=self.project_id,
                subject_id=subject_id,
                request_id=self.request_id,
                data=data,
            )
        elif self.account_id is not None:
            await record_for_account(
                connection,
                type_,
                account_id=self.account_id,
                subject_id=subject_id,
                request_id=self.request_id,
                data=data,
            )


async def read_member(connection: AsyncConnection, home: Home, member_id: UUID) -> str:
    """A member's JSON inside the transaction that changed it, or changed nothing. Raises `Problem` not_found."""
    await _locked(connection, home, member_id, Role.OWNER)
    return await _READ.one(connection, {"id": member_id})


async def set_role(connection: AsyncConnection, home: Home, member_id: UUID, role: Role) -> None:
    """Give a member of a project another role, at once, also in its sessions and logins.

    Personal tokens that may do more than the role end. Raises `Problem` not_found, last_owner.
    """
    member = await _locked(connection, home, member_id, role)
    if member.role is role:
        return
    parameters = {
        "user_id": member.user_id,
        "project_id": home.project_id,
        "role": role.value,
        "within": [each.value for each in within(role)],
    }
    await connection.execute(_SET_ROLE, parameters)
    data = MemberRoleChanged(email=member.email, role=role, previous=member.role)
    await home.note(connection, MEMBER_ROLE_CHANGED, member_id, data)


async def set_sources(
    connection: AsyncConnection, home: Home, member_id: UUID, sources: Sequence[str], *, by: UUID, address: str
) -> None:
    """Let a member of a project use it from these networks only, at once also in sessions and logins; none: from
    everywhere. `by`: the caller's token, in a request from this address.

    Raises `Problem` not_found, and validation_failed for who would lock themselves out.
    """
    member = await _locked(connection, home, member_id, Role.OWNER)
    if member.allowed_sources == [*sources]:
        return
    if not allows(sources, address) and await _OWN.one(connection, {"user_id": member.user_id, "token_id": by}):
        sentence = f"You would lock yourself out: none of these networks has {address}, where your request comes from."
        fault = FieldError("/allowed_sources", "locks_out_caller", sentence)
        raise Problem(VALIDATION_FAILED, "The member stays as it is.", [fault])
    ids = {"user_id": member.user_id, "project_id": home.project_id}
    await connection.execute(_SET_SOURCES, ids | {"sources": [*sources]})
    data = MemberSources(email=member.email, role=member.role, allowed_sources=[*sources])
    await home.note(connection, MEMBER_SOURCES_CHANGED, member_id, data)


async def remove(connection: AsyncConnection, home: Home, member_id: UUID) -> None:
    """End a membership with the person's sessions and tokens here. Raises `Problem` not_found, last_owner."""
    member = await _locked(connection, home, member_id, None)
    await connection.execute(_END, {"user_id": member.user_id, **home.parameters})
    await connection.execute(_END_INVITATIONS, {"email": member.email, **home.parameters})
    await home.note(connection, MEMBER_REMOVED, member_id, MemberRemoved(email=member.email, role=member.role))


async def _locked(connection: AsyncConnection, home: Home, member_id: UUID, role: Role | None) -> _Member:
    """The member who is to have this role, or none; every member is locked until the commit."""
    members = await _LOCK.all(connection, home.parameters)
    member = next((each for each in members if each.id == member_id), None)
    if member is None:
        raise not_found()
    owners = [each.id for each in members if each.role is Role.OWNER]
    if owners == [member_id] and role is not Role.OWNER:
        raise Problem(
            LAST_OWNER, "This is the only member who owns the project. Give another member the role owner first."
        )
    return member
