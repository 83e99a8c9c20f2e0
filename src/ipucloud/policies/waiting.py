"""The periodic task that gives machines to clusters that wait. Whatever makes room wakes it (`waiting.tables`).

Each cluster is a transaction of its own, under its lock and its quota's: after a worker is killed, the next run does
the rest; of two concurrent runs, the second finds nothing left to do.
"""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_interval
from ipucloud.clusters.admission import hold_first_hour, refuse_by_terms, terms_of
from ipucloud.clusters.locks import LockedCluster, lock_cluster, lock_quota, read_cluster
from ipucloud.clusters.operations.kind import CREATES, WORK_KIND
from ipucloud.clusters.operations.resize import RESIZE, resize_in_turn
from ipucloud.clusters.operations.resize_record import waiting_size
from ipucloud.clusters.operations.resume import RESUME, need_to_resume, resume_in_turn
from ipucloud.clusters.waiting.queue import Waiter, grant, note_check, waiters
from ipucloud.config import Settings
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.estimates import BillingStart
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Demand, Need, allocate
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, UNAVAILABLE, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.quotas import store as quotas
from ipucloud.reconcile.wake import wake

log = structlog.get_logger(__name__)

AT_ONCE = 1000
"""Most clusters in one run."""
_SERVERS = Query("SELECT count(*) FROM poplar_servers WHERE project_id = :project_id AND cluster_id = :cluster_id", int)


async def serve_waiting(settings: Settings, database: Database) -> None:
    """Give free machines to the clusters that wait, in the order of their queues.

    The first that lacks capacity ends the run for its queue: nobody behind it goes ahead. One that something else
    holds up, as its project's quota, is passed over. Who is served changes the order: its project has had its turn.
    """
    full: set[tuple[str, str]] = set()
    passed: set[UUID] = set()
    while True:
        async with database.read() as connection:
            queue = await waiters(connection, AT_ONCE)
        for waiter in queue:
            if waiter.operation_id in passed or (waiter.region, waiter.machine_type) in full:
                continue
            passed.add(waiter.operation_id)
            held_up_by = await _serve_one(database, waiter, settings)
            if held_up_by is None:
                break
            if held_up_by in {CAPACITY_EXHAUSTED.code, UNAVAILABLE.code}:
                full.add((waiter.region, waiter.machine_type))
        else:
            return


async def _serve_one(database: Database, waiter: Waiter, settings: Settings) -> str | None:
    """The code of the problem that it still waits for; None: it has its machines, or does not wait any more."""
    try:
        async with database.begin() as connection:
            await serve(connection, waiter, settings)
    except Problem as problem:
        code = problem.kind.code
        lacks_capacity = problem.kind in {CAPACITY_EXHAUSTED, UNAVAILABLE}
        async with database.begin() as connection:
            await note_check(connection, waiter, None if lacks_capacity else code)
        return code
    return None


async def serve(connection: AsyncConnection, waiter: Waiter, settings: Settings) -> bool:
    """Give the cluster its machines, as a create that does not wait takes them. False: it does not wait any more.

    Raises `Problem`: budget_reached, payment_overdue, quota_exceeded, capacity_exhausted, funds_exhausted,
    state_conflict, unavailable.
    """
    ids = {"project_id": waiter.project_id, "cluster_id": waiter.cluster_id}
    await lock_quota(connection, **ids)
    cluster = await lock_cluster(connection, **ids)
    if not await grant(connection, waiter, deadline_seconds=settings.create_deadline):
        return False
    actor = _actor(waiter)
    await wake(connection, kind=WORK_KIND, key=str(waiter.cluster_id), project_id=waiter.project_id)
    if waiter.kind == RESIZE.name:
        await resize_in_turn(connection, actor, cluster, waiter.operation_id, settings)
    else:
        terms = await terms_of(connection, actor, cluster)
        refuse_by_terms(terms)
        await quotas.consume(
            connection,
            project_id=waiter.project_id,
            region=waiter.region,
            machine_type=waiter.machine_type,
            machines=cluster.machines,
        )
        if waiter.kind == RESUME.name:
            await resume_in_turn(connection, actor, cluster, waiter.operation_id)
        else:
            need = await need_of(connection, cluster, waiter)
            await allocate(connection, Demand(waiter.project_id, waiter.cluster_id, waiter.region, need))
        await hold_first_hour(connection, actor, waiter.cluster_id, terms, settings)
        if waiter.kind == CREATES and cluster.billing_starts is BillingStart.REQUESTED:
            await open_interval(connection, project_id=waiter.project_id, cluster_id=waiter.cluster_id)
    failpoint("waiting.machines_taken")
    log.info("waiting_cluster_served", cluster=str(waiter.cluster_id), operation=waiter.kind)
    return True


def _actor(waiter: Waiter) -> Actor:
    return Actor(project_id=waiter.project_id, token_id=None, request_id=f"capacity-{waiter.cluster_id}")


class _TakenBack(Exception):
    """Ends a savepoint, so that nothing of it stays."""


async def can_pay(connection: AsyncConnection, waiter: Waiter, settings: Settings) -> bool:
    """Whether the account that pays would let the cluster have machines now; nothing stays written."""
    actor = _actor(waiter)
    cluster = await read_cluster(connection, project_id=waiter.project_id, cluster_id=waiter.cluster_id)
    if waiter.kind == RESIZE.name:
        size = await waiting_size(connection, cluster, waiter.operation_id)
        if not size.grows:
            return True
        cluster = cluster._replace(sku=size.sku, machines=size.machines)
    try:
        async with connection.begin_nested():
            terms = await terms_of(connection, actor, cluster)
            refuse_by_terms(terms)
            await hold_first_hour(connection, actor, waiter.cluster_id, terms, settings)
            raise _TakenBack
    except _TakenBack:
        return True
    except Problem:
        return False


async def need_of(connection: Statements, cluster: LockedCluster, waiter: Waiter) -> Need:
    """What a cluster that waits is to get."""
    if waiter.kind == RESUME.name:
        return await need_to_resume(connection, cluster)
    if waiter.kind == RESIZE.name:
        return (await waiting_size(connection, cluster, waiter.operation_id)).need
    servers = await _SERVERS.one(connection, {"project_id": cluster.project_id, "cluster_id": cluster.id})
    own = cluster.allocated_through is AllocatedThrough.HOST_DEVICES
    return Need(cluster.machine_type, cluster.machines, servers, cluster.ipus // cluster.machines, own_hosts=own)
