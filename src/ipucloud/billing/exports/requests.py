"""Requests for exports, how many a day may be requested besides those of schedules, and their results.

Every function works inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.operation import EXPORT, plan
from ipucloud.billing.exports.selection import Period
from ipucloud.contract.exports import PER_DAY, Dataset, FileFormat, FocusVersion
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, clauses, page_of, rfc3339
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.members import OWNED, Home
from ipucloud.kernel.actor import AccountActor, Actor
from ipucloud.kernel.errors import QUOTA_EXCEEDED, STATE_CONFLICT, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.operations.step import expected_seconds
from ipucloud.operations.store import Target, open_operation

BUILD_DEADLINE = 3600.0
DELIVERY_DEADLINE = 86_400.0

_LAST_DAY = Query("SELECT (date_trunc('month', app_now() AT TIME ZONE 'UTC') + interval '1 month')::date - 1", date)
_CONNECTED = Query(
    """
    SELECT EXISTS (SELECT FROM s3_connections
                    WHERE (project_id = :project_id OR account_id = :account_id) AND id = :id AND deleted_at IS NULL)
    """,
    bool,
)
_OTHERS = Query(
    """
    SELECT EXISTS (SELECT FROM project_accounts WHERE account_id = :account_id AND project_id <> :project_id)
    """,
    bool,
)
_INSERT = sa.text(
    """
    INSERT INTO exports (id, project_id, owner_account_id, account_id, connection_id, schedule_id, scheduled_for,
                         dataset, focus_version, format, provisional, month, since, until)
    VALUES (:id, :project_id, :account_id, :whole_account_id, :connection_id, :schedule_id, :scheduled_for,
            :dataset, :focus_version, :format, :provisional, :month, :since, :until)
    """
)
_OF_HOME = "(x.project_id = :project_id OR x.owner_account_id = :account_id)"
_ITS_OPERATION = "(o.project_id = x.project_id OR o.account_id = x.owner_account_id) AND o.export_id = x.id"
_EXPORTS = f"""
(SELECT x.*, o.id AS operation_id, o.state, o.progress FROM exports x JOIN operations o ON {_ITS_OPERATION}) AS x
"""  # noqa: S608  # our own text
_DOCUMENT = f"""
json_build_object(
         'id', x.id, 'operation', x.operation_id, 'state', x.state, 'progress', x.progress, 'dataset', x.dataset,
         'version', x.focus_version, 'format', x.format, 'provisional', x.provisional,
         'month', to_char(x.month, 'YYYY-MM'),
         'since', coalesce(x.month, x.since), 'until', coalesce((x.month + interval '1 month')::date, x.until),
         'scope', CASE WHEN x.account_id IS NULL THEN 'project' ELSE 'account' END, 'connection', x.connection_id,
         'schedule', x.schedule_id, 'created_at', {rfc3339("x.created_at")}, 'built_at', {rfc3339("x.built_at")},
         'delivered_at', {rfc3339("x.delivered_at")}, 'expires_at', {rfc3339("x.expires_at")},
         'failed_deliveries', x.deliveries, 'last_error', x.last_error, 'manifest', x.manifest)
"""
_ONE = Query(
    clauses("SELECT CAST(", _DOCUMENT, "AS text) AS document FROM", _EXPORTS, "WHERE", _OF_HOME, "AND x.id = :id"), str
)
_FILTERS = """
AND (CAST(:state AS text[]) IS NULL OR state = ANY(CAST(:state AS text[])))
AND (CAST(:dataset AS text) IS NULL OR dataset = CAST(:dataset AS text))
"""


LIST_EXPORTS: Mapping[Order, str] = {
    order: clauses(
        page_of(_EXPORTS, order, clauses("WHERE", OWNED, _FILTERS)),
        ", documents AS (SELECT place,",
        _DOCUMENT,
        "AS document FROM page AS x)",
        DOCUMENT_PAGE,
    )
    for order in Order
}
"""For `api.owners.statement`, with the column `owner_account_id`; parameters: those of `list_parameters` for an
`ExportList`."""


class _Stored(NamedTuple):
    """An export's file; all None before it is built."""

    fence: int | None
    manifest: dict[str, Any] | None
    kept: bool | None


