"""How many exports a project or an account may request within 24 hours, besides those of its schedules.

Operators set it.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.exports import PER_DAY
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.members import Home
from ipucloud.kernel.errors import QUOTA_EXCEEDED, Problem


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
_UPDATE = (
    "DO UPDATE SET per_day = excluded.per_day, changed_at = app_now() WHERE export_limits.per_day <> excluded.per_day"
)
_INSERT = "INSERT INTO export_limits (project_id, account_id, per_day) VALUES (:project_id, :account_id, :per_day)"
_SET = sa.text(clauses(_INSERT, "ON CONFLICT (project_id)", _UPDATE))
_SET_OF_ACCOUNT = sa.text(clauses(_INSERT, "ON CONFLICT (account_id)", _UPDATE))


async def limit_document(connection: Statements, home: Home) -> str:
    """The limit of a project or an account and its use, as JSON."""
    limit = await _find(connection, home)
    at = None if limit.next_at is None else f"{limit.next_at:%Y-%m-%dT%H:%M:%SZ}"
    return orjson.dumps({"per_day": limit.per_day, "used": limit.used, "next_at": at}).decode()


async def set_limit(connection: AsyncConnection, home: Home, per_day: int) -> bool:
    """From now on it may request so many exports within 24 hours; those that it has count.

    False: an operator had set it so already.
    """
    statement = _SET if home.account_id is None else _SET_OF_ACCOUNT
    return (await connection.execute(statement, home.parameters | {"per_day": per_day})).rowcount > 0


async def require_room(connection: Statements, home: Home) -> None:
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
