"""What customers decide about the scheduled repair of a cluster: another time, or other settings."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.locks import in_the_way, lock_cluster
from ipucloud.clusters.repairs.store import change, end, open_repair, record_schedule
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem


async def reschedule(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, starts_at: datetime, if_match: int | None
) -> int:
    """Let the scheduled repair begin at another time; returns the cluster's version. The same time changes nothing.

    Raises `Problem`: not_found, precondition_failed, state_conflict without a scheduled repair, operation_in_progress
    if it has begun, validation_failed for a time outside of its limits.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    cluster.require_version(if_match)
    repair = await open_repair(connection, project_id=actor.project_id, cluster_id=cluster_id)
    if repair is None:
        raise Problem(STATE_CONFLICT, f"No repair of cluster {cluster.name} is scheduled.")
    if repair.operation_id is not None:
        raise in_the_way(repair.operation_id)
    if starts_at == repair.starts_at:
        return cluster.version
    if starts_at <= cluster.now:
        raise _outside("not_in_future", "Choose a time in the future; `:repair` begins the repair now.")
    if starts_at > repair.latest_at:
        raise _outside("too_late", f"The repair can be put off until {repair.latest_at:%Y-%m-%dT%H:%M:%SZ}.")
    await change(connection, repair, starts_at=starts_at)
    await record_schedule(connection, repair._replace(starts_at=starts_at), request_id=actor.request_id)
    await apply_reports(connection, project_id=actor.project_id, cluster_id=cluster_id, announce=False)
    return (await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)).version


async def withdraw(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """End the repair of a locked cluster that has not begun; the task schedules it anew if it is still needed."""
    repair = await open_repair(connection, project_id=project_id, cluster_id=cluster_id)
    if repair is not None and repair.operation_id is None:
        await end(connection, repair, "superseded")
    await apply_reports(connection, project_id=project_id, cluster_id=cluster_id, announce=False)


def _outside(code: str, sentence: str) -> Problem:
    fault = FieldError("/starts_at", code, sentence)
    return Problem(VALIDATION_FAILED, "The repair cannot begin then; `errors` says why.", [fault])
