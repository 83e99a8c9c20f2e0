"""From the event log to mails: every event that a member subscribes to becomes exactly one mail.

As for webhooks, the log is read below the oldest running transaction, and position, mails and work items are written in
one transaction. Events older than a day become no mails: a server that was set up late, or off for days, tells of
what is new.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.reconcile.outcomes import Go, Outcome, Wait
from ipucloud.reconcile.reconciler import LeaseLost, WorkItem
from ipucloud.reconcile.wake import AWAKE, WAKE

KIND = "mail.dispatch"
KEY = "events"
MAIL = "mail"
"""Kind of the work items that send mails; the key is the mail's id."""
SUBSCRIPTIONS = 200
EVENTS = 200
"""Subscriptions, and events of each, per transaction."""


class _Behind(NamedTuple):
    user_id: UUID
    project_id: UUID


_HELD = Query(
    "SELECT lease_until > app_now() AS leased FROM work WHERE kind = :kind AND key = :key AND fence = :fence", bool
)
_SETTLED = "transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"
_BEHIND = Query(
    clauses(
        "SELECT s.user_id, s.project_id FROM notification_subscriptions s WHERE EXISTS (",
        "  SELECT FROM events e WHERE e.project_id = s.project_id",
        "     AND (e.transaction, e.id) > (s.after_transaction, s.after_id) AND e.",
        _SETTLED,
        ") ORDER BY s.user_id, s.project_id LIMIT :subscriptions FOR NO KEY UPDATE SKIP LOCKED",
    ),
    _Behind,
)
_ENQUEUE = sa.text(
    clauses(
        "WITH chosen AS (",
        "  SELECT * FROM unnest(CAST(:users AS uuid[]), CAST(:projects AS uuid[])) AS c (user_id, project_id)",
        "), new_events AS (",
        "  SELECT s.user_id, s.event_types, e.* FROM chosen",
        "    JOIN notification_subscriptions s USING (user_id, project_id) CROSS JOIN LATERAL (",
        "    SELECT transaction, id, project_id, type, created_at FROM events",
        "     WHERE project_id = s.project_id AND (transaction, id) > (s.after_transaction, s.after_id) AND ",
        _SETTLED,
        """
         ORDER BY transaction, id LIMIT :events) AS e
    ), matching AS (
      SELECT new_events.*, users.email, users.language FROM new_events JOIN users ON users.id = new_events.user_id
       WHERE (type = ANY (event_types) OR split_part(type, '.', 1) || '.*' = ANY (event_types))
         AND new_events.created_at > app_now() - interval '1 day'
         AND EXISTS (SELECT FROM tokens WHERE tokens.owner_id = new_events.user_id AND tokens.kind = 'member'
                        AND tokens.project_id = new_events.project_id AND tokens.revoked_at IS NULL)
    ), inserted AS (
      INSERT INTO mails (id, type, recipient, language, user_id, project_id, event_transaction, event_id, next_at)
      SELECT gen_random_uuid(), type, email, language, user_id, project_id, transaction, id, app_now() FROM matching
      ON CONFLICT (user_id, event_transaction, event_id) DO NOTHING RETURNING id, project_id
    ), woken AS (
        """,
        WAKE,
        "SELECT :mail, id::text, project_id, app_now() FROM inserted",
        AWAKE,
        """
    ), passed AS (
      SELECT DISTINCT ON (user_id, project_id) user_id, project_id, transaction, id FROM new_events
       ORDER BY user_id, project_id, transaction DESC, id DESC
    ), moved AS (
      UPDATE notification_subscriptions AS s SET after_transaction = passed.transaction, after_id = passed.id
        FROM passed WHERE s.user_id = passed.user_id AND s.project_id = passed.project_id
    )
    SELECT count(*) AS events FROM new_events
    """,
    )
).bindparams(sa.bindparam("mail", type_=sa.Text))


class MailDispatcher:
    """One work item for the whole installation. `interval`: seconds between reads of the log."""

    kind = KIND

    def __init__(self, interval: float) -> None:
        self._interval = interval

    async def load(self, connection: Statements, item: WorkItem) -> bool | Outcome:
        held = {"kind": item.kind, "key": item.key, "fence": item.fence}
        if not await _HELD.one_or_none(connection, held):
            raise LeaseLost(item.key)
        return True

    async def act(self, item: WorkItem, inputs: bool) -> None:
        """Makes no external call."""

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: bool, result: None) -> Outcome:
        behind = await _BEHIND.all(connection, {"subscriptions": SUBSCRIPTIONS})
        if not behind:
            return Wait("nothing new", recheck=self._interval)
        users, projects = [each.user_id for each in behind], [each.project_id for each in behind]
        values = {"users": users, "projects": projects, "events": EVENTS, "mail": MAIL}
        events: int = (await connection.execute(_ENQUEUE, values)).scalar_one()
        more = len(behind) == SUBSCRIPTIONS or events >= EVENTS
        return Go() if more else Wait("dispatched", recheck=self._interval)