_FILE = Query(
    clauses("SELECT fence, manifest, expires_at > app_now() AS kept FROM exports AS x WHERE", _OF_HOME, "AND id = :id"),
    _Stored,
)
_CHUNK = Query("SELECT data FROM export_chunks WHERE export_id = :id AND fence = :fence AND ordinal = :ordinal", bytes)
_EXPIRE = sa.text(
    f"""
    DELETE FROM export_chunks
     WHERE export_id IN (
       SELECT x.id FROM exports x JOIN operations o ON {_ITS_OPERATION}
        WHERE o.finished_at IS NOT NULL
          AND coalesce(x.expires_at, o.finished_at) <= app_now()
          AND EXISTS (SELECT FROM export_chunks c WHERE c.export_id = x.id) LIMIT 20)
    """  # noqa: S608  # our own text
)


class _Limit(NamedTuple):
    """`next_at` is when the oldest of the exports that fill the limit is a day old; None while there is room."""

    name: str
    per_day: int
    used: int
    next_at: datetime | None


_LIMIT = Query(
    """
    SELECT home.name, allowed.per_day, recent.used, (
             SELECT created_at + interval '24 hours' FROM exports x
              WHERE (x.project_id = home.project_id OR x.owner_account_id = home.account_id)
                AND x.schedule_id IS NULL AND x.created_at > app_now() - interval '24 hours'
              ORDER BY created_at DESC OFFSET greatest(allowed.per_day - 1, 0) LIMIT least(allowed.per_day, 1)
           ) AS next_at
      FROM (SELECT slug AS name, id AS project_id, CAST(NULL AS uuid) AS account_id
              FROM projects WHERE id = CAST(:project_id AS uuid)
             UNION ALL
            SELECT id::text, NULL, id FROM billing_accounts WHERE id = CAST(:account_id AS uuid)) AS home
     CROSS JOIN LATERAL (
       SELECT coalesce((SELECT per_day FROM export_limits l
                         WHERE l.project_id = home.project_id OR l.account_id = home.account_id), :per_day) AS per_day
     ) AS allowed
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS used FROM exports x
        WHERE (x.project_id = home.project_id OR x.owner_account_id = home.account_id)
          AND x.schedule_id IS NULL AND x.created_at > app_now() - interval '24 hours') AS recent
    """,
    _Limit,
)
_SET_LIMIT = {
    column: sa.text(
        f"""
        INSERT INTO export_limits (project_id, account_id, per_day) VALUES (:project_id, :account_id, :per_day)
        ON CONFLICT ({column}) DO UPDATE SET per_day = excluded.per_day, changed_at = app_now()
         WHERE export_limits.per_day <> excluded.per_day
        """  # noqa: S608  # our own text
    )
    for column in ("project_id", "account_id")
}


@dataclass(frozen=True, slots=True)
class RequestedExport:
    """The requested days, of the project's bill or of everything that the account pays for.

    `account_id`: the account, if a project asks; what an account asks for is its own bill.
    """

    dataset: Dataset
    version: FocusVersion
    format: FileFormat
    period: Period
    account_id: UUID | None = None
    connection_id: UUID | None = None
    schedule_id: UUID | None = None
    scheduled_for: datetime | None = None
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A stored file; `fence` identifies its chunks."""

    export_id: UUID
    fence: int
    name: str
    format: FileFormat
    size: int
    sha256: str


async def request_export(
    connection: AsyncConnection, actor: Actor | AccountActor, spec: RequestedExport
) -> tuple[UUID, UUID]:
    """Create an export of a project or an account, and its operation; returns both ids. The caller holds its lock.

    Raises `Problem`: quota_exceeded beyond its limit, state_conflict for days of a month that has not
    begun, not_found for an unknown connection.
    """
    home = _home(actor)
    parameters = home.parameters
    if spec.schedule_id is None:
        await _require_room(connection, home)
    if spec.period.until - timedelta(days=1) > await _LAST_DAY.one(connection):
        raise Problem(STATE_CONFLICT, "The month has not begun.")
    values = parameters | {"id": spec.connection_id}
    if spec.connection_id is not None and not await _CONNECTED.one(connection, values):
        raise not_found()
    export_id = new_id()
    whole = home.account_id or spec.account_id
    await connection.execute(_INSERT, parameters | _columns(export_id, spec) | {"whole_account_id": whole})
    steps = plan(delivered=spec.connection_id is not None)
    operation_id = await open_operation(
        connection,
        EXPORT,
        actor,
        Target(export_id=export_id),
        plan=steps,
        deadline_seconds=BUILD_DEADLINE if spec.connection_id is None else DELIVERY_DEADLINE,
        expected_seconds=expected_seconds(steps, {}),
    )
    return export_id, operation_id


async def pays_for_others(connection: Statements, *, account_id: UUID, project_id: UUID) -> bool:
    """Whether the account pays, or ever paid, for another project."""
    return await _OTHERS.one(connection, {"account_id": account_id, "project_id": project_id})


async def export_document(connection: Statements, home: Home, export_id: UUID) -> bytes:
    """An export's JSON. Raises `Problem` not_found."""
    document = await _ONE.one_or_none(connection, home.parameters | {"id": export_id})
    if document is None:
        raise not_found()
    return document.encode()


