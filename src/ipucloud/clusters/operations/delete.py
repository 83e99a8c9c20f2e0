"""Deleting a cluster: accepted in every state, at any time, in the caller's one transaction."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import step_objects
from ipucloud.clusters.locks import lock_cluster, running_operation
from ipucloud.clusters.operations.begin import begin, still_running
from ipucloud.clusters.operations.effects import forget_endpoint, free_machines, record_leftovers, release_machines
from ipucloud.clusters.operations.kind import VIPU, VIPU_USERS, WORK_KIND, ClusterKind, ClusterStep
from ipucloud.clusters.states import CLUSTER_STATES
from ipucloud.clusters.steps import teardown
from ipucloud.clusters.steps.poplar_servers import wipe_poplar_servers
from ipucloud.clusters.steps.vipu_user import remove_vipu_user
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import DELETE_PROTECTED, Problem, not_found
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.ending import preempt_all
from ipucloud.operations.kind import Billing, Repeated
from ipucloud.operations.step import Stage
from ipucloud.operations.store import Accepted

CLEAN_UP = Stage("CLUSTER_CLEAN_UP", 300)

_step = partial(ClusterStep, stage=CLEAN_UP, endures=True, removes=True)
TEARDOWN: tuple[ClusterStep, ...] = (
    _step(name="wipe_poplar_servers", act=wipe_poplar_servers, asks=step_objects.hosts, on_success=record_leftovers),
    _step(name="remove_partitions", act=teardown.remove_partitions, requires=VIPU),
    _step(name="remove_vipu_user", act=remove_vipu_user, requires=VIPU_USERS),
    _step(name="remove_allocation", act=teardown.remove_allocation, requires=VIPU, on_success=forget_endpoint),
    _step(name="detach_network", act=teardown.detach_network, asks=step_objects.network),
    _step(
        name="power_off_machines",
        act=teardown.power_off_machines,
        asks=step_objects.machines,
        on_success=release_machines,
    ),
    _step(name="verify_clean", act=teardown.verify_clean, on_success=free_machines),
)
"""The steps that remove a cluster for good, in any state of construction."""

DELETE = ClusterKind(
    name="cluster.delete",
    work_kind=WORK_KIND,
    steps=TEARDOWN,
    states=CLUSTER_STATES,
    begins_in=frozenset(ClusterState) - {ClusterState.DELETING, ClusterState.DELETED},
    during=ClusterState.DELETING,
    success=ClusterState.DELETED,
    undo=None,
    cancellable=False,
    repeated=Repeated.JOINS,
    billing=Billing.ENDS,
    deadline=None,
    preceding=(),
    replacing=(),
    failure=None,
)


async def delete(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, if_match: int | None, settings: Settings
) -> Accepted:
    """Record the deletion: billing ends, running operations end as `preempted`, a delete operation opens.

    Seven statements. A cluster in `error`, whose resources may already be gone, is deleted in the same way: each step
    succeeds when its object does not exist. A repeated request gets the running delete operation whatever `if_match`
    says, so that a client that lost the answer can repeat it (RFC 9110, 13.1.1); a parked clean-up is woken. A deleted
    cluster can still be read, but not deleted: not_found, which clients treat as done.

    Raises `Problem`: not_found, precondition_failed, delete_protected.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("delete.cluster_locked")
    if cluster.state is ClusterState.DELETED:
        raise not_found()
    if cluster.state is ClusterState.DELETING:
        running = await running_operation(connection, actor, cluster)
        if running is not None:
            return await still_running(connection, actor, cluster, running.id)
    cluster.require_version(if_match)
    if cluster.delete_protection:
        raise Problem(
            DELETE_PROTECTED, "The cluster is protected. Set `delete_protection` to false first, then delete it."
        )
    reason = "The cluster is being deleted; what this operation built is removed with it."
    await preempt_all(connection, project_id=actor.project_id, cluster_id=cluster_id, reason=reason)
    failpoint("delete.preempted")
    return await begin(connection, actor, cluster, DELETE, deadline_seconds=settings.create_deadline)
