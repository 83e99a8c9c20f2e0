"""Endpoints and their deliveries in the database: reads and writes of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_types.projects import (
    WEBHOOK_CREATED,
    WEBHOOK_DELETED,
    WEBHOOK_SECRET_ROTATED,
    WEBHOOK_UPDATED,
)
from ipucloud.contract.lists import Order
from ipucloud.contract.webhooks import Disabled, WebhookCreate, WebhookPatch
from ipucloud.db.documents import (
    DOCUMENT_PAGE,
    ONE_DOCUMENT,
    READ_BACK,
    clauses,
    page_of,
    rfc3339,
)
from ipucloud.db.rows import Query
from ipucloud.identity.members import OWNED, Home
from ipucloud.kernel.errors import (
    PRECONDITION_FAILED,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.sealing import Keys, needed, seal
from ipucloud.reconcile.wake import wake
from ipucloud.webhooks.deliver import disable
from ipucloud.webhooks.dispatch import DELIVERY
from ipucloud.webhooks.messages import PING, new_secret, secret_place
from ipucloud.webhooks.urls import url_to_store

LIMIT = 20
"""Maximum number of webhooks of a project, and of a billing account."""
MAX_ATTEMPTS = 50
"""Maximum number of attempts per message, including redeliveries."""
KEPT = "30 days"
"""How long deliveries can be read and redelivered."""

_MEMBERS = clauses(
    "'id', id, 'url', url, 'event_types', to_json(event_types), 'description', description,",
    "'enabled', disabled IS NULL, 'disabled', disabled,",
    f"'disabled_at', {rfc3339('disabled_at')}, 'failing_since', {rfc3339('failing_since')},",
    f"'previous_secret_until', {rfc3339('previous_until')}, 'created_at', {rfc3339('created_at')}, 'version', version",
)
_DOCUMENTS = clauses(", documents AS (SELECT place, version, json_build_object(", _MEMBERS, ") AS document FROM page)")
_OWN = f"WHERE {OWNED}"
_OF_USE = "AND (CAST(:enabled AS boolean) IS NULL OR (disabled IS NULL) = CAST(:enabled AS boolean))"

# These four are for `api.owners.statement`.
LIST_WEBHOOKS: Mapping[Order, str] = {
    order: clauses(page_of("webhooks", order, clauses(_OWN, _OF_USE)), _DOCUMENTS, DOCUMENT_PAGE) for order in Order
}
"""Parameters: those of `db.documents.list_parameters` for a `WebhookList`."""
_ONE = clauses(", page AS (SELECT *, 1 AS place FROM webhooks", _OWN, "AND id = :webhook_id)")
GET_WEBHOOK = clauses(_ONE, _DOCUMENTS, ONE_DOCUMENT)
"""Parameter `:webhook_id`; answers (role, project_id, document, version)."""

_DELIVERY_MEMBERS = clauses(
    "'id', id, 'message_id', 'msg_' || replace(id::text, '-', ''), 'type', type,",
    "'event', event_transaction || '-' || event_id, 'state', state,",
    f"'next_try_at', {rfc3339('next_at')}, 'delivered_at', {rfc3339('delivered_at')},",
    f"'created_at', {rfc3339('created_at')}, 'payload', payload::json, 'tries', (",
    "SELECT coalesce(json_agg(json_build_object('at',",
    rfc3339("CAST(try ->> 'at' AS timestamptz)"),
    ", 'status', try -> 'status', 'failure', try -> 'failure', 'seconds', try -> 'seconds')), '[]')",
    "FROM jsonb_array_elements(log) AS try)",
)
_DELIVERY_DOCUMENTS = clauses(
    ", documents AS (SELECT place, 1 AS version, json_build_object(", _DELIVERY_MEMBERS, ") AS document FROM page)"
)
_OF_WEBHOOK = clauses(
    _OWN, "AND webhook_id = :webhook_id AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))"
)
LIST_DELIVERIES: Mapping[Order, str] = {
    order: clauses(page_of("webhook_deliveries", order, _OF_WEBHOOK), _DELIVERY_DOCUMENTS, DOCUMENT_PAGE)
    for order in Order
}
"""Parameters `:webhook_id`, `:state` and those of `db.documents.list_parameters`."""
_ONE_DELIVERY = clauses(
    ", page AS (SELECT *, 1 AS place FROM webhook_deliveries",
    _OWN,
    "AND webhook_id = :webhook_id AND id = :delivery_id)",
)
GET_DELIVERY = clauses(_ONE_DELIVERY, _DELIVERY_DOCUMENTS, ONE_DOCUMENT)

# What is read or changed once the home's webhook is locked.
_READ = Query(
    clauses("WITH page AS (SELECT *, 1 AS place FROM webhooks WHERE id = :webhook_id)", _DOCUMENTS, READ_BACK), str
)
_READ_DELIVERY = Query(
    clauses(
        "WITH page AS (SELECT *, 1 AS place FROM webhook_deliveries",
        "WHERE webhook_id = :webhook_id AND id = :delivery_id)",
        _DELIVERY_DOCUMENTS,
        READ_BACK,
    ),
    str,
)
_OF_HOME = "(project_id = :project_id OR account_id = :account_id)"
_COUNT = Query(clauses("SELECT count(*) FROM webhooks WHERE", _OF_HOME), int)


class _Locked(NamedTuple):
    url: str
    query: str | None
    event_types: list[str]
    description: str
    disabled: str | None
    secret: str
    version: int


_LOCK = Query(
    clauses(
        "SELECT url, query, event_types, description, disabled, secret, version FROM webhooks",
        "WHERE id = :webhook_id AND",
        _OF_HOME,
        "FOR NO KEY UPDATE",
    ),
    _Locked,
)
# Events not settled yet are after this position: an endpoint gets everything from its creation on.
_TAIL = "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"
_INSERT = sa.text(
    clauses(
        "INSERT INTO webhooks",
        "(id, project_id, account_id, url, query, description, event_types, secret, after_transaction, after_id)",
        "VALUES (:webhook_id, :project_id, :account_id, :url, :query, :description, CAST(:event_types AS text[]),",
        ":secret,",
        _TAIL,
        ", 0)",
    )
)
_UPDATE = sa.text(
    """
    UPDATE webhooks
       SET url = :url, query = :query, description = :description, event_types = CAST(:event_types AS text[]),
           version = version + 1
     WHERE id = :webhook_id
    """
)
_ENABLE = sa.text(
    clauses(
        "UPDATE webhooks SET disabled = NULL, disabled_at = NULL, failing_since = NULL, after_id = 0,",
        "after_transaction =",
        _TAIL,
        "WHERE id = :webhook_id",
    )
)
_SECRET = sa.text(
    """
    UPDATE webhooks
       SET secret = :secret, version = version + 1, previous_secret = CASE WHEN :keep > 0 THEN secret END,
           previous_until = CASE WHEN :keep > 0 THEN app_now() + make_interval(secs => :keep) END
     WHERE id = :webhook_id
    """
).bindparams(sa.bindparam("keep", type_=sa.Float))
_FORGET = sa.text("DELETE FROM webhook_deliveries WHERE webhook_id = :webhook_id")
_DELETE = sa.text("DELETE FROM webhooks WHERE id = :webhook_id")
_PING = sa.text(
    clauses(
        "INSERT INTO webhook_deliveries (id, project_id, account_id, webhook_id, type, payload, next_at)",
        "VALUES (:delivery_id, :project_id, :account_id, :webhook_id, :type,",
        f"json_build_object('type', CAST(:type AS text), 'timestamp', {rfc3339('app_now()')},",
        "'data', json_build_object('webhook_id', CAST(:webhook_id AS uuid)))::text, app_now())",
    )
).bindparams(sa.bindparam("type", type_=sa.Text))
_AGAIN = Query(
    """
    UPDATE webhook_deliveries SET state = 'pending', tries = 0, next_at = app_now(), delivered_at = NULL
     WHERE webhook_id = :webhook_id AND id = :delivery_id
       AND jsonb_array_length(log) < :most RETURNING id
    """,
    UUID,
)
_SWEEP = sa.text("DELETE FROM webhook_deliveries WHERE created_at < app_now() - CAST(:kept AS interval)")


@dataclass(frozen=True, slots=True)
class Made:
    """An endpoint's JSON and its secret, which is shown once."""

    id: UUID
    document: str
    secret: str = field(repr=False)


