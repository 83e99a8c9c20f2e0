"""Idempotency keys in the database: locked for one transaction, looked up, stored with an answer, deleted."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.idempotency.tables import idempotency_keys
from ipucloud.kernel.failpoints import failpoint

PLATFORM = UUID(int=0)
"""The scope of requests outside any project."""


class StoredAnswer(NamedTuple):
    """The stored answer to a request; `fingerprint` is the SHA-256 of the request."""

    fingerprint: bytes
    status: int
    headers: dict[str, str]
    body: bytes


_LOCK = Query("SELECT pg_try_advisory_xact_lock(hashtextextended(CAST(:scope AS text) || ' ' || :key, 0))", bool)
_FIND = Query(
    "SELECT fingerprint, status, headers, body FROM idempotency_keys WHERE scope = :scope AND key = :key",
    StoredAnswer,
)
_KEEP = sa.insert(idempotency_keys)
_SWEEP = sa.text(
    """
    DELETE FROM idempotency_keys k
     WHERE k.created_at < app_now() - interval '24 hours'
       AND NOT EXISTS (SELECT 1 FROM clusters c
                        WHERE c.id = k.subject_id
                          AND (c.deleted_at IS NULL OR c.deleted_at > app_now() - interval '24 hours'))
    """
)


async def take(connection: AsyncConnection, scope: UUID, key: str) -> bool:
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


async def sweep(database: Database) -> None:
    """Delete answers a day after their request, or a day after the cluster they created is gone."""
    async with database.begin() as connection:
        await connection.execute(_SWEEP)
        failpoint("sweep.keys_deleted")
