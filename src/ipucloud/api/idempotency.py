"""Idempotency keys: a request sent twice has one effect and gets one answer.

A key belongs to a project (or to the platform) and to one request: method, path and canonical body. The first
request holds a transaction-scoped advisory lock while it runs and stores its answer in the transaction of its effect,
so there is neither an effect without an answer to repeat nor an answer without its effect. Whoever meets the lock is
told to come back. Refusals store nothing: the key is as good as new.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request

from ipucloud.api.bodies import malformed
from ipucloud.idempotency import store
from ipucloud.kernel.errors import IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, Problem

HEADER = "idempotency-key"
_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)


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


def told_once(
    status: int, known: Mapping[str, object], secret: dict[str, str], headers: dict[str, str], subject_id: UUID
) -> Answer:
    """An answer with a secret, which its replay has null in the place of; `secret`: its member and its value."""
    replay = orjson.dumps({**known, **dict.fromkeys(secret)})
    return Answer(status, orjson.dumps({**known, **secret}), headers, subject_id, replay)


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
        if not await store.take(connection, scope, self.key):
            raise Problem(IDEMPOTENCY_IN_PROGRESS, "Send the same request again shortly.", headers={"Retry-After": "1"})
        found = await store.find(connection, scope, self.key)
        if found is None:
            return None
        if found.fingerprint != self.fingerprint:
            raise Problem(IDEMPOTENCY_KEY_REUSED, "Use a new key for a new request.")
        return Answer(found.status, found.body, dict(found.headers), replayed=True)

    async def keep(self, connection: AsyncConnection, scope: UUID, answer: Answer) -> None:
        """Store the answer beside its effect."""
        body = answer.body if answer.replay is None else answer.replay
        stored = store.StoredAnswer(self.fingerprint, answer.status, answer.headers, body)
        await store.keep(connection, scope, self.key, stored, subject_id=answer.subject_id)


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
