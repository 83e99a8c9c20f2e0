"""The periodic task that schedules repairs, starts those that are due, and ends those that are no longer needed.

Each cluster is a transaction of its own, under its lock: after a worker is killed, the next run does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.repairs.needs import NEEDS, Need, begins, plan
from ipucloud.clusters.repairs.store import (
    SCHEDULED,
    OpenRepair,
    change,
    end,
    open_repair,
    record_schedule,
    record_waiting,
    schedule,
)
from ipucloud.config import Settings
from ipucloud.contract.repairs import RepairReason, WaitsFor
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import Code, Kind, Source
from ipucloud.inventory.health.observations import automation_halted
from ipucloud.inventory.health.reports import report
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, Problem
from ipucloud.operations.ending import preempt_partitions
from ipucloud.operations.frozen import frozen
from ipucloud.operations.store import Accepted

log = structlog.get_logger(__name__)


class Replace(Protocol):
    """Begins the operation that gives a cluster other hardware; raises `Problem`, and then has changed nothing."""

    async def __call__(
        self,
        connection: AsyncConnection,
        actor: Actor,
        cluster_id: UUID,
        *,
        hardware: Sequence[str],
        reason: RepairReason,
        settings: Settings,
    ) -> Accepted: ...


class _Maintained(NamedTuple):
    """Hardware of a cluster whose planned maintenance begins, with the operator's reason and token."""

    kind: Kind
    object_id: UUID
    detail: str
    created_by: str | None


_INSTEAD = (
    "The cluster gets other hardware. Its partitions are made again there, except those that were to be removed;"
    " this operation has nothing left to do."
)
# Two workers may run the task at once, when one of them was frozen: what one begins counts for the other.
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(hashtextextended('repairs in ' || CAST(:region AS text), 0))")
_STARTED = Query(
    """
    SELECT count(*) FROM scheduled_repairs AS repair
      JOIN clusters AS c ON (c.project_id, c.id) = (repair.project_id, repair.cluster_id)
      JOIN operations AS o ON (o.project_id, o.id) = (repair.project_id, repair.operation_id)
     WHERE c.region = :region AND repair.reason = 'fault' AND repair.started_at > app_now() - interval '1 hour'
       AND o.requested_by IS NULL
    """,
    int,
)
_MAINTAINED = Query(
    """
    SELECT CASE WHEN planned.host_id IS NULL THEN 'machine' ELSE 'host' END AS kind,
           coalesce(planned.machine_id, planned.host_id) AS object_id, planned.detail, planned.created_by
      FROM allocations AS held
      JOIN health_reports AS planned ON planned.machine_id = held.machine_id OR planned.host_id = held.host_id
     WHERE held.project_id = :project_id AND held.cluster_id = :cluster_id AND held.released_at IS NULL
       AND planned.cleared_at IS NULL AND planned.maintenance_at <= app_now()
       AND NOT EXISTS (SELECT FROM health_reports AS begun
                        WHERE begun.machine_id IS NOT DISTINCT FROM planned.machine_id
                          AND begun.host_id IS NOT DISTINCT FROM planned.host_id
                          AND begun.code = 'maintenance' AND begun.cleared_at IS NULL)
     ORDER BY kind DESC, object_id
    """,
    _Maintained,
)


async def start_repairs(settings: Settings, replace: Replace, database: Database) -> None:
    """Let the scheduled repairs agree with what is wrong, and start those whose time has come."""
    async with database.read() as connection:
        needs = {need.cluster_id: need for need in await NEEDS.all(connection, {"cluster_id": None})}
        scheduled = {repair.cluster_id: repair for repair in await SCHEDULED.all(connection)}
    projects = {cluster: need.project_id for cluster, need in needs.items()}
    projects |= {cluster: repair.project_id for cluster, repair in scheduled.items()}
    for cluster_id, project_id in projects.items():
        need, repair = needs.get(cluster_id), scheduled.get(cluster_id)
        if need is not None and repair is not None and _agree(need, repair) and repair.starts_at > need.now:
            continue
        try:
            async with database.begin() as connection:
                await serve(connection, project_id, cluster_id, settings, replace)
        except Problem as problem:
            log.warning("repair_not_started", cluster=str(cluster_id), problem=problem.kind.code)


