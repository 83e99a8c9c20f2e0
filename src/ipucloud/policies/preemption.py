"""The periodic task that lets preemptible clusters make room for those that wait.

What is needed is computed anew in each transaction, under the lock of the cluster that it changes: after a worker is
killed, the next run does the rest; of two concurrent runs, the second finds nothing left to do.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import RESIZES, LockedCluster, lock_cluster, read_cluster
from ipucloud.clusters.operations.suspend import suspend
from ipucloud.clusters.preemption import notices
from ipucloud.clusters.preemption.plan import HOLDS_ON, Victim, victims_of
from ipucloud.clusters.states import BILLABLE
from ipucloud.clusters.waiting.queue import Waiter, first_waiters
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem
from ipucloud.operations.ending import preempt_partitions
from ipucloud.policies.waiting import can_pay, need_of

log = structlog.get_logger(__name__)


class Queue(NamedTuple):
    """Those that wait for machines of a type in a region."""

    region: str
    machine_type: str


class _Noticed(NamedTuple):
    region: str
    machine_type: str
    project_id: UUID
    cluster_id: UUID


_NOTICED = Query(
    """
    SELECT c.region, c.machine_type, c.project_id, c.id AS cluster_id
      FROM preemptions AS notice JOIN clusters AS c ON (c.project_id, c.id) = (notice.project_id, notice.cluster_id)
     WHERE notice.ended_at IS NULL ORDER BY c.id
    """,
    _Noticed,
)


class _Plan(NamedTuple):
    """Who needs room, if anybody does, and which clusters have to stop for that. `now`: the database's time."""

    waiter: Waiter | None
    victims: list[Victim]
    now: datetime

    @property
    def clusters(self) -> set[UUID]:
        return {each.cluster_id for each in self.victims}

    @property
    def untold(self) -> list[Victim]:
        return [each for each in self.victims if each.preempt_at is None]

    @property
    def due(self) -> bool:
        """Whether all may be stopped: one alone would make no room."""
        return all(each.preempt_at is not None and each.preempt_at <= self.now for each in self.victims)


_NOW = Query("SELECT app_now() AS now", datetime)


async def follow_preemptions(settings: Settings, database: Database) -> None:
    """Tell clusters that they are to be suspended, take that back, and suspend those whose time has come."""
    async with database.read() as connection:
        noticed = await _NOTICED.all(connection)
        queues = {Queue(each.region, each.machine_type) for each in await first_waiters(connection)}
    for queue in sorted(queues | {Queue(each.region, each.machine_type) for each in noticed}):
        there = [each for each in noticed if (each.region, each.machine_type) == queue]
        try:
            await _follow(database, queue, there, settings)
        except Problem as problem:
            log.warning("preemption_not_followed", region=queue.region, problem=problem.kind.code)


async def _follow(database: Database, queue: Queue, noticed: Collection[_Noticed], settings: Settings) -> None:
    async with database.read() as connection:
        plan = await _plan(connection, queue)
    for cluster in noticed:
        if cluster.cluster_id not in plan.clusters:
            async with database.begin() as connection:
                await _withdraw(connection, queue, cluster)
    if plan.waiter is not None and plan.untold:
        notice = timedelta(seconds=settings.preemption_notice)
        if plan.waiter.until > plan.now + notice and await _can_pay(database, plan.waiter, settings):
            for victim in plan.untold:
                async with database.begin() as connection:
                    await _notify(connection, queue, victim, notice)
    elif plan.due:
        for victim in plan.victims:
            await _stop(database, queue, victim, settings)


async def _plan(connection: Statements, queue: Queue) -> _Plan:
    now = await _NOW.one(connection)
    waiters = await first_waiters(connection, region=queue.region, machine_type=queue.machine_type)
    if not waiters:
        return _Plan(None, [], now)
    [waiter] = waiters
    cluster = await read_cluster(connection, project_id=waiter.project_id, cluster_id=waiter.cluster_id)
    victims = await victims_of(
        connection, waiter.region, await need_of(connection, cluster, waiter), resized=_resized(waiter)
    )
    return _Plan(waiter, victims or [], now)


def _resized(waiter: Waiter) -> UUID | None:
    return waiter.cluster_id if waiter.kind == RESIZES else None


async def _can_pay(database: Database, waiter: Waiter, settings: Settings) -> bool:
    async with database.begin() as connection:
        return await can_pay(connection, waiter, settings)


async def _withdraw(connection: AsyncConnection, queue: Queue, noticed: _Noticed) -> None:
    ids = {"project_id": noticed.project_id, "cluster_id": noticed.cluster_id}
    cluster = await lock_cluster(connection, **ids)
    notice = await notices.open_notice(connection, **ids)
    if notice is None or cluster.id in (await _plan(connection, queue)).clusters:
        return
    await notices.withdraw(connection, notice, "not_needed" if cluster.state in HOLDS_ON else "not_in_use")
    log.info("preemption_withdrawn", cluster=str(cluster.id))


async def _notify(connection: AsyncConnection, queue: Queue, victim: Victim, notice: timedelta) -> None:
    cluster = await _locked(connection, queue, victim)
    if cluster is None or await notices.open_notice(connection, **_ids(cluster)) is not None:
        return
    await notices.give_notice(connection, **_ids(cluster), notice=notice)
    log.info("preemption_scheduled", cluster=str(cluster.id))


async def _stop(database: Database, queue: Queue, victim: Victim, settings: Settings) -> None:
    """A cluster with an open operation of its own is left to the next run; those on its partitions do not hold it."""
    try:
        async with database.begin() as connection:
            cluster = await _locked(connection, queue, victim)
            notice = None if cluster is None else await notices.open_notice(connection, **_ids(cluster))
            if cluster is None or notice is None:
                return
            why = "The cluster is being suspended: it is preempted."
            await preempt_partitions(connection, **_ids(cluster), reason=why)
            actor = Actor(cluster.project_id, None, notices.request_of(cluster.id))
            accepted = await suspend(connection, actor, cluster.id, if_match=None, settings=settings)
            await notices.carried_out(connection, notice, accepted.operation_id)
    except Problem as problem:
        log.info("cluster_not_preempted", cluster=str(victim.cluster_id), problem=problem.kind.code)
        return
    log.info("cluster_preempted", cluster=str(victim.cluster_id), operation=str(accepted.operation_id))


async def _locked(connection: AsyncConnection, queue: Queue, victim: Victim) -> LockedCluster | None:
    """The cluster, locked; None: it is not in use now, or does not have to stop any more."""
    cluster = await lock_cluster(connection, project_id=victim.project_id, cluster_id=victim.cluster_id)
    if cluster.state not in BILLABLE or cluster.id not in (await _plan(connection, queue)).clusters:
        return None
    return cluster


def _ids(cluster: LockedCluster) -> dict[str, UUID]:
    return {"project_id": cluster.project_id, "cluster_id": cluster.id}