async def create(connection: AsyncConnection, home: Home, body: WebhookCreate, keys: Keys | None) -> Made:
    """Make a webhook; the caller holds the lock of its home.

    Raises `Problem`: quota_exceeded, validation_failed, not_configured without a key of the installation.
    """
    parameters: dict[str, UUID | None] = home.parameters
    if await _COUNT.one(connection, parameters) >= LIMIT:
        owner = "A project" if home.account_id is None else "A billing account"
        raise Problem(QUOTA_EXCEEDED, f"{owner} can have at most {LIMIT} webhooks. Delete one first.")
    webhook_id = new_id()
    secret, sealed = _new_secret(keys, webhook_id, home)
    parameters |= {"webhook_id": webhook_id}
    url = url_to_store(keys, body.url, webhook_id, home.id)
    stored = body.model_dump() | {"url": url.shown, "query": url.query, "secret": sealed}
    await connection.execute(_INSERT, parameters | stored)
    await home.note(connection, WEBHOOK_CREATED, webhook_id)
    return Made(webhook_id, await _document(connection, parameters), secret)


async def update(
    connection: AsyncConnection,
    home: Home,
    webhook_id: UUID,
    body: WebhookPatch,
    keys: Keys | None,
    *,
    if_match: int | None,
) -> str:
    """Change the given fields; returns the endpoint's JSON. The URL as it is shown is the present one.

    Raises `Problem`: not_found, precondition_failed, validation_failed, not_configured without a key.
    """
    before = await _locked(connection, home, webhook_id, if_match)
    parameters = home.parameters | {"webhook_id": webhook_id}
    sent = {name: value for name, value in body.model_dump(exclude={"enabled", "url"}).items() if value is not None}
    if body.url not in {None, before.url}:
        url = url_to_store(keys, body.url, webhook_id, home.id)
        sent |= {"url": url.shown, "query": url.query}
    values = {name: getattr(before, name) for name in ("url", "query", "description", "event_types")} | sent
    enabled = before.disabled is None
    switched = body.enabled is not None and body.enabled is not enabled
    if switched or any(values[name] != getattr(before, name) for name in values):
        await connection.execute(_UPDATE, parameters | values)
        await home.note(connection, WEBHOOK_UPDATED, webhook_id)
    if switched and enabled:
        await disable(connection, webhook_id, home, Disabled.BY_OWNER)
    elif switched:
        await connection.execute(_ENABLE, parameters)
    return await _document(connection, parameters)


