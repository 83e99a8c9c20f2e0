"""Resuming a suspended cluster: admitted like a create, under a new external name, on machines that are free now."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import step_objects
from ipucloud.clusters.admission import Terms, check_cost_limit, hold_first_hour, refuse_by_terms, terms_of
from ipucloud.clusters.locks import LockedCluster, lock_cluster, lock_quota
from ipucloud.clusters.operations.begin import begin, repeated, transition
from ipucloud.clusters.operations.effects import name_anew, record_endpoint, record_servers
from ipucloud.clusters.operations.kind import (
    MACHINES,
    VIPU,
    VIPU_USERS,
    WORK_KIND,
    ClusterKind,
    ClusterStep,
    fails_with,
)
from ipucloud.clusters.operations.replacing import goes_without, other_hardware, replacing, servers_without_host
from ipucloud.clusters.operations.suspend import SUSPENSION
from ipucloud.clusters.operations.waiting import AT_ONCE, WAIT, MayWait, Until, begin_waiting
from ipucloud.clusters.states import CLUSTER_STATES
from ipucloud.clusters.steps import build
from ipucloud.clusters.steps.poplar_servers import switch_on_poplar_servers
from ipucloud.clusters.steps.vipu_user import keep_vipu_user
from ipucloud.clusters.waiting.queue import awaited, behind_the_queue
from ipucloud.config import Settings
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Demand, Need, allocate
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, STATE_CONFLICT, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import Billing, Repeated, Undo
from ipucloud.operations.step import Stage
from ipucloud.operations.store import Accepted
from ipucloud.quotas import store as quotas

_step = partial(ClusterStep, stage=Stage("CLUSTER_RESUME", 560))

RESUME = ClusterKind(
    name="cluster.resume",
    work_kind=WORK_KIND,
    steps=(
        _step(name="attach_network", act=build.attach_network, asks=step_objects.network),
        _step(name="power_on_machines", act=build.power_on_machines, asks=step_objects.machines, requires=MACHINES),
        _step(name="create_allocation", act=build.create_allocation, requires=VIPU, on_success=record_endpoint),
        _step(name="create_vipu_user", act=keep_vipu_user, requires=VIPU_USERS),
        _step(name="test_cluster", act=build.test_cluster, requires=VIPU),
        _step(name="create_partition", act=build.create_partition, requires=VIPU),
        _step(
            name="switch_on_poplar_servers",
            act=switch_on_poplar_servers,
            asks=step_objects.hosts,
            on_success=record_servers,
        ),
        _step(name="check_ipus", act=build.check_ipus, asks=step_objects.hosts),
    ),
    states=CLUSTER_STATES,
    begins_in=frozenset({ClusterState.SUSPENDED}),
    during=ClusterState.RESUMING,
    success=ClusterState.ACTIVE,
    undo=Undo(steps=SUSPENSION, what="the resume", cancelled=ClusterState.SUSPENDED, failed=ClusterState.SUSPENDED),
    cancellable=True,
    repeated=Repeated.JOINS,
    billing=Billing.STARTS,
    deadline=None,
    preceding=WAIT,
    replacing=replacing(SUSPENSION),
    other_hardware=other_hardware,
    goes_without=goes_without,
    failure=fails_with(
        "What was built is removed, nothing is charged, and the cluster is suspended as before.", "Resume it again"
    ),
)


async def resume(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    *,
    if_match: int | None,
    settings: Settings,
    may_wait: MayWait = AT_ONCE,
) -> Accepted:
    """Record the resume with quota, machines, operation, work item and events, or nothing.

    One that may wait for capacity is recorded without quota and machines when others wait, or none are free; the
    cluster stays suspended until its turn has come.

    Servers with IPUs of their own were kept: nothing is taken for them. A server that a failed repair has lost gets a
    host, and is built again.

    Raises `Problem`: validation_failed for the end of a wait; not_found, precondition_failed, operation_in_progress,
    state_conflict for a cluster that is not suspended or no longer sold; and as a create: budget_reached,
    payment_overdue, quota_exceeded, capacity_exhausted, funds_exhausted, cost_limit_reached.
    """
    may_wait.check()
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    await lock_quota(connection, **ids)
    cluster = await lock_cluster(connection, **ids)
    failpoint("resume.cluster_locked")
    running = await repeated(connection, actor, cluster, RESUME, if_match=if_match)
    if running is not None:
        return running
    if cluster.state not in RESUME.begins_in:
        raise Problem(STATE_CONFLICT, f"Only a suspended cluster can be resumed; this one is {cluster.state}.")
    terms = await terms_of(connection, actor, cluster)
    refuse_by_terms(terms)
    if may_wait.for_capacity:
        until = await may_wait.end(connection)
        if cluster.allocated_through is AllocatedThrough.V_IPU:
            return await _resume_or_wait(connection, actor, cluster, terms, until, settings=settings)
    return await _resume_now(connection, actor, cluster, terms, settings)


async def _resume_now(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, terms: Terms, settings: Settings
) -> Accepted:
    accepted = await _begin(connection, actor, cluster, settings)
    await hold_first_hour(connection, actor, cluster.id, terms, settings)
    return accepted


async def _resume_or_wait(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    terms: Terms,
    until: Until,
    *,
    settings: Settings,
) -> Accepted:
    try:
        async with connection.begin_nested():
            return await _resume_now(connection, actor, cluster, terms, settings)
    except Problem as problem:
        if problem.kind is not CAPACITY_EXHAUSTED:
            raise
    need = await need_to_resume(connection, cluster)
    accepted = await begin_waiting(
        connection, actor, cluster, RESUME, until, need=need, more=cluster.machines, settings=settings
    )
    await check_cost_limit(connection, actor, cluster.id, terms, settings)
    return accepted


async def need_to_resume(connection: Statements, cluster: LockedCluster) -> Need:
    """The machines of a suspended cluster, and hosts for those of its servers that have none."""
    servers = await servers_without_host(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    return Need(cluster.machine_type, cluster.machines, len(servers), cluster.ipus // cluster.machines)


async def resume_in_turn(connection: AsyncConnection, actor: Actor, cluster: LockedCluster, operation_id: UUID) -> None:
    """Begin a resume that has waited: the turn of the suspended cluster has come, and its quota is taken.

    Raises `Problem` capacity_exhausted, unavailable.
    """
    await name_anew(connection, project_id=actor.project_id, cluster_id=cluster.id, incarnation=cluster.incarnation + 1)
    await transition(connection, actor, cluster, RESUME, operation_id)
    await _allocate(connection, cluster)


async def _begin(connection: AsyncConnection, actor: Actor, cluster: LockedCluster, settings: Settings) -> Accepted:
    """Quota first and machines last, in the lock order. Raises `Problem` quota_exceeded, capacity_exhausted."""
    gave_back = cluster.allocated_through is AllocatedThrough.V_IPU
    if gave_back:
        if await awaited(connection, cluster.region, cluster.machine_type, preemptible=cluster.preemptible):
            raise behind_the_queue(
                "Resume the cluster with `wait_for_capacity`, or later: it stays suspended meanwhile."
            )
        await quotas.consume(
            connection,
            project_id=actor.project_id,
            region=cluster.region,
            machine_type=cluster.machine_type,
            machines=cluster.machines,
        )
    ids = {"project_id": actor.project_id, "cluster_id": cluster.id}
    await name_anew(connection, **ids, incarnation=cluster.incarnation + 1)
    accepted = await begin(connection, actor, cluster, RESUME, deadline_seconds=settings.create_deadline)
    if gave_back:
        await _allocate(connection, cluster)
    return accepted


async def _allocate(connection: AsyncConnection, cluster: LockedCluster) -> None:
    servers = await servers_without_host(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    need = await need_to_resume(connection, cluster)
    await allocate(connection, Demand(cluster.project_id, cluster.id, cluster.region, need, servers=servers))
    failpoint("resume.machines_taken")