async def kept_file(connection: Statements, home: Home, export_id: UUID) -> KeptFile:
    """The file of an export. Raises `Problem`: not_found, state_conflict before it is built and after it expired."""
    row = await _FILE.one_or_none(connection, home.parameters | {"id": export_id})
    if row is None:
        raise not_found()
    if row.manifest is None or row.fence is None:
        raise Problem(STATE_CONFLICT, "The file is not built yet: wait for the export's operation.")
    if not row.kept:
        raise Problem(STATE_CONFLICT, "The file was removed after seven days. Create the export again.")
    [file] = row.manifest["files"]
    return KeptFile(export_id, row.fence, file["name"], FileFormat(file["format"]), file["bytes"], file["sha256"])


async def pieces_of(database: Database, file: KeptFile) -> AsyncIterator[bytes]:
    """The file, a piece at a time; no connection is held between two of them."""
    sent = 0
    for ordinal in range(file.size + 1):
        async with database.read() as connection:
            values = {"id": file.export_id, "fence": file.fence, "ordinal": ordinal}
            data = await _CHUNK.one_or_none(connection, values)
        if data is None:
            break
        sent += len(data)
        yield data
    if sent != file.size:
        raise OSError("a piece of the file is gone")  # the client sees a body that is too short


async def forget_expired_files(database: Database) -> None:
    """Delete expired files, and chunks of failed exports, in batches."""
    async with database.begin() as connection:
        await connection.execute(_EXPIRE)


async def limit_document(connection: Statements, home: Home) -> str:
    """The limit of a project or an account and its use, as JSON."""
    limit = await _find(connection, home)
    at = None if limit.next_at is None else f"{limit.next_at:%Y-%m-%dT%H:%M:%SZ}"
    return orjson.dumps({"per_day": limit.per_day, "used": limit.used, "next_at": at}).decode()


async def set_limit(connection: AsyncConnection, home: Home, per_day: int) -> bool:
    """From now on it may request so many exports within 24 hours; those that it has count.

    False: an operator had set it so already.
    """
    statement = _SET_LIMIT["project_id" if home.account_id is None else "account_id"]
    return (await connection.execute(statement, home.parameters | {"per_day": per_day})).rowcount > 0


async def _require_room(connection: Statements, home: Home) -> None:
    """Raises `Problem` quota_exceeded if it has had its exports. The caller holds its lock."""
    limit = await _find(connection, home)
    if limit.used < limit.per_day:
        return
    then = "" if limit.next_at is None else f" The next one is possible at {limit.next_at:%Y-%m-%d %H:%M} UTC."
    option = "--project" if home.account_id is None else "--account"
    detail = (
        f"The {home.noun} may request {limit.per_day} exports within 24 hours, and has requested {limit.used}.{then}"
        " Have a schedule deliver them (`ipucloud exports schedules create`), which does not count, or have an operator"
        f" raise the limit (`ipucloud exports set-limit {limit.used + 10} {option} {limit.name}`)."
    )
    raise Problem(QUOTA_EXCEEDED, detail, extra={"limit": limit.per_day, "used": limit.used})


async def _find(connection: Statements, home: Home) -> _Limit:
    return await _LIMIT.one(connection, home.parameters | {"per_day": PER_DAY})


def _home(actor: Actor | AccountActor) -> Home:
    return Home(actor.project_id, None) if isinstance(actor, Actor) else Home(None, actor.account_id)


def _columns(export_id: UUID, spec: RequestedExport) -> dict[str, object]:
    return {
        "id": export_id,
        "connection_id": spec.connection_id,
        "schedule_id": spec.schedule_id,
        "scheduled_for": spec.scheduled_for,
        "dataset": spec.dataset.value,
        "focus_version": spec.version.value,
        "format": spec.format.value,
        "provisional": spec.provisional,
        "month": spec.period.month,
        "since": None if spec.period.month else spec.period.since,
        "until": None if spec.period.month else spec.period.until,
    }
