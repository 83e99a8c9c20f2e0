"""Idempotency keys: a request sent twice has one effect and gets one answer.

A key belongs to a project (or to the platform) and to one request: method, path and canonical body. The first
request holds a transaction-scoped advisory lock while it runs and stores its answer in the transaction of its effect,
so there is neither an effect without an answer to repeat nor an answer without its effect. Whoever meets the lock is
told to come back. Refusals store nothing: the key is as good as new.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request

from ipucloud.api.bodies import malformed
from ipucloud.api.tables import idempotency_keys
from ipucloud.kernel.errors import IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, Problem

PLATFORM = UUID(int=0)
"""The scope of requests outside any project."""

HEADER = "idempotency-key"
_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)

_LOCK = sa.text("SELECT pg_try_advisory_xact_lock(hashtextextended(CAST(:scope AS text) || ' ' || :key, 0))")
_FIND = sa.text("SELECT fingerprint, status, headers, body FROM idempotency_keys WHERE scope = :scope AND key = :key")
_KEEP = sa.insert(idempotency_keys)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a change answers with.

    `subject_id`: the object made, whose life the stored answer outlasts. `replay`: the body to store when the first
    one holds a secret that must be kept nowhere; None stores the body itself.
    """

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    subject_id: UUID | None = None
    replay: bytes | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request that carries a key."""

    key: str
    fingerprint: bytes

    async def earlier_answer(self, connection: AsyncConnection, scope: UUID) -> Answer | None:
        """Take the key for this transaction; the answer when it was used before.

        Raises `Problem` idempotency_in_progress while the first request runs, idempotency_key_reused when the key
        belongs to another request.
        """
        if not (await connection.execute(_LOCK, {"scope": scope, "key": self.key})).scalar_one():
            raise Problem(IDEMPOTENCY_IN_PROGRESS, "Send the same request again shortly.", headers={"Retry-After": "1"})
        row = (await connection.execute(_FIND, {"scope": scope, "key": self.key})).one_or_none()
        if row is None:
            return None
        if row.fingerprint != self.fingerprint:
            raise Problem(IDEMPOTENCY_KEY_REUSED, "Use a new key for a new request.")
        return Answer(row.status, row.body, row.headers, replayed=True)

    async def keep(self, connection: AsyncConnection, scope: UUID, answer: Answer) -> None:
        """Store the answer beside its effect."""
        await connection.execute(
            _KEEP,
            {
                "scope": scope,
                "key": self.key,
                "fingerprint": self.fingerprint,
                "status": answer.status,
                "headers": answer.headers,
                "body": answer.body if answer.replay is None else answer.replay,
                "subject_id": answer.subject_id,
            },
        )


async def keyed(request: Request) -> KeyedRequest | None:
    """The request's key, or None without one. Raises `Problem` 400 for a malformed one."""
    given = request.headers.getlist(HEADER)
    if not given:
        return None
    if len(given) != 1 or not _KEY.fullmatch(given[0]):
        raise malformed("An Idempotency-Key is sent once, and is 1 to 255 visible ASCII characters; a UUID does well.")
    return KeyedRequest(given[0], await _fingerprint(request))


async def _fingerprint(request: Request) -> bytes:
    """SHA-256 of the method, the route, what its path names but for the project, and the canonical body."""
    named = {name: str(value) for name, value in request.path_params.items() if name != "project"}
    body = await request.json() if await request.body() else None
    canonical = orjson.dumps(
        [request.method, request.scope["route"].path_format, named, body], option=orjson.OPT_SORT_KEYS
    )
    return hashlib.sha256(canonical).digest()
