"""The schedule of a cluster: what is written of it, always under the cluster's lock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
import structlog
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.schedules.calendar import Moment, next_moment
from ipucloud.contract.schedules import ClusterSchedule, ScheduledAction
from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query

log = structlog.get_logger(__name__)

CALENDAR = """
(SELECT jsonb_build_object('time_zone', kept.time_zone, 'periods', kept.periods, 'holidays', kept.holidays)
   FROM cluster_schedules AS kept
  WHERE kept.project_id = clusters.project_id AND kept.cluster_id = clusters.id)
"""
"""An expression over `clusters`: the schedule as in a request, or NULL."""
SHOWN_SCHEDULE = f"""
LEFT JOIN LATERAL (
  SELECT json_build_object(
           'time_zone', kept.time_zone, 'periods', kept.periods, 'holidays', kept.holidays,
           'next_action', kept.next_action, 'next_at', {rfc3339("kept.next_at")},
           'due', CASE WHEN kept.due_action IS NOT NULL THEN json_build_object(
             'action', kept.due_action, 'due_at', {rfc3339("kept.due_at")}, 'waits_for', kept.waits_for,
             'detail', kept.detail, 'retry_at', {rfc3339("kept.retry_at")}, 'operation', kept.operation_id) END
         ) AS document
    FROM cluster_schedules AS kept
   WHERE kept.project_id = page.project_id AND kept.cluster_id = page.id
) AS schedule ON true
"""  # noqa: S608  # our own text
"""A join that adds `schedule.document` to a `page` of clusters."""


class Due(NamedTuple):
    """What the schedule is to do now, and why it has not. `operation_id`: the resume that it began."""

    action: ScheduledAction
    at: datetime
    retry_at: datetime | None = None
    waits_for: str | None = None
    detail: str | None = None
    operation_id: UUID | None = None


class Kept(NamedTuple):
    """A schedule as it is written, as in a request. `computed_at`: when `following` was computed."""

    project_id: UUID
    cluster_id: UUID
    stored: dict[str, object]
    next_at: datetime | None
    next_action: ScheduledAction | None
    computed_at: datetime
    due: Due | None

    @property
    def following(self) -> Moment | None:
        return None if self.next_at is None or self.next_action is None else Moment(self.next_at, self.next_action)

    @property
    def calendar(self) -> ClusterSchedule | None:
        """The schedule; None if this version does not know its time zone."""
        try:
            return ClusterSchedule.model_validate_json(orjson.dumps(self.stored))
        except ValidationError as error:
            log.warning("schedule_unusable", cluster=str(self.cluster_id), why=error.errors()[0]["msg"])
            return None


_NOW = Query("SELECT app_now() AS now", datetime)
_KEPT = Query(
    """
    SELECT project_id, cluster_id,
           jsonb_build_object('time_zone', time_zone, 'periods', periods, 'holidays', holidays) AS stored,
           next_at, next_action, computed_at,
           due_action AS action, due_at AS at, retry_at, waits_for, detail, operation_id
      FROM cluster_schedules WHERE project_id = :project_id AND cluster_id = :cluster_id
    """,
    Kept,
)
_SET = sa.text(
    """
    INSERT INTO cluster_schedules (
      project_id, cluster_id, time_zone, periods, holidays, next_action, next_at, computed_at)
    VALUES (:project_id, :cluster_id, :time_zone, CAST(:periods AS jsonb), CAST(:holidays AS jsonb),
            :next_action, :next_at, app_now())
    ON CONFLICT (cluster_id) DO UPDATE
       SET time_zone = excluded.time_zone, periods = excluded.periods, holidays = excluded.holidays,
           next_action = excluded.next_action, next_at = excluded.next_at, computed_at = excluded.computed_at,
           due_action = NULL, due_at = NULL, retry_at = NULL, waits_for = NULL, detail = NULL, operation_id = NULL
    """
)
_REMOVE = sa.text("DELETE FROM cluster_schedules WHERE project_id = :project_id AND cluster_id = :cluster_id")
_WRITE = sa.text(
    """
    UPDATE cluster_schedules
       SET next_action = :next_action, next_at = :next_at, computed_at = :computed_at, due_action = :due_action,
           due_at = :due_at, retry_at = :retry_at, waits_for = :waits_for, detail = :detail,
           operation_id = :operation_id
     WHERE project_id = :project_id AND cluster_id = :cluster_id
    """
)


async def set_schedule(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, schedule: ClusterSchedule | None
) -> None:
    """Give the cluster this schedule, from its next moment on, or none. What was due is no longer."""
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    if schedule is None:
        await connection.execute(_REMOVE, ids)
        return
    written = schedule.model_dump(mode="json")
    lists = {name: orjson.dumps(written[name]).decode() for name in ("periods", "holidays")}
    following = _following(next_moment(schedule, await _NOW.one(connection)))
    await connection.execute(_SET, {**ids, "time_zone": schedule.time_zone, **lists, **following})


async def kept_schedule(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> Kept | None:
    """The cluster's schedule."""
    return await _KEPT.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})


async def write(connection: AsyncConnection, kept: Kept) -> None:
    """Write what is next and what is due."""
    due = kept.due
    values = {
        "due_action": due and due.action,
        "due_at": due and due.at,
        "retry_at": due and due.retry_at,
        "waits_for": due and due.waits_for,
        "detail": due and due.detail,
        "operation_id": due and due.operation_id,
    }
    ids = {"project_id": kept.project_id, "cluster_id": kept.cluster_id, "computed_at": kept.computed_at}
    await connection.execute(_WRITE, {**ids, **_following(kept.following), **values})


def _following(moment: Moment | None) -> Mapping[str, object]:
    return {"next_action": moment and moment.action, "next_at": moment and moment.at}