async def serve(
    connection: AsyncConnection, project_id: UUID, cluster_id: UUID, settings: Settings, replace: Replace
) -> None:
    """The same for one cluster. Raises `Problem` when its repair can begin later."""
    await lock_cluster(connection, project_id=project_id, cluster_id=cluster_id)
    repair = await arrange(connection, project_id, cluster_id, settings)
    need = await NEEDS.one_or_none(connection, {"cluster_id": cluster_id})
    if repair is None or need is None or repair.operation_id is not None or repair.starts_at > need.now:
        return
    later = _next_window(need, repair)
    if need.replaced and later > need.now:  # its window has passed while no worker could begin it
        await change(connection, repair, starts_at=later, waits_for=repair.waits_for)
        await record_schedule(connection, repair._replace(starts_at=later), request_id=None)
    elif need.replaced:
        waits_for = await _begin(connection, need, repair, settings, replace)
        if waits_for is None:
            return
        await change(connection, repair, starts_at=later, waits_for=waits_for)
        if waits_for != repair.waits_for:
            await record_waiting(connection, repair, waits_for)
    begun = await _maintain_in_place(connection, need)
    if begun and not need.replaced:
        await end(connection, repair, "maintained")
    await apply_reports(connection, project_id=project_id, cluster_id=cluster_id, announce=begun)


async def arrange(
    connection: AsyncConnection,
    project_id: UUID,
    cluster_id: UUID,
    settings: Settings,
    *,
    request_id: str | None = None,
) -> OpenRepair | None:
    """Schedule, change or end the repair of a locked cluster as its hardware needs; what is open then."""
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    repair = await open_repair(connection, **ids)
    need = await NEEDS.one_or_none(connection, {"cluster_id": cluster_id})
    if repair is not None and (repair.operation_id is not None or (need is not None and _agree(need, repair))):
        return repair
    if need is None:
        if repair is not None:
            await end(connection, repair, "not_needed")
    elif repair is not None and _same_cause(need, repair) and {*need.hosts} <= {*repair.hardware}:
        await change(connection, repair, hardware=need.hardware, waits_for=repair.waits_for)
    else:
        await schedule(connection, need, plan(need, settings), request_id=request_id)
    await apply_reports(connection, **ids, announce=False)
    return await open_repair(connection, **ids)


def _same_cause(need: Need, repair: OpenRepair) -> bool:
    same_time = need.reason == "fault" or need.maintenance_at == repair.latest_at
    return need.reason == repair.reason and same_time


def _agree(need: Need, repair: OpenRepair) -> bool:
    """Whether the repair is still what the cluster needs: for the same cause, and of the same hardware."""
    return _same_cause(need, repair) and need.hardware == repair.hardware


async def _begin(
    connection: AsyncConnection, need: Need, repair: OpenRepair, settings: Settings, replace: Replace
) -> WaitsFor | None:
    """Begin the operation; otherwise what it has to wait for. Raises `Problem`.

    Open operations on the cluster's partitions end as `preempted`: a customer could otherwise put the repair off by
    beginning one after another. What they were to bring about the repair does.
    """
    if await automation_halted(connection, need.region) or await frozen(connection, need.region) is not None:
        return "operator"
    if repair.reason == "fault":
        await connection.execute(_ONE_AT_A_TIME, {"region": need.region})
        if await _STARTED.one(connection, {"region": need.region}) >= settings.repair_limit:
            return "limit"
    actor = Actor(project_id=need.project_id, token_id=None, request_id=f"repair-{repair.id}")
    try:
        async with connection.begin_nested():
            ids = {"project_id": need.project_id, "cluster_id": need.cluster_id}
            await preempt_partitions(connection, **ids, reason=_INSTEAD)
            begun = await replace(
                connection,
                actor,
                need.cluster_id,
                hardware=need.replaced,
                reason=repair.reason,
                settings=settings,
            )
    except Problem as problem:
        if problem.kind is not CAPACITY_EXHAUSTED:
            raise
        return "capacity"
    log.info("repair_started", cluster=str(need.cluster_id), reason=repair.reason, operation=str(begun.operation_id))
    return None


def _next_window(need: Need, repair: OpenRepair) -> datetime:
    """When to try again: now, or in the next window once the one of the repair is over; not after its latest time.

    A customer may have chosen a time outside of every window; it lasts as long as a window.
    """
    window = need.window
    if window is None:
        return repair.starts_at
    chosen = begins(window, repair.starts_at) > repair.starts_at
    if chosen and need.now < repair.starts_at + timedelta(minutes=window.minutes):
        return repair.starts_at
    opening = begins(window, need.now)
    return repair.starts_at if opening <= need.now else min(opening, repair.latest_at)


async def _maintain_in_place(connection: AsyncConnection, need: Need) -> bool:
    """Report the maintenance of hardware that the cluster still holds when it begins; False if there is none."""
    maintained = await _MAINTAINED.all(connection, {"project_id": need.project_id, "cluster_id": need.cluster_id})
    for hardware in maintained:
        await report(
            connection,
            kind=hardware.kind,
            object_id=hardware.object_id,
            source=Source.OPERATOR,
            code=Code.MAINTENANCE,
            detail=hardware.detail,
            created_by=hardware.created_by,
            cluster_id=need.cluster_id,
        )
    return bool(maintained)
