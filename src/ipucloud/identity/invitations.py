"""Invitations: a person becomes a member with the secret of a link, once, until it expires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import MemberOf
from ipucloud.contract.event_types.projects import MEMBER_INVITED, MEMBER_JOINED
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, READ_BACK, DocumentPage, clauses, page_of, rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.log import act_as
from ipucloud.identity.access import authenticated
from ipucloud.identity.members import OF_ACCOUNT, Home
from ipucloud.identity.people import require_active, unknowable
from ipucloud.identity.projects import lock
from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import Kind, new_secret
from ipucloud.kernel.actor import Origin
from ipucloud.kernel.errors import ALREADY_INVITED, ALREADY_MEMBER, INVITATION_ENDED, Problem, not_found
from ipucloud.kernel.ids import new_id

_MAILED = "coalesce(mailed_hash = secret_hash, false)"
"""The link is known to nobody but whoever reads the person's e-mail."""
_DOCUMENTS = f"""
, documents AS (SELECT place, json_build_object(
    'id', id, 'email', email, 'role', role, 'invited_by', invited_by, 'emailed', {_MAILED},
    'state', CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN revoked_at IS NOT NULL THEN 'revoked'
                  WHEN expires_at <= app_now() THEN 'expired' ELSE 'open' END,
    'created_at', {rfc3339("created_at")}, 'expires_at', {rfc3339("expires_at")},
    'accepted_at', {rfc3339("accepted_at")}, 'revoked_at', {rfc3339("revoked_at")},
    'member_id', member_id) AS document
  FROM page)
"""  # noqa: S608  # our own text
_OPEN = "accepted_at IS NULL AND revoked_at IS NULL"
_FILTER = f"AND (NOT coalesce(CAST(:open AS boolean), false) OR ({_OPEN} AND expires_at > app_now()))"

