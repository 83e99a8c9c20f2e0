"""The periodic task that lets clusters follow their schedules, and what customers are told of it.

Each cluster is a transaction of its own, under its lock: after a worker is killed, the next run does the rest; of two
concurrent runs, the second finds nothing left to do.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster, lock_cluster, lock_quota, set_reason
from ipucloud.clusters.metrics import SCHEDULED_ACTIONS, count
from ipucloud.clusters.operations.resume import resume
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.clusters.schedules.calendar import Moment, moments, next_moment
from ipucloud.clusters.schedules.store import Due, Kept, kept_schedule, write
from ipucloud.clusters.states import BILLABLE
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import ScheduleMisses, ScheduleStarts, ScheduleWaits
from ipucloud.contract.event_types.clusters import (
    CLUSTER_SCHEDULE_MISSED,
    CLUSTER_SCHEDULE_STARTED,
    CLUSTER_SCHEDULE_WAITING,
)
from ipucloud.contract.operations import OperationState
from ipucloud.contract.schedules import ScheduledAction, ScheduleWaitsFor
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    CAPACITY_EXHAUSTED,
    COST_LIMIT_REACHED,
    FUNDS_EXHAUSTED,
    OPERATION_IN_PROGRESS,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
    ErrorCode,
    Problem,
)
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.ending import preempt

log = structlog.get_logger(__name__)


AT_ONCE = 1000
"""Most schedules in one run; the next run continues."""
PAUSE = timedelta(minutes=5)
"""After a resume that was refused or failed, until the next attempt."""
STALE = timedelta(days=1)
"""Age of the finding that nothing is next, after which it is looked for again: the calendar may reach further now."""
_OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})
_COMES_UP = BILLABLE | {ClusterState.CREATING, ClusterState.RESUMING}
_REFUSALS: dict[ErrorCode, ScheduleWaitsFor] = {
    BUDGET_REACHED: "budget_reached",
    CAPACITY_EXHAUSTED: "capacity_exhausted",
    COST_LIMIT_REACHED: "cost_limit_reached",
    FUNDS_EXHAUSTED: "funds_exhausted",
    OPERATION_IN_PROGRESS: "operation",
    PAYMENT_OVERDUE: "payment_overdue",
    QUOTA_EXCEEDED: "quota_exceeded",
    STATE_CONFLICT: "state_conflict",
}


class _Cluster(NamedTuple):
    project_id: UUID
    cluster_id: UUID


_WAITING = Query(
    """
    SELECT s.project_id, s.cluster_id FROM cluster_schedules AS s
      JOIN clusters AS c ON (c.project_id, c.id) = (s.project_id, s.cluster_id)
      LEFT JOIN operations AS o ON (o.project_id, o.id) = (s.project_id, s.operation_id)
     WHERE c.state NOT IN ('error', 'deleting', 'deleted')
       AND (s.next_at <= app_now() OR s.computed_at > app_now()
            OR (s.next_at IS NULL AND s.computed_at < app_now() - CAST(:stale AS interval))
            OR (s.due_action IS NOT NULL AND s.operation_id IS NULL
                AND coalesce(s.retry_at, app_now()) <= app_now())
            OR o.finished_at IS NOT NULL)
     ORDER BY coalesce(s.due_at, s.next_at), s.cluster_id LIMIT :limit
    """,
    _Cluster,
)
_DECIDED = Query(
    """
    SELECT EXISTS (SELECT FROM operations
                    WHERE project_id = :project_id AND cluster_id = :cluster_id AND requested_by IS NOT NULL
                      AND kind IN ('cluster.suspend', 'cluster.resume') AND created_at > :since)
    """,
    bool,
)

_WAITING_RESUME = Query(
    """
    SELECT o.id FROM operations AS o
      JOIN capacity_waits AS w ON (w.project_id, w.operation_id) = (o.project_id, o.id)
     WHERE o.project_id = :project_id AND o.cluster_id = :cluster_id AND o.kind = 'cluster.resume'
       AND o.finished_at IS NULL AND w.granted_at IS NULL
    """,
    UUID,
)


class _Ended(NamedTuple):
    state: OperationState
    finished_at: datetime | None


_BEGUN = Query("SELECT state, finished_at FROM operations WHERE project_id = :project_id AND id = :id", _Ended)


async def follow_schedules(settings: Settings, database: Database) -> None:
    """Suspend and resume every cluster whose schedule is due."""
    async with database.read() as connection:
        waiting = await _WAITING.all(connection, {"limit": AT_ONCE, "stale": STALE})
    for project_id, cluster_id in waiting:
        try:
            async with database.begin() as connection:
                await follow(connection, project_id, cluster_id, settings)
        except Problem as problem:
            log.warning("schedule_not_followed", cluster=str(cluster_id), problem=problem.kind.code)


async def follow(connection: AsyncConnection, project_id: UUID, cluster_id: UUID, settings: Settings) -> None:
    """The same for one cluster. A refused action is tried again until the next moment of the calendar."""
    await lock_quota(connection, project_id=project_id, cluster_id=cluster_id)
    cluster = await lock_cluster(connection, project_id=project_id, cluster_id=cluster_id)
    before = await kept_schedule(connection, project_id=project_id, cluster_id=cluster_id)
    if before is None or cluster.state in _OVER:
        return
    kept = reckon(before, cluster.now)
    if before.due is not None and before.due.waits_for is not None and _superseded(before.due, kept.due):
        await record_missed(connection, kept, before.due)
    if kept.due is not None:
        kept = kept._replace(due=await _serve(connection, cluster, kept, kept.due, settings))
    if kept != before:
        await write(connection, kept)
        failpoint("schedule.written")


def _superseded(due: Due, by: Due | None) -> bool:
    return by is not None and by.at > due.at


def reckon(kept: Kept, now: datetime) -> Kept:
    """What is due and what is next at a time. Of several moments that have passed, only the last one is due.

    A clock that was set back makes nothing due, and takes back what is due later.
    """
    if kept.computed_at > now:
        due = None if kept.due is not None and kept.due.at > now else kept.due
        return _with_next(kept._replace(due=due), now)
    if kept.following is None:
        return _with_next(kept, now) if kept.computed_at < now - STALE else kept
    if kept.following.at > now:
        return kept
    last = _last(kept, kept.following, now)
    return _with_next(kept._replace(due=Due(last.action, last.at)), now)


def _last(kept: Kept, first: Moment, now: datetime) -> Moment:
    """The last moment that has passed, of those from `first` on."""
    calendar = kept.calendar
    for moment in moments(calendar, first.at) if calendar is not None else ():
        if moment.at > now:
            break
        first = moment
    return first


def _with_next(kept: Kept, now: datetime) -> Kept:
    calendar = kept.calendar
    following = None if calendar is None else next_moment(calendar, now)
    return kept._replace(
        next_at=following and following.at, next_action=following and following.action, computed_at=now
    )


async def _serve(
    connection: AsyncConnection, cluster: LockedCluster, kept: Kept, due: Due, settings: Settings
) -> Due | None:
    """What is still due after another attempt; None: nothing."""
    if due.operation_id is not None:
        return await _after_resume(connection, cluster, kept, due)
    if due.retry_at is not None and due.retry_at > cluster.now:
        return due
    decided = await _DECIDED.one(
        connection, {"project_id": cluster.project_id, "cluster_id": cluster.id, "since": due.at}
    )
    if decided or not _applies(cluster, due):
        if due.action is ScheduledAction.SUSPEND and not decided:
            await _end_wait(connection, cluster, due)
        return None
    actor = Actor(project_id=cluster.project_id, token_id=None, request_id=f"schedule-{cluster.id}")
    begin = partial(suspend if due.action is ScheduledAction.SUSPEND else resume, if_match=None, settings=settings)
    try:
        async with connection.begin_nested():
            accepted = await begin(connection, actor, cluster.id)
    except Problem as problem:
        return await _refused(connection, cluster, kept, due, problem)
    if due.action is ScheduledAction.SUSPEND:
        why = f"its schedule suspends it from {due.at:%Y-%m-%d %H:%M} UTC on"
        await set_reason(connection, cluster.project_id, cluster.id, why)
    await record_started(connection, kept, due, accepted.operation_id)
    log.info("schedule_followed", cluster=str(cluster.id), action=due.action, operation=str(accepted.operation_id))
    failpoint("schedule.action_begun")
    if due.action is ScheduledAction.SUSPEND:  # it goes on until it succeeds; a resume can fail
        return None
    return Due(due.action, due.at, operation_id=accepted.operation_id)


async def _end_wait(connection: AsyncConnection, cluster: LockedCluster, due: Due) -> None:
    """A resume that still waits for capacity would bring the cluster up after the period for which it was asked."""
    waiting = await _WAITING_RESUME.one_or_none(
        connection, {"project_id": cluster.project_id, "cluster_id": cluster.id}
    )
    if waiting is None:
        return
    why = (
        f"The cluster's schedule suspends it from {due.at:%Y-%m-%d %H:%M} UTC on, and it still waited for capacity."
        " Nothing was taken or charged. Resume it again to have it in use until the next period ends."
    )
    await preempt(connection, project_id=cluster.project_id, operation_id=waiting, reason=why)
    log.info("schedule_ended_wait", cluster=str(cluster.id), operation=str(waiting))


def _applies(cluster: LockedCluster, due: Due) -> bool:
    """Whether the cluster is not already where the action leads."""
    if due.action is ScheduledAction.SUSPEND:
        return cluster.state not in {ClusterState.SUSPENDED, ClusterState.SUSPENDING}
    return cluster.state not in _COMES_UP


async def _refused(
    connection: AsyncConnection, cluster: LockedCluster, kept: Kept, due: Due, problem: Problem
) -> Due | None:
    """Wait; raises the problem again if it is none of waiting."""
    waits_for = _REFUSALS.get(problem.kind)
    if waits_for is None:
        raise problem
    retry_at = None if waits_for == "operation" else cluster.now + PAUSE
    waiting = due._replace(waits_for=waits_for, detail=problem.detail, retry_at=retry_at)
    if waits_for != due.waits_for:
        await record_waiting(connection, kept, waiting)
    return waiting


async def _after_resume(connection: AsyncConnection, cluster: LockedCluster, kept: Kept, due: Due) -> Due | None:
    """A resume that failed is tried again after a pause; one that somebody cancelled is not."""
    begun = await _BEGUN.one(connection, {"project_id": cluster.project_id, "id": due.operation_id})
    if begun.finished_at is None:
        return due
    if begun.state is not OperationState.FAILED:
        return None
    detail = f"The resume {due.operation_id} failed; `GET …/operations/{due.operation_id}` says why."
    retry_at = begun.finished_at + PAUSE
    waiting = Due(due.action, due.at, retry_at=retry_at, waits_for="resume_failed", detail=detail)
    await record_waiting(connection, kept, waiting)
    return waiting


async def record_started(connection: AsyncConnection, kept: Kept, due: Due, operation_id: UUID) -> None:
    """The schedule has begun an operation."""
    count(connection, SCHEDULED_ACTIONS.labels(due.action, "started"))
    await record(
        connection,
        CLUSTER_SCHEDULE_STARTED,
        project_id=kept.project_id,
        subject_id=kept.cluster_id,
        operation_id=operation_id,
        request_id=f"schedule-{kept.cluster_id}",
        data=ScheduleStarts(action=due.action, due_at=due.at),
    )


async def record_waiting(connection: AsyncConnection, kept: Kept, due: Due) -> None:
    """Its action has to wait, for another reason than before."""
    count(connection, SCHEDULED_ACTIONS.labels(due.action, "waiting"))
    await record(
        connection,
        CLUSTER_SCHEDULE_WAITING,
        project_id=kept.project_id,
        subject_id=kept.cluster_id,
        data=ScheduleWaits.model_validate({**_named(due), "detail": due.detail, "retry_at": due.retry_at}),
    )


async def record_missed(connection: AsyncConnection, kept: Kept, due: Due) -> None:
    """Its action did not take place before the next one was due."""
    count(connection, SCHEDULED_ACTIONS.labels(due.action, "missed"))
    await record(
        connection,
        CLUSTER_SCHEDULE_MISSED,
        project_id=kept.project_id,
        subject_id=kept.cluster_id,
        data=ScheduleMisses.model_validate(_named(due)),
    )


def _named(due: Due) -> dict[str, object]:
    return {"action": due.action, "due_at": due.at, "waits_for": due.waits_for}
