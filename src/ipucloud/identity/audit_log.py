"""The audit log: one entry for each write, and for each read of tokens and money.

An entry is written before the request is served and completed after it, each by a statement of its own, so that it
exists whatever becomes of the request's transaction. A worker seals completed entries: each gets the next place in a
chain, and the SHA-256 of the previous hash and of itself. What was sealed cannot be changed by the application, and a
change by anybody else breaks the chain.

The oldest entries may be removed (`prune`): the database remembers the last hash that is gone, from which the chain of
the others is computed.

An entry has no bodies, queries, secrets or names from the path.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, DocumentPage, clauses, page_of, rfc3339
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.access import AUTHENTICATE, PRINCIPAL, authenticated
from ipucloud.kernel.ids import new_id

ABANDONED_SECONDS = 900
"""An entry that was not completed for so long never will be: its process ended while it served the request."""
_BATCH = 1000
_FIRST = b"\0" * 32
_ACTOR = """
(SELECT coalesce(users.email, tokens.name) FROM tokens LEFT JOIN users ON users.id = tokens.owner_id
  WHERE tokens.id = {0})
"""


class AuditedRequest(NamedTuple):
    """A request, as its entry begins."""

    operation: str
    method: str
    address: str
    agent: str
    request_id: str


_BEGIN = Query(
    clauses(
        "WITH",
        AUTHENTICATE,
        "INSERT INTO audit_log (id, operation, method, project_id, account_id, token_id, actor, address, agent,"
        " request_id)",
        "SELECT :id, :operation, :method, (SELECT project_id FROM project), account, token_id,",
        _ACTOR.format("token_id"),
        ", :address, :agent, :request_id FROM principal RETURNING id",
    ),
    UUID,
)
_NOTE = sa.text(
    clauses(
        "INSERT INTO audit_log (id, operation, method, address, agent, request_id, completed_at, status, code,"
        " token_id, actor, project_id, objects)",
        "SELECT :id, :operation, :method, :address, :agent, :request_id, app_now(), :status, :code,",
        "CAST(:token_id AS uuid),",
        _ACTOR.format("CAST(:token_id AS uuid)"),
        ", CAST(:project_id AS uuid), CAST(:objects AS jsonb)",
    )
)
_COMPLETE = sa.text(
    """
    UPDATE audit_log SET completed_at = app_now(), status = :status, code = :code, objects = CAST(:objects AS jsonb)
     WHERE id = :id AND completed_at IS NULL
    """
)
_ABANDON = sa.text(
    """
    UPDATE audit_log SET completed_at = app_now()
     WHERE completed_at IS NULL AND created_at < app_now() - make_interval(secs => :seconds)
    """
)
_LOCK = sa.text("SELECT pg_advisory_xact_lock(7220601)")

_ENTRY = f"""
json_build_object(
  'id', id, 'operation', operation, 'method', method, 'project_id', project_id, 'account_id', account_id,
  'token_id', token_id, 'actor', actor, 'address', address, 'agent', agent, 'request_id', request_id,
  'at', {rfc3339("created_at")}, 'completed_at', {rfc3339("completed_at")}, 'status', status, 'code', code,
  'objects', objects,
  'state', CASE WHEN completed_at IS NULL THEN 'open' WHEN status IS NULL THEN 'abandoned' ELSE 'completed' END,
  'seq', seq, 'hash', encode(hash, 'hex'))
"""


class _Unsealed(NamedTuple):
    id: UUID
    document: str


class _Head(NamedTuple):
    seq: int
    hash: bytes


class Sealed(NamedTuple):
    """An entry of the chain: its place, its hashes and its JSON."""

    seq: int
    previous_hash: bytes
    hash: bytes
    document: str


_UNSEALED = Query(
    f"""
    SELECT id, {_ENTRY}::text AS document FROM audit_log
     WHERE seq IS NULL AND completed_at IS NOT NULL ORDER BY completed_at, id LIMIT :limit
    """,  # noqa: S608  # our own text
    _Unsealed,
)
_HEAD = Query("SELECT seq, hash FROM audit_log WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1", _Head)
_START = Query("SELECT seq, hash FROM audit_log_start", _Head)
_PRUNE = Query("SELECT prune_audit_log(:days, :limit)", int)
_SEAL = sa.text("UPDATE audit_log SET seq = :seq, previous_hash = :previous_hash, hash = :hash WHERE id = :id")
_CHAIN = Query(
    f"""
    SELECT seq, previous_hash, hash, {_ENTRY}::text AS document FROM audit_log
     WHERE seq > :after ORDER BY seq LIMIT :limit
    """,  # noqa: S608  # our own text
    Sealed,
)

_FILTERS = """
AND (CAST(:actor AS text) IS NULL OR actor = CAST(:actor AS text))
AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
AND (NOT CAST(:writes AS boolean) OR method NOT IN ('GET', 'HEAD'))
"""
_DOCUMENTS = clauses(", documents AS (SELECT place,", _ENTRY, "AS document FROM page)")
LIST_AUDIT_LOG: Mapping[Order, Query[DocumentPage]] = {
    order: authenticated(
        clauses(
            page_of("audit_log", order, clauses("WHERE project_id = (SELECT project_id FROM project)", _FILTERS)),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""The entries of a project; parameters of `db.documents.list_parameters`, `:actor`, `:operation` and `:writes`."""

