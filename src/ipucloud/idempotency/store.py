"""Idempotency keys in the database: locked for one transaction, looked up, stored with an answer, deleted.

The key of a request that moved money is also stored with what it made, and never deleted.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.idempotency.tables import idempotency_keys, money_requests
from ipucloud.kernel.failpoints import failpoint

PLATFORM = UUID(int=0)
"""The scope of requests outside any project."""


class StoredAnswer(NamedTuple):
    """The stored answer to a request; `fingerprint` is the SHA-256 of the request."""

    fingerprint: bytes
    status: int
    headers: dict[str, str]
    body: bytes


class MoneyRequest(NamedTuple):
    """A request that moved money, and the one row it made."""

    fingerprint: bytes
    payment_id: UUID | None = None
    credit_id: UUID | None = None
    credit_note_id: UUID | None = None


_LOCK = Query("SELECT pg_try_advisory_xact_lock(hashtextextended(CAST(:scope AS text) || ' ' || :key, 0))", bool)
_FIND = Query(
    "SELECT fingerprint, status, headers, body FROM idempotency_keys WHERE scope = :scope AND key = :key",
    StoredAnswer,
)
_KEEP = sa.insert(idempotency_keys)
_FIND_MONEY = Query(
    """
    SELECT fingerprint, payment_id, credit_id, credit_note_id FROM money_requests WHERE scope = :scope AND key = :key
    """,
    MoneyRequest,
)
_KEEP_MONEY = sa.insert(money_requests)
_SWEEP = sa.text(
    """
    DELETE FROM idempotency_keys k
     WHERE k.created_at < app_now() - interval '24 hours'
       AND NOT EXISTS (SELECT 1 FROM clusters c
                        WHERE c.id = k.subject_id
                          AND (c.deleted_at IS NULL OR c.deleted_at > app_now() - interval '24 hours'))
    """
)


async def claim(connection: AsyncConnection, scope: UUID, key: str) -> bool:
    """Lock the key until the transaction ends; False when another transaction has locked it."""
    return await _LOCK.one(connection, {"scope": scope, "key": key})


async def find(connection: AsyncConnection, scope: UUID, key: str) -> StoredAnswer | None:
    """The answer stored under the key."""
    return await _FIND.one_or_none(connection, {"scope": scope, "key": key})


async def keep(
    connection: AsyncConnection, scope: UUID, key: str, answer: StoredAnswer, *, subject_id: UUID | None
) -> None:
    """Store the answer with its effect; it is kept as long as the object `subject_id` that the request created."""
    await connection.execute(_KEEP, answer._asdict() | {"scope": scope, "key": key, "subject_id": subject_id})


async def find_money(connection: AsyncConnection, scope: UUID, key: str) -> MoneyRequest | None:
    """The request that moved money under the key, however long ago."""
    return await _FIND_MONEY.one_or_none(connection, {"scope": scope, "key": key})


async def keep_money(connection: AsyncConnection, scope: UUID, key: str, request: MoneyRequest) -> None:
    """Store the request for ever, with what it made."""
    await connection.execute(_KEEP_MONEY, request._asdict() | {"scope": scope, "key": key})


async def sweep(database: Database) -> None:
    """Delete answers a day after their request, or a day after the cluster they created is gone."""
    async with database.begin() as connection:
        await connection.execute(_SWEEP)
        failpoint("sweep.keys_deleted")
