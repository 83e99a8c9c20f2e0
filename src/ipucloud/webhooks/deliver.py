"""Due deliveries: load them, send them, record the results."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.projects import WebhookStopped
from ipucloud.contract.event_types.projects import WEBHOOK_DISABLED
from ipucloud.contract.webhooks import Disabled, Failure
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.members import Home
from ipucloud.kernel.sealing import Keys, SealingError, unseal
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.webhooks.dispatch import DELIVERY
from ipucloud.webhooks.messages import headers, secret_place
from ipucloud.webhooks.schedule import GIVEN_UP_AFTER, pause_after, retry_seconds
from ipucloud.webhooks.sender import Sender, Sent
from ipucloud.webhooks.urls import StoredUrl

log = structlog.get_logger(__name__)

NO_KEY_SECONDS = 60.0
AT_ONCE = 8
"""Concurrent messages to one endpoint."""


class _Row(NamedTuple):
    """An endpoint with its secrets and due deliveries; without deliveries there may be no endpoint either."""

    leased: bool
    now: datetime
    id: UUID
    project_id: UUID | None
    account_id: UUID | None
    url: str
    query: str | None
    secret: str
    previous_secret: str | None
    deliveries: list[list[Any]] | None
    next_in: float | None


class _Endpoint(NamedTuple):
    """`given_up`: it has failed for too long."""

    enabled: bool
    given_up: bool | None


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, app_now() AS now, h.id, h.project_id, h.account_id,
           h.url, h.query, h.secret,
           CASE WHEN h.previous_until > app_now() THEN h.previous_secret END AS previous_secret,
           due.deliveries, extract(epoch FROM later.next_at - app_now())::float8 AS next_in
      FROM work w
      LEFT JOIN webhooks h ON h.id = CAST(w.key AS uuid) AND h.disabled IS NULL
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_array(id, payload, tries) ORDER BY next_at, id) AS deliveries
          FROM (SELECT id, payload, tries, next_at FROM webhook_deliveries
                 WHERE webhook_id = h.id AND next_at <= app_now()
                 ORDER BY next_at, id LIMIT :at_once) AS first) AS due ON true
      LEFT JOIN LATERAL (
        SELECT min(next_at) AS next_at FROM webhook_deliveries WHERE webhook_id = h.id AND next_at > app_now()
      ) AS later ON true
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)
_LOCK = Query(
    """
    SELECT disabled IS NULL AS enabled, app_now() - failing_since >= make_interval(secs => :given_up) AS given_up
      FROM webhooks WHERE id = :id FOR NO KEY UPDATE
    """,
    _Endpoint,
)
_TRIED = sa.text(
    """
    UPDATE webhook_deliveries
       SET state = :state, tries = tries + 1, next_at = app_now() + make_interval(secs => :pause),
           delivered_at = CASE WHEN :state = 'delivered' THEN app_now() END,
           log = log || jsonb_build_array(jsonb_build_object(
             'at', app_now(), 'status', CAST(:status AS integer), 'failure', CAST(:failure AS text),
             'seconds', CAST(:seconds AS numeric)))
     WHERE id = :id AND state = 'pending'
    """
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("pause", type_=sa.Float))
_HEALTH = sa.text(
    """
    UPDATE webhooks SET failing_since = CASE WHEN :well THEN NULL ELSE coalesce(failing_since, app_now()) END
     WHERE id = :id AND (failing_since IS NULL) IS DISTINCT FROM :well
    """
).bindparams(sa.bindparam("well", type_=sa.Boolean))
_DISABLE = sa.text(
    "UPDATE webhooks SET disabled = :reason, disabled_at = app_now(), version = version + 1 WHERE id = :id"
)
_GIVE_UP = sa.text(
    "UPDATE webhook_deliveries SET state = 'failed', next_at = NULL WHERE webhook_id = :id AND state = 'pending'"
)

COUNT_ANEW = (
    sa.text(
        """
        UPDATE webhook_deliveries SET next_at = app_now()
         WHERE state = 'pending' AND next_at > app_now()
           AND coalesce(CAST(log -> -1 ->> 'at' AS timestamptz), created_at) > app_now()
        """
    ),
    sa.text("UPDATE webhooks SET failing_since = app_now() WHERE failing_since > app_now()"),
)
"""If the database's clock was set back before a delivery's last attempt, its next one is due now."""


@dataclass(frozen=True, slots=True)
class Due:
    """A due delivery; `tries` attempts failed before."""

    id: UUID
    payload: str
    tries: int


@dataclass(frozen=True, slots=True)
class EndpointInputs:
    """An endpoint with its due deliveries, as of `now`. Secrets are encrypted."""

    id: UUID
    home: Home
    url: StoredUrl
    secrets: tuple[str, ...]
    due: tuple[Due, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class Tried:
    due: Due
    sent: Sent
    seconds: float


class _Opened(NamedTuple):
    """The URL and the signing secrets of an endpoint."""

    url: str
    secrets: Sequence[str]


class Deliverer:
    """Reconciles endpoints. A work item is one endpoint, so a slow one does not delay others."""

    kind = DELIVERY

    def __init__(self, sender: Sender, keys: Keys | None, draw: random.Random) -> None:
        self._sender = sender
        self._keys = keys
        self._draw = draw

    async def load(self, connection: Statements, item: WorkItem) -> EndpointInputs | Outcome:
        row = await inputs_of(connection, _LOAD, item, at_once=AT_ONCE)
        if row.deliveries is None:
            return Done() if row.next_in is None else Wait("nothing is due", recheck=max(0.0, row.next_in))
        sealed = (row.secret,) if row.previous_secret is None else (row.secret, row.previous_secret)
        url = StoredUrl(row.url, row.query)
        due = tuple(Due(UUID(key), payload, tries) for key, payload, tries in row.deliveries)
        return EndpointInputs(row.id, Home(row.project_id, row.account_id, None), url, sealed, due, row.now)

    async def act(self, item: WorkItem, inputs: EndpointInputs) -> Sequence[Tried]:
        """While this worker cannot decrypt the secrets, nothing is attempted or counted."""
        structlog.contextvars.bind_contextvars(
            **{name: str(value) for name, value in inputs.home.parameters.items() if value is not None}
        )
        item.remaining()
        opened = self._opened(inputs)
        if opened is None:
            return ()
        return await asyncio.gather(*(self._try(inputs, due, opened) for due in inputs.due))

    def _opened(self, inputs: EndpointInputs) -> _Opened | None:
        """Decrypted; None if this worker cannot do that."""
        if self._keys is None:
            return None
        home = inputs.home.id
        try:
            where = secret_place(inputs.id, home)
            secrets = [unseal(self._keys, each, where) for each in inputs.secrets]
            return _Opened(inputs.url.plain(self._keys, inputs.id, home), secrets)
        except SealingError as error:
            log.error("webhook_secret_not_opened", webhook_id=str(inputs.id), error=str(error))
            return None

    async def _try(self, inputs: EndpointInputs, due: Due, opened: _Opened) -> Tried:
        began = time.monotonic()
        signed = headers(due.id, due.payload, inputs.now, opened.secrets, inputs.home)
        sent = await self._sender.send(opened.url, due.payload.encode(), signed)
        return Tried(due, sent, time.monotonic() - began)

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: EndpointInputs, result: Sequence[Tried]
    ) -> Outcome:
        values = {"id": inputs.id, "given_up": GIVEN_UP_AFTER.total_seconds()}
        endpoint = await _LOCK.one_or_none(connection, values)
        if endpoint is None:
            return Done()
        if not result:
            return Wait("this worker cannot decrypt the endpoint's secrets", recheck=NO_KEY_SECONDS)
        await connection.execute(_TRIED, [self._values(each, inputs.now) for each in result])
        if endpoint.enabled:
            await self._judge(connection, inputs, result, given_up=bool(endpoint.given_up))
        return Go()

    def _values(self, tried: Tried, now: datetime) -> dict[str, Any]:
        state, pause = "delivered", None
        if tried.sent.failure is not None:
            last = tried.sent.failure is Failure.GONE
            requested = retry_seconds(tried.sent.retry_after, now)
            pause = None if last else pause_after(tried.due.tries + 1, self._draw, requested)
            state = "failed" if pause is None else "pending"
        return {
            "id": tried.due.id,
            "state": state,
            "pause": pause,
            "status": tried.sent.status,
            "failure": tried.sent.failure,
            "seconds": round(tried.seconds, 3),
        }

    @staticmethod
    async def _judge(
        connection: AsyncConnection, inputs: EndpointInputs, result: Sequence[Tried], *, given_up: bool
    ) -> None:
        """Record whether the endpoint works; disable one that is gone or has failed for days."""
        failures = {each.sent.failure for each in result}
        well = None in failures
        await connection.execute(_HEALTH, {"id": inputs.id, "well": well})
        reason = None
        if Failure.GONE in failures:
            reason = Disabled.GONE
        elif given_up and not well:
            reason = Disabled.FAILING
        if reason is not None:
            await disable(connection, inputs.id, inputs.home, reason)


async def disable(connection: AsyncConnection, webhook_id: UUID, home: Home, reason: Disabled) -> None:
    """Disable the endpoint; pending deliveries fail. They can be redelivered once it is enabled."""
    await connection.execute(_DISABLE, {"id": webhook_id, "reason": reason.value})
    await connection.execute(_GIVE_UP, {"id": webhook_id})
    await home.note(connection, WEBHOOK_DISABLED, webhook_id, WebhookStopped(reason=reason.value))