LIST_ALL_AUDIT_LOG: Mapping[Order, Query[DocumentPage]] = {
    order: Query(
        clauses(
            "WITH",
            PRINCIPAL,
            ", project AS (SELECT CAST(NULL AS uuid) AS project_id)",
            page_of(
                "audit_log",
                order,
                clauses(
                    "WHERE (CAST(:project AS text) IS NULL OR project_id IN (",
                    "SELECT id FROM projects WHERE slug = CAST(:project AS text)))",
                    _FILTERS,
                ),
            ),
            _DOCUMENTS,
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""Every entry, for operators; `:project` is a slug."""


async def begin(connection: Statements, request: AuditedRequest, access: Mapping[str, object]) -> UUID | None:
    """Write the entry of a request before it is served: its id, None for a caller without a live token.

    `access`: the parameters of `identity.access.AUTHENTICATE`.
    """
    return await _BEGIN.one_or_none(connection, {"id": new_id(), **request._asdict(), **access})


async def complete(
    connection: Statements, entry: UUID, *, status: int, code: str | None, objects: Mapping[str, str]
) -> None:
    """Add how the request ended. An entry that was given up in the meantime stays as it is."""
    parameters = {"id": entry, "status": status, "code": code, "objects": orjson.dumps(objects).decode()}
    await connection.execute(_COMPLETE, parameters)


async def record_entry(
    connection: Statements, request: AuditedRequest, *, status: int, code: str | None, objects: Mapping[str, str]
) -> None:
    """Write the whole entry of somebody who signed in, or tried to: before, nobody knows who it is."""
    parameters = {
        "id": new_id(),
        "status": status,
        "code": code,
        "token_id": objects.get("token_id"),
        "project_id": objects.get("project_id"),
        "objects": orjson.dumps(objects).decode(),
        **request._asdict(),
    }
    await connection.execute(_NOTE, parameters)


async def seal(database: Database) -> None:
    """Give completed entries their places in the chain, and give up those that nobody completes any more."""
    while await database.transact(_seal_some):
        pass


async def _seal_some(connection: AsyncConnection) -> bool:
    """True when there may be more."""
    await connection.execute(_LOCK)
    await connection.execute(_ABANDON, {"seconds": ABANDONED_SECONDS})
    seq, previous = await _HEAD.one_or_none(connection) or _Head(0, _FIRST)
    entries = await _UNSEALED.all(connection, {"limit": _BATCH})
    sealed = []
    for entry in entries:
        seq += 1
        hashed = _hash(previous, entry.document)
        sealed.append({"id": entry.id, "seq": seq, "previous_hash": previous, "hash": hashed})
        previous = hashed
    if sealed:
        await connection.execute(_SEAL, sealed)
    return len(entries) == _BATCH


async def prune(database: Database, days: int) -> int:
    """Remove sealed entries that are older than so many days, at least 90; how many.

    The newest entry stays, whatever its age. Raises sqlalchemy.exc.IntegrityError for fewer days.
    """
    removed = 0
    while part := await database.transact(lambda connection: _PRUNE.one(connection, {"days": days, "limit": _BATCH})):
        removed += part
    return removed


async def chain(connection: Statements, *, after: int = 0) -> AsyncIterator[Sealed]:
    """Every sealed entry behind a place, in the chain's order."""
    while entries := await _CHAIN.all(connection, {"after": after, "limit": _BATCH}):
        for entry in entries:
            yield entry
        after = entries[-1].seq


class Verified(NamedTuple):
    """The result of verifying the whole chain.

    `entries`: how many were sealed, of which `removed` were removed because of their age. `faults` are sentences;
    `head` is the last hash, in hexadecimal.
    """

    entries: int
    removed: int
    head: str
    faults: list[str]


async def verify(connection: Statements, *, head: str | None = None) -> Verified:
    """Compute the chain again, and say where it differs from what is stored.

    `head`: what an earlier call found as the last hash, which the chain must contain still.
    """
    start = await _START.one_or_none(connection) or _Head(0, _FIRST)
    number, previous, faults = start.seq, start.hash, list[str]()
    contains_head = head in {None, previous.hex()}
    async for entry in chain(connection):
        number += 1
        if entry.seq != number:
            faults.append(f"entries {number} to {entry.seq - 1} are missing")
            number = entry.seq
        elif entry.previous_hash != previous:
            faults.append(f"entry {entry.seq} does not follow the one before it")
        if _hash(entry.previous_hash, entry.document) != entry.hash:
            faults.append(f"entry {entry.seq} ({orjson.loads(entry.document)['id']}) was changed after it was sealed")
        previous = entry.hash
        contains_head = contains_head or previous.hex() == head
    if not contains_head:
        gone = f", unless it is one of the {start.seq} that were removed because of their age" if start.seq else ""
        faults.append(f"no entry has the hash {head}: what was sealed until then was changed or removed{gone}")
    return Verified(number, start.seq, previous.hex(), faults)


def _hash(previous: bytes, document: str) -> bytes:
    """Of an entry as JSON, but for its place in the chain."""
    entry = orjson.loads(document)
    for name in ("seq", "hash"):
        del entry[name]
    return hashlib.sha256(previous + orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)).digest()
