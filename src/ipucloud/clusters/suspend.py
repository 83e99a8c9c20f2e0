"""Suspending a cluster: its machines go back, its servers stay on their hosts, and it costs no more."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.usage import close_interval
from ipucloud.clusters.begin import Accepted, asked_before, begin
from ipucloud.clusters.locked import lock_cluster
from ipucloud.clusters.plans import SUSPEND, SUSPEND_PLAN
from ipucloud.clusters.states import BILLABLE, ClusterState
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.failpoints import failpoint


async def suspend(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, if_match: int | None, settings: Settings
) -> Accepted:
    """Record that the cluster is to rest: billing ends, a suspend operation opens. Six statements.

    Asked again while it runs, it answers with that operation, whatever `if_match` says, as a delete does.

    Raises `Problem`: not_found, precondition_failed, operation_in_progress, state_conflict for a cluster that is not
    in use, or suspended already.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("suspend.cluster_locked")
    running = await asked_before(connection, actor, cluster, kind=SUSPEND, if_match=if_match)
    if running is not None:
        return running
    if cluster.state is ClusterState.SUSPENDED:
        raise Problem(STATE_CONFLICT, "The cluster is suspended already; there is nothing left to do.")
    if cluster.state not in BILLABLE:
        raise Problem(STATE_CONFLICT, f"A cluster can be suspended while it is in use; this one is {cluster.state}.")
    accepted = await begin(
        connection,
        actor,
        cluster,
        kind=SUSPEND,
        plan=SUSPEND_PLAN,
        state=ClusterState.SUSPENDING,
        settings=settings,
    )
    await close_interval(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("suspend.interval_closed")
    return accepted
