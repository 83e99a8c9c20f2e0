"""Due mails: load one, send it, record the result. A work item is one mail."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from typing import NamedTuple, cast
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.sealing import Keys, SealingError, place, unseal
from ipucloud.notifications import letters
from ipucloud.notifications.dispatch import MAIL
from ipucloud.notifications.letters import Happened, Invited, Language
from ipucloud.notifications.smtp import Attempt, Smtp
from ipucloud.notifications.smtp import Outcome as Sent
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of

log = structlog.get_logger(__name__)

PAUSES = (30.0, 300.0, 1800.0, 7200.0, 21_600.0, 43_200.0)
"""Seconds after each failed attempt: seven attempts over a day."""
JITTER = 0.1
NO_KEY_SECONDS = 60.0


class _Row(NamedTuple):
    leased: bool
    now: datetime
    pending: bool
    next_in: float | None
    id: UUID
    type: str
    recipient: str
    language: str
    tries: int
    created_at: datetime
    deliverable: bool
    link: str | None
    home: UUID | None
    project: str | None
    invited_by: str | None
    until: datetime | None
    subject_type: str | None
    subject_id: UUID | None
    name: str | None
    reason: str | None
    actor: str | None
    at: datetime | None


# Of an event: still a member. Of an invitation: still open.
_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, app_now() AS now, coalesce(m.state = 'pending', false) AS pending,
           extract(epoch FROM m.next_at - app_now())::float8 AS next_in, m.id, m.type, m.recipient, m.language,
           m.tries, m.created_at,
           projects.deleted_at IS NULL AND CASE
             WHEN m.invitation_id IS NULL THEN EXISTS (
               SELECT FROM tokens WHERE tokens.owner_id = m.user_id AND tokens.kind = 'member'
                  AND tokens.project_id = m.project_id AND tokens.revoked_at IS NULL)
             ELSE i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > app_now() END AS deliverable,
           m.link, coalesce(i.project_id, i.account_id) AS home, projects.slug AS project, i.invited_by,
           i.expires_at AS until, e.subject_type, e.subject_id,
           coalesce(e.data ->> 'name', e.data ->> 'email') AS name, e.data ->> 'reason' AS reason, e.actor,
           e.created_at AS at
      FROM work w
      LEFT JOIN mails m ON m.id = CAST(w.key AS uuid)
      LEFT JOIN invitations i ON i.id = m.invitation_id
      LEFT JOIN projects ON projects.id = m.project_id
      LEFT JOIN events e ON e.transaction = m.event_transaction AND e.id = m.event_id
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)
_ENDED = sa.text(
    """
    UPDATE mails SET state = :state, tries = tries + :tried, next_at = NULL, link = NULL, failure = :why,
           sent_at = CASE WHEN :state = 'sent' THEN app_now() END
     WHERE id = :id AND state = 'pending'
    """
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("why", type_=sa.Text))
_AGAIN = sa.text(
    """
    UPDATE mails SET tries = tries + 1, next_at = app_now() + make_interval(secs => :pause), failure = :why
     WHERE id = :id AND state = 'pending'
    """
).bindparams(sa.bindparam("pause", type_=sa.Float), sa.bindparam("why", type_=sa.Text))
COUNT_ANEW = (sa.text("UPDATE mails SET next_at = app_now() WHERE next_at > app_now() + interval '13 hours'"),)
"""After the database's clock was set back, none waits longer than the longest pause."""


def link_place(mail: UUID, home: UUID) -> str:
    """The row that the encrypted link of an invitation is bound to."""
    return place("mails", mail, "link", home)


@dataclass(frozen=True, slots=True)
class Due:
    """A mail to send; `message` None: it is no longer wanted, or this worker cannot decrypt its link (`locked`)."""

    id: UUID
    tries: int
    message: EmailMessage | None
    locked: bool = False


class MailSender:
    """Reconciles mails. `panel`: address of the control panel; `cluster_name`: the name of a `:cluster_id`."""

    kind = MAIL

    def __init__(
        self, smtp: Smtp, keys: Keys | None, draw: random.Random, *, panel: str | None, cluster_name: Query[str]
    ) -> None:
        self._smtp = smtp
        self._keys = keys
        self._draw = draw
        self._panel = panel
        self._cluster_name = cluster_name

    async def load(self, connection: Statements, item: WorkItem) -> Due | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if not row.pending:
            return Done()
        if row.next_in is not None and row.next_in > 0:
            return Wait("not due yet", recheck=row.next_in)
        if not row.deliverable:
            return Due(row.id, row.tries, None)
        if row.name is None and row.subject_type == "cluster":
            row = row._replace(name=await self._cluster_name.one_or_none(connection, {"cluster_id": row.subject_id}))
        return self._written(row)

    def _written(self, row: _Row) -> Due:
        language = cast("Language", row.language)
        if row.link is None:
            event = Happened(
                row.type, row.project or "", row.subject_type or "", str(row.subject_id or ""), row.name, row.actor,
                row.at or row.created_at, row.reason,
            )  # fmt: skip
            letter = letters.of_event(event, language, self._panel)
        else:
            link = self._opened(row)
            if link is None:
                return Due(row.id, row.tries, None, locked=True)
            invited = Invited(row.project, row.invited_by, link, row.until or row.now)
            letter = letters.of_invitation(invited, language)
        sender = self._smtp.sender
        mail = letters.message(row.id, letter, sender=sender, recipient=row.recipient, at=row.created_at)
        return Due(row.id, row.tries, mail)

    def _opened(self, row: _Row) -> str | None:
        if self._keys is None or row.home is None or row.link is None:
            return None
        try:
            return unseal(self._keys, row.link, link_place(row.id, row.home))
        except SealingError as error:
            log.error("mail_link_not_opened", mail_id=str(row.id), error=str(error))
            return None

    async def act(self, item: WorkItem, inputs: Due) -> Attempt | None:
        item.remaining()
        if inputs.message is None:
            return None
        return await self._smtp.send(inputs.message)

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: Due, result: Attempt | None) -> Outcome:
        ended = {"id": inputs.id, "tried": 1, "why": result and result.why}
        if result is None:
            if inputs.locked:
                return Wait("this worker cannot decrypt the mail's link", recheck=NO_KEY_SECONDS)
            await connection.execute(_ENDED, ended | {"state": "dropped", "tried": 0})
            return Done()
        if result.outcome is Sent.ACCEPTED:
            await connection.execute(_ENDED, ended | {"state": "sent"})
            return Done()
        log.warning("mail_not_sent", mail_id=str(inputs.id), outcome=result.outcome, why=result.why)
        if result.outcome is Sent.REFUSED or inputs.tries >= len(PAUSES):
            await connection.execute(_ENDED, ended | {"state": "failed"})
            return Done()
        pause = PAUSES[inputs.tries] * self._draw.uniform(1 - JITTER, 1 + JITTER)
        await connection.execute(_AGAIN, {"id": inputs.id, "pause": pause, "why": result.why})
        return Wait("tried again later", recheck=pause)
