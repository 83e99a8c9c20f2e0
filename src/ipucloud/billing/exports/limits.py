"""How many exports a project may request within 24 hours, besides those of its schedules; operators set it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.exports import PER_DAY
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import QUOTA_EXCEEDED, Problem


class _Limit(NamedTuple):
    """`next_at` is when the oldest of the exports that fill the limit is a day old; None while there is room."""

    project: str
    per_day: int
    used: int
    next_at: datetime | None


_LIMIT = Query(
    """
    SELECT p.slug AS project, allowed.per_day, recent.used, (
             SELECT created_at + interval '24 hours' FROM exports x
              WHERE x.project_id = p.id AND x.schedule_id IS NULL AND x.created_at > app_now() - interval '24 hours'
              ORDER BY created_at DESC OFFSET greatest(allowed.per_day - 1, 0) LIMIT least(allowed.per_day, 1)
           ) AS next_at
      FROM projects p
     CROSS JOIN LATERAL (
       SELECT coalesce((SELECT per_day FROM export_limits l WHERE l.project_id = p.id), :per_day) AS per_day) AS allowed
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS used FROM exports x
        WHERE x.project_id = p.id AND x.schedule_id IS NULL AND x.created_at > app_now() - interval '24 hours'
     ) AS recent
     WHERE p.id = :project_id
    """,
    _Limit,
)
_SET = sa.text(
    """
    INSERT INTO export_limits (project_id, per_day) VALUES (:project_id, :per_day)
    ON CONFLICT (project_id) DO UPDATE SET per_day = excluded.per_day, changed_at = app_now()
     WHERE export_limits.per_day <> excluded.per_day
    """
)


async def limit_document(connection: Statements, project_id: UUID) -> str:
    """The project's limit and its use, as JSON."""
    found = await _find(connection, project_id)
    at = None if found.next_at is None else f"{found.next_at:%Y-%m-%dT%H:%M:%SZ}"
    return orjson.dumps({"per_day": found.per_day, "used": found.used, "next_at": at}).decode()


async def set_limit(connection: AsyncConnection, project_id: UUID, per_day: int) -> bool:
    """From now on the project may request so many exports within 24 hours; those that it has count.

    False: an operator had set it so already.
    """
    return (await connection.execute(_SET, {"project_id": project_id, "per_day": per_day})).rowcount > 0


async def require_room(connection: Statements, project_id: UUID) -> None:
    """Raises `Problem` quota_exceeded if the project has had its exports. The caller holds the project's lock."""
    found = await _find(connection, project_id)
    if found.used < found.per_day:
        return
    then = "" if found.next_at is None else f" The next one is possible at {found.next_at:%Y-%m-%d %H:%M} UTC."
    detail = (
        f"The project may request {found.per_day} exports within 24 hours, and has requested {found.used}.{then} Have a"
        " schedule deliver them (`ipucloud exports schedules create`), which does not count, or have an operator raise"
        f" the limit (`ipucloud exports set-limit {found.used + 10} --project {found.project}`)."
    )
    raise Problem(QUOTA_EXCEEDED, detail, extra={"limit": found.per_day, "used": found.used})


async def _find(connection: Statements, project_id: UUID) -> _Limit:
    return await _LIMIT.one(connection, {"project_id": project_id, "per_day": PER_DAY})
