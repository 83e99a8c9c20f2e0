"""From the event log to deliveries: every event that an endpoint subscribes to becomes exactly one delivery.

The log is read below the oldest running transaction, so that nothing commits behind the position
(`ipucloud.events.feed`). Position, deliveries and work items are written in one transaction.
"""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.reconcile.outcomes import Go, Outcome, Wait
from ipucloud.reconcile.reconciler import LeaseLost, WorkItem
from ipucloud.reconcile.wake import AWAKE, WAKE
from ipucloud.webhooks.messages import PAYLOAD

KIND = "webhook.dispatch"
KEY = "events"
DELIVERY = "webhook"
"""Kind of the work items that send deliveries; the key is the endpoint's id."""

ENDPOINTS = 200
EVENTS = 200
"""Endpoints, and events of each, per transaction."""

_HELD = Query(
    "SELECT lease_until > app_now() AS leased FROM work WHERE kind = :kind AND key = :key AND fence = :fence", bool
)
_SETTLED = "transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"
# Events of the project that a webhook is of, or of its account: each has an index of its own.
_NEWS = (
    "SELECT FROM events e WHERE e.{0} = h.{0}"
    f" AND (e.transaction, e.id) > (h.after_transaction, h.after_id) AND e.{_SETTLED}"
)
_EVENTS = clauses(
    "(SELECT transaction, id, type,",
    PAYLOAD,
    "AS payload FROM events WHERE {0} = h.{0} AND (transaction, id) > (h.after_transaction, h.after_id) AND",
    _SETTLED,
    "ORDER BY transaction, id LIMIT :events)",
)
_BEHIND = Query(
    clauses(
        "SELECT h.id FROM webhooks h WHERE h.disabled IS NULL AND (EXISTS (",
        _NEWS.format("project_id"),
        ") OR EXISTS (",
        _NEWS.format("account_id"),
        ")) ORDER BY h.id LIMIT :endpoints FOR NO KEY UPDATE SKIP LOCKED",
    ),
    UUID,
)
_ENQUEUE = sa.text(
    clauses(
        "WITH new_events AS (",
        "  SELECT h.id AS webhook_id, h.event_types, h.project_id, h.account_id, e.*",
        "    FROM webhooks h CROSS JOIN LATERAL (",
        _EVENTS.replace("{0}", "project_id"),
        "UNION ALL",
        _EVENTS.replace("{0}", "account_id"),
        """
         ) AS e
      WHERE h.id = ANY (CAST(:ids AS uuid[]))
    ), matching AS (
      SELECT * FROM new_events
       WHERE event_types = '{}' OR type = ANY (event_types) OR split_part(type, '.', 1) || '.*' = ANY (event_types)
    ), inserted AS (
      INSERT INTO webhook_deliveries
             (id, project_id, account_id, webhook_id, event_transaction, event_id, type, payload, next_at)
      SELECT gen_random_uuid(), project_id, account_id, webhook_id, transaction, id, type, payload, app_now()
        FROM matching
      ON CONFLICT (webhook_id, event_transaction, event_id) DO NOTHING
    ), woken AS (
        """,
        WAKE,
        "SELECT DISTINCT :delivery, webhook_id::text, coalesce(project_id, account_id), app_now() FROM matching",
        AWAKE,
        """
    ), passed AS (
      SELECT DISTINCT ON (webhook_id) webhook_id, transaction, id FROM new_events
       ORDER BY webhook_id, transaction DESC, id DESC
    ), moved AS (
      UPDATE webhooks SET after_transaction = passed.transaction, after_id = passed.id
        FROM passed WHERE webhooks.id = passed.webhook_id
    )
    SELECT count(*) AS events FROM new_events
    """,
    )
).bindparams(sa.bindparam("delivery", type_=sa.Text))


class Dispatcher:
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
        ids = await _BEHIND.all(connection, {"endpoints": ENDPOINTS})
        if not ids:
            return Wait("nothing new", recheck=self._interval)
        values = {"ids": ids, "events": EVENTS, "delivery": DELIVERY}
        events: int = (await connection.execute(_ENQUEUE, values)).scalar_one()
        more = len(ids) == ENDPOINTS or events >= EVENTS
        return Go() if more else Wait("dispatched", recheck=self._interval)
