"""What customers are told of their schedules: events and metrics, in the transaction of what they are about."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.metrics import SCHEDULED_ACTIONS, count
from ipucloud.clusters.schedules.store import Due, Kept
from ipucloud.contract.event_payloads.clusters import ScheduleMisses, ScheduleStarts, ScheduleWaits
from ipucloud.contract.event_types.clusters import (
    CLUSTER_SCHEDULE_MISSED,
    CLUSTER_SCHEDULE_STARTED,
    CLUSTER_SCHEDULE_WAITING,
)
from ipucloud.events.log import record


async def started(connection: AsyncConnection, kept: Kept, due: Due, operation_id: UUID) -> None:
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


async def waiting(connection: AsyncConnection, kept: Kept, due: Due) -> None:
    """Its action has to wait, for another reason than before."""
    count(connection, SCHEDULED_ACTIONS.labels(due.action, "waiting"))
    await record(
        connection,
        CLUSTER_SCHEDULE_WAITING,
        project_id=kept.project_id,
        subject_id=kept.cluster_id,
        data=ScheduleWaits.model_validate({**_named(due), "detail": due.detail, "retry_at": due.retry_at}),
    )


async def missed(connection: AsyncConnection, kept: Kept, due: Due) -> None:
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
