"""Subscriptions and mails in the database: reads and writes of requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.notifications import SubscriptionChoice
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.identity import people
from ipucloud.identity.members import Home
from ipucloud.identity.people import Membership, User
from ipucloud.kernel.errors import NOT_A_MEMBER, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.sealing import Keys, seal
from ipucloud.notifications.deliver import link_place
from ipucloud.notifications.dispatch import MAIL
from ipucloud.reconcile.wake import PLATFORM, wake


class Chosen(NamedTuple):
    """What a person gets by e-mail; `subscriptions` is JSON."""

    email: str
    language: str
    subscriptions: str


READ = Query(
    """
    SELECT users.email, users.language, coalesce((
             SELECT json_agg(json_build_object('project_id', projects.id, 'project', projects.slug,
                      'event_types', s.event_types) ORDER BY projects.slug)
               FROM notification_subscriptions s JOIN projects ON projects.id = s.project_id
              WHERE s.user_id = users.id AND projects.deleted_at IS NULL), '[]')::text AS subscriptions
      FROM users WHERE users.id = :user_id
    """,
    Chosen,
)
_DROP = sa.text(
    "DELETE FROM notification_subscriptions WHERE user_id = :user_id AND project_id <> ALL (CAST(:kept AS uuid[]))"
)
# Events not settled yet are after this position: a person gets everything from now on.
_KEEP = sa.text(
    clauses(
        "INSERT INTO notification_subscriptions (user_id, project_id, event_types, after_transaction, after_id)",
        "VALUES (:user_id, :project_id, CAST(:event_types AS text[]),",
        "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint), 0)",
        "ON CONFLICT (user_id, project_id) DO UPDATE SET event_types = EXCLUDED.event_types",
    )
)
_LANGUAGE_OF = Query("SELECT language FROM users WHERE email = :email AND deleted_at IS NULL", str)
_SUPERSEDE = sa.text(
    "UPDATE mails SET state = 'dropped', next_at = NULL, link = NULL WHERE invitation_id = :id AND state = 'pending'"
)
_INVITE = sa.text(
    """
    INSERT INTO mails (id, type, recipient, language, project_id, invitation_id, link, next_at)
    VALUES (:id, 'invitation', :recipient, :language, :project_id, :invitation_id, :link, app_now())
    """
)
SWEEP = sa.text("DELETE FROM mails WHERE state <> 'pending' AND created_at < app_now() - interval '30 days'")


async def replace(
    connection: AsyncConnection,
    user: User,
    memberships: Sequence[Membership],
    language: str,
    choices: Sequence[SubscriptionChoice],
) -> None:
    """Choose anew; a subscription that stays goes on where it is. Raises `Problem` not_a_member."""
    of_project = {
        name: each.project_id for each in memberships for name in (each.project, str(each.project_id)) if name
    }
    chosen: dict[UUID, list[str]] = {}
    for choice in choices:
        project_id = of_project.get(choice.project)
        if project_id is None:
            raise Problem(NOT_A_MEMBER, f"You are not a member of the project {choice.project}.")
        chosen[project_id] = sorted({*chosen.get(project_id, []), *choice.event_types})
    await people.set_language(connection, user.id, language)
    await connection.execute(_DROP, {"user_id": user.id, "kept": list(chosen)})
    for project_id, types in sorted(chosen.items()):
        values = {"user_id": user.id, "project_id": project_id, "event_types": types}
        await connection.execute(_KEEP, values)


@dataclass(frozen=True, slots=True)
class InvitationMail:
    """The link of an invitation, and whose the invitation is: a project, or an account without one."""

    invitation_id: UUID
    recipient: str
    link: str
    home: Home


async def mail_invitation(connection: AsyncConnection, mail: InvitationMail, keys: Keys) -> None:
    """Have the link sent. A mail with an earlier link that was not sent yet never is."""
    owner = mail.home.project_id or mail.home.account_id
    if owner is None:
        raise ValueError("an invitation is to a project or an account")
    await connection.execute(_SUPERSEDE, {"id": mail.invitation_id})
    mail_id = new_id()
    await connection.execute(
        _INVITE,
        {
            "id": mail_id,
            "recipient": mail.recipient,
            "language": await _LANGUAGE_OF.one_or_none(connection, {"email": mail.recipient}) or "en",
            "project_id": mail.home.project_id,
            "invitation_id": mail.invitation_id,
            "link": seal(keys, mail.link, link_place(mail_id, owner)),
        },
    )
    await wake(connection, kind=MAIL, key=str(mail_id), project_id=mail.home.project_id or PLATFORM)