async def rotate_secret(
    connection: AsyncConnection, home: Home, webhook_id: UUID, keys: Keys | None, *, keep_seconds: int
) -> Made:
    """A new secret; the previous one also signs for this many seconds. Raises `Problem`: not_found, unavailable."""
    await _locked(connection, home, webhook_id)
    secret, sealed = _new_secret(keys, webhook_id, home)
    parameters = home.parameters | {"webhook_id": webhook_id}
    await connection.execute(_SECRET, parameters | {"secret": sealed, "keep": keep_seconds})
    await home.note(connection, WEBHOOK_SECRET_ROTATED, webhook_id)
    return Made(webhook_id, await _document(connection, parameters), secret)


async def delete(connection: AsyncConnection, home: Home, webhook_id: UUID) -> None:
    """Delete the endpoint and its deliveries. Raises `Problem` not_found."""
    await _locked(connection, home, webhook_id)
    parameters = home.parameters | {"webhook_id": webhook_id}
    await connection.execute(_FORGET, parameters)
    await connection.execute(_DELETE, parameters)
    await home.note(connection, WEBHOOK_DELETED, webhook_id)


async def ping(connection: AsyncConnection, home: Home, webhook_id: UUID) -> tuple[UUID, str]:
    """Send a test message; returns its id and JSON. Raises `Problem`: not_found, state_conflict."""
    await _enabled(connection, home, webhook_id)
    delivery_id = new_id()
    parameters = home.parameters | {"webhook_id": webhook_id, "delivery_id": delivery_id}
    await connection.execute(_PING, parameters | {"type": PING})
    return await _sent(connection, home, webhook_id, delivery_id)


async def redeliver(connection: AsyncConnection, home: Home, webhook_id: UUID, delivery_id: UUID) -> tuple[UUID, str]:
    """Send a message again with the same id, starting a new schedule.

    Raises `Problem`: not_found, state_conflict.
    """
    await _enabled(connection, home, webhook_id)
    parameters = home.parameters | {"webhook_id": webhook_id, "delivery_id": delivery_id}
    if await _READ_DELIVERY.one_or_none(connection, parameters) is None:
        raise not_found()
    if await _AGAIN.one_or_none(connection, parameters | {"most": MAX_ATTEMPTS}) is None:
        raise Problem(STATE_CONFLICT, f"The message was attempted {MAX_ATTEMPTS} times. Read the event instead.")
    return await _sent(connection, home, webhook_id, delivery_id)


async def sweep(connection: AsyncConnection) -> None:
    """Delete deliveries older than the retention time."""
    await connection.execute(_SWEEP, {"kept": KEPT})


async def _sent(connection: AsyncConnection, home: Home, webhook_id: UUID, delivery_id: UUID) -> tuple[UUID, str]:
    await wake(connection, kind=DELIVERY, key=str(webhook_id), project_id=home.id)
    parameters = {"webhook_id": webhook_id, "delivery_id": delivery_id}
    return delivery_id, await _READ_DELIVERY.one(connection, parameters)


async def _enabled(connection: AsyncConnection, home: Home, webhook_id: UUID) -> None:
    if (await _locked(connection, home, webhook_id)).disabled is not None:
        raise Problem(STATE_CONFLICT, "The webhook is disabled. Set `enabled` to true first.")


async def _locked(connection: AsyncConnection, home: Home, webhook_id: UUID, if_match: int | None = None) -> _Locked:
    row = await _LOCK.one_or_none(connection, home.parameters | {"webhook_id": webhook_id})
    if row is None:
        raise not_found()
    if if_match is not None and if_match != row.version:
        raise Problem(
            PRECONDITION_FAILED,
            "The webhook has changed since it was read. Read it again, and repeat the request if it still applies.",
            extra={"version": row.version},
        )
    return row


async def _document(connection: AsyncConnection, parameters: Mapping[str, UUID | None]) -> str:
    return await _READ.one(connection, parameters)


def _new_secret(keys: Keys | None, webhook_id: UUID, home: Home) -> tuple[str, str]:
    secret = new_secret()
    return secret, seal(needed(keys), secret, secret_place(webhook_id, home.id))