LIST_INVITATIONS: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(
        clauses(
            page_of("invitations", order, clauses("WHERE project_id = (SELECT project_id FROM project)", _FILTER)),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""Parameters from `db.documents.list_parameters`. `:open` true: those that can be accepted now."""

LIST_ACCOUNT_INVITATIONS: Mapping[Order, Query[DocumentPage]] = {
    order: Query(
        clauses(
            OF_ACCOUNT,
            page_of("invitations", order, f"WHERE account_id = :account_id {_FILTER}"),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""The same of a billing account, for `api.paging.list_of_account`."""

_READ = Query(
    clauses("WITH page AS (SELECT *, 1 AS place FROM invitations WHERE id = :id)", _DOCUMENTS, READ_BACK), str
)
_IS_MEMBER = Query(
    """
    SELECT EXISTS (SELECT FROM tokens JOIN users ON users.id = tokens.owner_id
                    WHERE users.email = :email AND tokens.kind = 'member' AND tokens.revoked_at IS NULL
                      AND (tokens.project_id = :project_id OR tokens.account_id = :account_id))
    """,
    bool,
)
_END_EXPIRED = Query(
    f"""
    UPDATE invitations SET revoked_at = app_now()
     WHERE email = :email AND (project_id = :project_id OR account_id = :account_id)
       AND {_OPEN} AND expires_at <= app_now() RETURNING id
    """,  # noqa: S608  # our own text
    UUID,
)
_INVITE = Query(
    """
    INSERT INTO invitations (id, project_id, account_id, email, role, secret_hash, mailed_hash, invited_by, expires_at)
    VALUES (:id, :project_id, :account_id, :email, :role, :secret_hash, :mailed_hash,
            coalesce(CAST(:invited_by AS text), current_setting('ipucloud.actor', true)),
            app_now() + make_interval(secs => :seconds))
    ON CONFLICT DO NOTHING RETURNING id
    """,
    UUID,
)
_RENEW = Query(
    f"""
    UPDATE invitations SET secret_hash = :secret_hash, mailed_hash = :mailed_hash,
                           expires_at = app_now() + make_interval(secs => :seconds)
     WHERE id = :id AND (project_id = :project_id OR account_id = :account_id) AND {_OPEN} RETURNING id
    """,  # noqa: S608  # our own text
    UUID,
)
_REVOKE = Query(
    f"""
    UPDATE invitations SET revoked_at = app_now()
     WHERE id = :id AND (project_id = :project_id OR account_id = :account_id) AND {_OPEN} RETURNING id
    """,  # noqa: S608  # our own text
    UUID,
)
_EXISTS = Query(
    "SELECT id FROM invitations WHERE id = :id AND (project_id = :project_id OR account_id = :account_id)", UUID
)


class Invited(NamedTuple):
    """An open invitation as its secret shows it. `mailed`: whoever has the secret reads the person's e-mail.

    `has_account`: the person has an account. One that is nobody's yet does not count for whoever reads its e-mail.
    """

    id: UUID
    email: str
    role: Role
    invited_by: str | None
    project_id: UUID | None
    project: str | None
    project_name: str | None
    account_id: UUID | None
    expires_at: str
    open: bool
    mailed: bool
    has_account: bool


FIND = Query(
    f"""
    SELECT i.id, i.email, i.role, i.invited_by, i.project_id, projects.slug AS project,
           projects.name AS project_name, i.account_id, {rfc3339("i.expires_at")} AS expires_at,
           {_OPEN} AND i.expires_at > app_now() AND projects.deleted_at IS NULL AS open, {_MAILED} AS mailed,
           EXISTS (SELECT FROM users WHERE users.email = i.email
                      AND NOT ({_MAILED} AND verified_at IS NULL AND password_hash IS NOT NULL)) AS has_account
      FROM invitations AS i LEFT JOIN projects ON projects.id = i.project_id
     WHERE i.secret_hash = :secret_hash
    """,  # noqa: S608  # our own text
    Invited,
)
_LOCK = Query("SELECT id FROM invitations WHERE secret_hash = :secret_hash FOR UPDATE", UUID)
_ACCEPT = Query(
    "UPDATE invitations SET accepted_at = app_now(), member_id = :member_id WHERE id = :id RETURNING id", UUID
)
_JOIN = Query(
    """
    INSERT INTO tokens (id, project_id, account_id, name, role, display_prefix, secret_hash, kind, owner_id)
    VALUES (:id, :project_id, :account_id, :name, :role, '', :secret_hash, 'member', :user_id)
    ON CONFLICT DO NOTHING RETURNING id
    """,
    UUID,
)


async def invite(
    connection: AsyncConnection, home: Home, *, email: str, role: Role, seconds: float, mailed: bool
) -> tuple[UUID, str]:
    """Invite a person: the invitation's id and its secret. `mailed`: the caller has it sent, and shows it to nobody.

    Raises `Problem` already_member, already_invited.
    """
    if await _IS_MEMBER.one(connection, {"email": email, **home.parameters}):
        raise Problem(ALREADY_MEMBER, "The person is a member already. Change their role instead.")
    invitation = await insert(connection, home, email=email, role=role, seconds=seconds, mailed=mailed)
    if invitation is None:
        raise Problem(
            ALREADY_INVITED, "The person has an open invitation here. Renew that one, or revoke it and invite again."
        )
    return invitation


async def insert(
    connection: AsyncConnection,
    home: Home,
    *,
    email: str,
    role: Role,
    seconds: float,
    mailed: bool,
    invited_by: str | None = None,
) -> tuple[UUID, str] | None:
    """As `invite`, of a person who is known to be no member; None if they have an open invitation.

    `invited_by`: None for whoever the request is of.
    """
    await _END_EXPIRED.all(connection, {"email": email, **home.parameters})
    secret, secret_hash = new_secret(Kind.INVITATION)
    invitation_id = await _INVITE.one_or_none(
        connection,
        {
            "id": new_id(),
            "email": email,
            "role": role.value,
            "secret_hash": secret_hash,
            "mailed_hash": secret_hash if mailed else None,
            "invited_by": invited_by,
            "seconds": seconds,
            **home.parameters,
        },
    )
    if invitation_id is None:
        return None
    await home.note(connection, MEMBER_INVITED, invitation_id, MemberOf(email=email, role=role))
    return invitation_id, secret


async def renew(connection: AsyncConnection, home: Home, invitation_id: UUID, *, seconds: float, mailed: bool) -> str:
    """Replace the secret and begin its time anew; the former one ends. `mailed` as for `invite`.

    Raises `Problem` not_found, invitation_ended.
    """
    secret, secret_hash = new_secret(Kind.INVITATION)
    parameters = {
        "id": invitation_id,
        "secret_hash": secret_hash,
        "seconds": seconds,
        "mailed_hash": secret_hash if mailed else None,
        **home.parameters,
    }
    if await _RENEW.one_or_none(connection, parameters) is None:
        await _require(connection, home, invitation_id)
        raise _ended()
    return secret


async def revoke(connection: AsyncConnection, home: Home, invitation_id: UUID) -> None:
    """End the invitation. One that was accepted or revoked stays as it is. Raises `Problem` not_found."""
    parameters = {"id": invitation_id, **home.parameters}
    if await _REVOKE.one_or_none(connection, parameters) is None:
        await _require(connection, home, invitation_id)


async def read_invitation(connection: AsyncConnection, invitation_id: UUID) -> str:
    """An invitation's JSON inside the transaction that changed it."""
    return await _READ.one(connection, {"id": invitation_id})


def opened(invitation: Invited | None) -> Invited:
    """The invitation if it is open. Raises `Problem` not_found, invitation_ended."""
    if invitation is None:
        raise not_found()
    if not invitation.open:
        raise _ended()
    return invitation


async def accept(
    connection: AsyncConnection, secret_hash: bytes, user_id: UUID, request_id: str, origin: Origin
) -> Invited:
    """Make the person a member, and use up the invitation. The caller knows that it is the invited person's account.

    Raises `Problem` account_deactivated, not_found, invitation_ended, already_member.
    """
    await require_active(connection, user_id)
    await _LOCK.one_or_none(connection, {"secret_hash": secret_hash})
    invited = opened(await FIND.one_or_none(connection, {"secret_hash": secret_hash}))
    if invited.project_id is not None:
        await lock(connection, invited.project_id)  # against its deletion, which revokes the tokens that there are
    home = Home(invited.project_id, invited.account_id, request_id)
    await act_as(connection, invited.email, home=home.id, origin=origin)
    member_id = await _JOIN.one_or_none(
        connection,
        {
            "id": new_id(),
            "name": invited.email,
            "role": invited.role.value,
            "secret_hash": unknowable(),
            "user_id": user_id,
            **home.parameters,
        },
    )
    if member_id is None:
        raise Problem(ALREADY_MEMBER, "You are a member already: sign in.")
    await _ACCEPT.one(connection, {"id": invited.id, "member_id": member_id})
    await home.note(connection, MEMBER_JOINED, member_id, MemberOf(email=invited.email, role=invited.role))
    return invited


async def _require(connection: AsyncConnection, home: Home, invitation_id: UUID) -> None:
    if await _EXISTS.one_or_none(connection, {"id": invitation_id, **home.parameters}) is None:
        raise not_found()


def _ended() -> Problem:
    return Problem(INVITATION_ENDED, "The invitation was accepted, was revoked, or has expired. Ask for another.")
