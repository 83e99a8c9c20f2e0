"""Exchanging the SSH keys of a cluster in use. Sessions that are open, programs and partitions go on."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import step_objects
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locks import LockedCluster, in_the_way, running_operation, wait_in_the_way
from ipucloud.clusters.operations.begin import begin
from ipucloud.clusters.operations.effects import record_seen_keys
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.ssh_keys import choose_keys, present_keys, replace_keys
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.steps.poplar_servers import KeysAnswer, exchange_keys
from ipucloud.contract.clusters import ClusterState
from ipucloud.identity.ssh_authorities import ensure
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.sealing import Keys
from ipucloud.operations.kind import Billing, Repeated
from ipucloud.operations.results import Achieved
from ipucloud.operations.step import Stage

DEADLINE = 900.0
"""Seconds after which servers that cannot be given the keys fail the operation."""


async def _record(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    if not isinstance(achieved, KeysAnswer):
        raise TypeError("keys are recorded from the answers of the hosts")
    await record_seen_keys(connection, cluster, achieved.ordinals)
    failpoint("cluster.keys_recorded")


UPDATE_KEYS = ClusterKind(
    name="cluster.update-keys",
    work_kind=WORK_KIND,
    steps=(
        ClusterStep(
            name="exchange_ssh_keys",
            stage=Stage("SSH_KEYS", 5),
            act=exchange_keys,
            asks=step_objects.hosts,
            on_success=_record,
        ),
    ),
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    during=None,
    success=None,
    undo=None,
    cancellable=False,
    repeated=Repeated.REFUSED,
    billing=Billing.UNCHANGED,
    deadline=DEADLINE,
    preceding=(),
    replacing=(),
    beside_partitions=True,
    failure=fails_with(
        "Some Poplar servers may still accept the keys from before; `ssh_keys` of each server says what was seen.",
        "Change the keys again to the same ones",
    ),
)
"""A change of mind is another change: a key may be removed because it was lost, so nothing brings one back."""


async def change_keys(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    refs: Sequence[str],
    *,
    sealing: Keys | None = None,
) -> bool:
    """Record the keys that may log in; whether they differ from before. If the cluster is in use, an operation brings
    them to its servers, unless they have them. A suspended one gets them when it is resumed.

    Its servers trust the project's SSH authority from then on, also if they have the keys; `sealing` encrypts that of a
    project that has none.

    Raises `Problem`: validation_failed, operation_in_progress, state_conflict.
    """
    ids = {"project_id": actor.project_id, "cluster_id": cluster.id}
    present = await present_keys(connection, **ids)
    keys, faults = await choose_keys(connection, refs, project_id=actor.project_id, present=present.by_name)
    if faults:
        raise Problem(VALIDATION_FAILED, "The keys stay as they are.", faults)
    in_use, changed = cluster.state in UPDATE_KEYS.begins_in, keys != present.by_name
    authority = present.current_authority or await ensure(connection, actor.project_id, sealing)
    trusts = present.authority == authority
    if not changed and trusts and (present.observed or not in_use):
        return False
    running = await running_operation(connection, actor, cluster, beside_partitions=True)
    if running is not None:
        if running.kind == UPDATE_KEYS.name and not changed:
            return False
        raise wait_in_the_way(running.id) if running.waits_to_resize(cluster) else in_the_way(running.id)
    if not in_use and cluster.state is not ClusterState.SUSPENDED:
        raise Problem(
            STATE_CONFLICT, f"Keys are changed while a cluster is in use or suspended; this one is {cluster.state}."
        )
    if changed or not trusts:
        await replace_keys(connection, keys, **ids)
    if in_use:
        await begin(connection, actor, cluster, UPDATE_KEYS, deadline_seconds=DEADLINE)
    return changed
