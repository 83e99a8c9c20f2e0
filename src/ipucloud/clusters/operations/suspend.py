"""Suspending a cluster: its machines are released, its servers stay on their hosts, and it costs nothing."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import step_objects
from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.operations.begin import begin, repeated
from ipucloud.clusters.operations.effects import (
    forget_endpoint,
    free_machines,
    record_switched_off,
    release_machines_of_suspended,
)
from ipucloud.clusters.operations.kind import VIPU, VIPU_USERS, WORK_KIND, ClusterKind, ClusterStep
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.steps import teardown
from ipucloud.clusters.steps.poplar_servers import switch_off_poplar_servers
from ipucloud.clusters.steps.vipu_user import remove_vipu_user
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import Billing, Repeated
from ipucloud.operations.step import Stage
from ipucloud.operations.store import Accepted

_STAGE = Stage("CLUSTER_SUSPEND", 60)

_step = partial(ClusterStep, stage=_STAGE, endures=True, removes=True)
SUSPENSION: tuple[ClusterStep, ...] = (
    _step(
        name="switch_off_poplar_servers",
        act=switch_off_poplar_servers,
        asks=step_objects.hosts,
        on_success=record_switched_off,
    ),
    _step(name="remove_partitions", act=teardown.remove_partitions, requires=VIPU),
    _step(name="remove_vipu_user", act=remove_vipu_user, requires=VIPU_USERS),
    _step(name="remove_allocation", act=teardown.remove_allocation, requires=VIPU, on_success=forget_endpoint),
    _step(name="detach_network", act=teardown.detach_network, asks=step_objects.network),
    _step(
        name="power_off_machines",
        act=teardown.power_off_machines,
        asks=step_objects.machines,
        on_success=release_machines_of_suspended,
    ),
    _step(name="verify_suspended", act=teardown.verify_suspended, on_success=free_machines),
)
"""The steps after which a cluster has only its servers, switched off."""

SUSPEND = ClusterKind(
    name="cluster.suspend",
    work_kind=WORK_KIND,
    steps=SUSPENSION,
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    during=ClusterState.SUSPENDING,
    success=ClusterState.SUSPENDED,
    undo=None,
    cancellable=False,
    repeated=Repeated.JOINS,
    billing=Billing.ENDS,
    deadline=None,
    preceding=(),
    replacing=(),
    ends_waits=True,
    failure=None,
)


async def suspend(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, if_match: int | None, settings: Settings
) -> Accepted:
    """Record the suspension: billing ends, a suspend operation opens. Seven statements.

    Raises `Problem`: not_found, precondition_failed, operation_in_progress, state_conflict for a cluster that is not in
    use or already suspended.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("suspend.cluster_locked")
    running = await repeated(connection, actor, cluster, SUSPEND, if_match=if_match)
    if running is not None:
        return running
    if cluster.state is ClusterState.SUSPENDED:
        raise Problem(STATE_CONFLICT, "The cluster is already suspended; nothing is left to do.")
    if cluster.state not in SUSPEND.begins_in:
        raise Problem(STATE_CONFLICT, f"Only a cluster in use can be suspended; this one is {cluster.state}.")
    return await begin(connection, actor, cluster, SUSPEND, deadline_seconds=settings.create_deadline)
