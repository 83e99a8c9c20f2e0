"""Idempotency keys: a repeated request has one effect and one response.

A key belongs to a project (or to the platform) and to one request: method, path and canonical body. The first
request holds a transaction-scoped advisory lock while it runs and stores its response in the transaction of its effect,
so that neither exists without the other. A concurrent request with the key is refused as retryable. A refused request
stores nothing, and its key can be used again.

Requests that move money must have a key. It is kept for ever with the row that they made: when the response is no
longer stored, a repeat returns the row as it is then.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request

from ipucloud.api.bodies import malformed
from ipucloud.db.statements import Statements
from ipucloud.idempotency import store
from ipucloud.kernel.errors import IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_REUSED, Problem

HEADER = "idempotency-key"
_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a change.

    `subject_id`: the created object; the stored response outlives it. `replay`: the body to store if the first one
    has a secret, which must not be stored; None stores the body itself.
    """

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    subject_id: UUID | None = None
    replay: bytes | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Moves:
    """What a request that moves money makes: `row` is its column of `money_requests`, `read` the row's document."""

    row: Literal["payment_id", "credit_id", "credit_note_id"]
    read: Callable[[Statements, UUID], Awaitable[bytes]]


def shown_once(
    status: int,
    known: Mapping[str, object],
    secret: Mapping[str, str | None],
    headers: dict[str, str],
    subject_id: UUID | None,
) -> Answer:
    """A response with a secret, which is null in a replay; `secret`: its members and their values."""
    replay = orjson.dumps({**known, **dict.fromkeys(secret)})
    return Answer(status, orjson.dumps({**known, **secret}), headers, subject_id, replay)


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with a key."""

    key: str
    fingerprint: bytes

    async def earlier_answer(self, connection: AsyncConnection, scope: UUID) -> Answer | None:
        """Lock the key for this transaction; return the stored response if there is one.

        Raises `Problem` idempotency_in_progress while the first request runs, idempotency_key_reused when the key
        belongs to another request.
        """
        if not await store.claim(connection, scope, self.key):
            raise Problem(IDEMPOTENCY_IN_PROGRESS, "Send the same request again shortly.", headers={"Retry-After": "1"})
        stored = await store.find(connection, scope, self.key)
        if stored is None:
            return None
        if stored.fingerprint != self.fingerprint:
            raise _reused()
        return Answer(stored.status, stored.body, dict(stored.headers), replayed=True)

    async def earlier_money(self, connection: AsyncConnection, scope: UUID, moves: Moves) -> Answer | None:
        """What the request made when its money moved, as it is now. Call `earlier_answer` first, which locks the key.

        Raises `Problem` idempotency_key_reused when the key belongs to another request.
        """
        stored = await store.find_money(connection, scope, self.key)
        if stored is None:
            return None
        row_id: UUID | None = getattr(stored, moves.row)
        if stored.fingerprint != self.fingerprint or row_id is None:
            raise _reused()
        return Answer(201, await moves.read(connection, row_id), replayed=True)

    async def keep_money(self, connection: AsyncConnection, scope: UUID, moves: Moves, row_id: UUID) -> None:
        """Store the key with the row that the request made."""
        await store.keep_money(connection, scope, self.key, store.MoneyRequest(self.fingerprint, **{moves.row: row_id}))

    async def keep(self, connection: AsyncConnection, scope: UUID, answer: Answer) -> None:
        """Store the response in the transaction of its effect."""
        body = answer.body if answer.replay is None else answer.replay
        stored = store.StoredAnswer(self.fingerprint, answer.status, answer.headers, body)
        await store.keep(connection, scope, self.key, stored, subject_id=answer.subject_id)


async def keyed(request: Request, *, required: bool = False) -> KeyedRequest | None:
    """The request's key, or None without one. Raises `Problem` 400 for a malformed one, or a missing `required` one."""
    keys = request.headers.getlist(HEADER)
    if not keys:
        if required:
            raise Problem(
                IDEMPOTENCY_KEY_REQUIRED,
                "This request moves money. Send an Idempotency-Key, such as a UUID, and the same one whenever you "
                "repeat the request: the money then moves once.",
            )
        return None
    if len(keys) != 1 or not _KEY.fullmatch(keys[0]):
        raise malformed("Send one Idempotency-Key of 1 to 255 visible ASCII characters, such as a UUID.")
    return KeyedRequest(keys[0], await _fingerprint(request))


def _reused() -> Problem:
    return Problem(IDEMPOTENCY_KEY_REUSED, "Use a new key for a new request.")


async def _fingerprint(request: Request) -> bytes:
    """SHA-256 of the method, the route, its path parameters except the project, and the canonical body."""
    named = {name: str(value) for name, value in request.path_params.items() if name != "project"}
    body = await request.json() if await request.body() else None
    canonical = orjson.dumps(
        [request.method, request.scope["route"].path_format, named, body], option=orjson.OPT_SORT_KEYS
    )
    return hashlib.sha256(canonical).digest()
