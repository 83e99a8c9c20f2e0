"""What operations write about a cluster: its state, servers and machines. All inside one transaction.

Every statement here runs under the engine's fence: a stale reconcile pass is rolled back as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import allowed_sources, s3_access
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locks import lock_quota
from ipucloud.clusters.metrics import ISOLATED, count
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES, PARTITIONS
from ipucloud.clusters.steps.build import AllocationAnswer
from ipucloud.clusters.steps.cleaning import Cleaned
from ipucloud.clusters.steps.poplar_servers import ServersAnswer
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import HardwareFailed
from ipucloud.contract.event_types.clusters import CLUSTER_HARDWARE_ISOLATED
from ipucloud.contract.operations import OperationState
from ipucloud.db.documents import clauses
from ipucloud.events.log import RECORD, record
from ipucloud.identity.token_ends import end_with_clusters
from ipucloud.inventory.cleanings import record_cleanings
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.release import free, release
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.operations.results import Achieved
from ipucloud.quotas import store as quotas
from ipucloud.reconcile.wake import wake

log = structlog.get_logger(__name__)

_LOCK = sa.text(
    """
    SELECT o.id FROM clusters c JOIN operations o ON o.cluster_id = c.id
     WHERE c.id = :cluster_id AND o.id = :operation_id AND o.finished_at IS NULL
       AND (o.state = 'cancelling') = :cancelling
       FOR NO KEY UPDATE
    """
)


async def lock_operation(connection: AsyncConnection, cluster: ClusterInputs) -> bool:
    """Lock the cluster and its operation for this transaction.

    False when the operation has ended or is to be cancelled since its inputs were read. An operation that was reported
    as being cancelled must not succeed: even the last step is dropped.

    The last step may give machines back, and so locks the quota first: quota precedes cluster in the lock order.
    """
    if cluster.operation.step.last:
        await lock_quota(connection, project_id=cluster.project_id, cluster_id=cluster.id)
        failpoint("cluster.quota_locked")
    result = await connection.execute(
        _LOCK,
        {
            "cluster_id": cluster.id,
            "operation_id": cluster.operation.id,
            "cancelling": cluster.operation.state is OperationState.CANCELLING,
        },
    )
    failpoint("cluster.operation_locked")
    return result.one_or_none() is not None


_TOUCH = sa.text(
    """
    UPDATE clusters SET version = version + 1, blocked_by = :blocked_by WHERE id = :cluster_id
    """
).bindparams(sa.bindparam("blocked_by", type_=sa.Text))


async def show_progress(connection: AsyncConnection, cluster: ClusterInputs, blocked_by: str | None) -> None:
    """Give the cluster a new version, and what it waits for if that is shown."""
    await connection.execute(_TOUCH, {"cluster_id": cluster.id, "blocked_by": blocked_by})


# The reason for a suspension was recorded when it began.
_ENTER = sa.text(
    clauses(
        """
    WITH entered AS (
      UPDATE clusters
         SET state = :state, state_entered_at = app_now(), state_sla_seconds = NULL, blocked_by = NULL,
             state_reason = CASE WHEN :state = 'suspended' THEN coalesce(:reason, state_reason) ELSE :reason END,
             version = version + 1,
             ready_at = CASE WHEN :state = 'active' THEN coalesce(ready_at, app_now()) ELSE ready_at END,
             deleted_at = CASE WHEN :state = 'deleted' THEN app_now() END
       WHERE id = :cluster_id
    )
        """,
        RECORD,
        """
    VALUES (:project_id, 'cluster.' || :state, 'cluster', :cluster_id, :operation_id, NULL,
            jsonb_build_object('reason', CAST(:reason AS text)))
        """,
    )
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("reason", type_=sa.Text))


_RECORD_PARTITION = sa.text("SELECT record_first_partition(:id, :cluster_id)")


async def enter_state(
    connection: AsyncConnection, cluster: ClusterInputs, state: ClusterState, *, reason: str | None = None
) -> None:
    """Move the cluster and record the event. Raises IllegalTransition for a move the table does not have."""
    CLUSTER_STATES.require(ClusterState(cluster.state), state)
    await connection.execute(
        _ENTER,
        {
            "cluster_id": cluster.id,
            "project_id": cluster.project_id,
            "operation_id": cluster.operation.id,
            "state": state.value,
            "reason": reason,
        },
    )
    if state is ClusterState.DELETED:
        await end_with_clusters(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    failpoint("cluster.state_entered")
    if state in BILLABLE and cluster.allocated_through is AllocatedThrough.V_IPU:
        if cluster.kept_partitions is None:
            await connection.execute(_RECORD_PARTITION, {"id": new_id(), "cluster_id": cluster.id})
        await wake(connection, kind=PARTITIONS, key=str(cluster.id), project_id=cluster.project_id)
        failpoint("cluster.partition_recorded")


_ENDPOINT = sa.text(
    """
    UPDATE clusters SET endpoint_host = :host, endpoint_port = :port
     WHERE project_id = :project_id AND id = :cluster_id
    """
).bindparams(sa.bindparam("host", type_=sa.Text), sa.bindparam("port", type_=sa.Integer))


async def record_endpoint(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """Record where the customer calls the V-IPU controller."""
    if not isinstance(achieved, AllocationAnswer):
        raise TypeError("an endpoint is recorded from the answer about its allocation")
    await _set_endpoint(connection, cluster, achieved.endpoint.host, achieved.endpoint.port)


async def forget_endpoint(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    """It went with its allocation."""
    await _set_endpoint(connection, cluster, None, None)


async def _set_endpoint(
    connection: AsyncConnection, cluster: ClusterInputs, host: str | None, port: int | None
) -> None:
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    await connection.execute(_ENDPOINT, ids | {"host": host, "port": port})
    failpoint("cluster.endpoint_recorded")


_SERVER = sa.text(
    """
    UPDATE poplar_servers
       SET state = 'running', ssh_host = :host, ssh_port = :port, ssh_user = :user, host_key = :host_key,
           host_key_fingerprint = :fingerprint
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ordinal = :ordinal
    """
)
_FAILED_SERVERS = sa.text(
    """
    UPDATE poplar_servers SET state = 'running'
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ordinal = ANY (CAST(:ordinals AS integer[]))
    """
)
_SEEN_KEYS = sa.text(
    """
    UPDATE poplar_servers s
       SET ssh_keys = c.ssh_keys, ssh_authority = c.ssh_authority,
           ssh_keys_since = CASE WHEN s.ssh_keys = c.ssh_keys THEN s.ssh_keys_since ELSE app_now() END
      FROM clusters c
     WHERE c.project_id = :project_id AND c.id = :cluster_id
       AND s.project_id = c.project_id AND s.cluster_id = c.id AND s.ordinal = ANY (CAST(:ordinals AS integer[]))
    """
)


async def record_servers(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """Record how to log in to the observed servers."""
    if not isinstance(achieved, ServersAnswer):
        raise TypeError("servers are recorded from their answers")
    rows = [
        {"project_id": cluster.project_id, "cluster_id": cluster.id, "ordinal": server.ordinal}
        | server.ssh.model_dump()
        for server in achieved.servers
    ]
    if rows:
        await connection.execute(_SERVER, rows)
    if achieved.failed:  # as in a cluster in use whose host fails: observation reports what is wrong with them
        ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
        await connection.execute(_FAILED_SERVERS, ids | {"ordinals": [*achieved.failed]})
    ordinals = [server.ordinal for server in achieved.servers if server.keys == cluster.authorized_keys]
    await record_seen_keys(connection, cluster, ordinals)
    started = [server.ordinal for server in achieved.servers]
    await s3_access.renew(connection, project_id=cluster.project_id, cluster_id=cluster.id, ordinals=started)
    await allowed_sources.renew(connection, project_id=cluster.project_id, cluster_id=cluster.id, ordinals=started)
    await ADDRESSES.renew(connection, project_id=cluster.project_id, cluster_id=cluster.id, ordinals=started)
    await VOLUMES.renew(connection, project_id=cluster.project_id, cluster_id=cluster.id, ordinals=started)
    failpoint("cluster.servers_recorded")


async def record_seen_keys(connection: AsyncConnection, cluster: ClusterInputs, ordinals: Sequence[int]) -> None:
    """Record that the servers of these numbers were seen to accept exactly the cluster's keys."""
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    await connection.execute(_SEEN_KEYS, ids | {"ordinals": [*ordinals]})


_SWITCH_OFF = sa.text(
    """
    UPDATE poplar_servers SET state = 'off'
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state = 'running'
       AND ordinal <> ALL (CAST(:unbuilt AS integer[]))
    """
)


async def record_switched_off(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """The servers are off; their hosts and host keys stay. Those that are to be built again are forgotten."""
    await record_leftovers(connection, cluster, achieved)
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    unbuilt = [host.ordinal for host in cluster.hosts if host.unbuilt]
    await connection.execute(_SWITCH_OFF, ids | {"unbuilt": unbuilt})
    await connection.execute(_FORGET_SERVERS, ids | {"state": "pending", "ordinals": unbuilt})
    failpoint("cluster.servers_switched_off")


_FORGET_SERVERS = sa.text(
    """
    UPDATE poplar_servers
       SET state = :state, ssh_host = NULL, ssh_port = NULL, ssh_user = NULL, host_key = NULL,
           host_key_fingerprint = NULL, boot_before = NULL, ssh_keys = NULL, ssh_keys_since = NULL,
           ssh_authority = NULL
     WHERE project_id = :project_id AND cluster_id = :cluster_id
       AND ordinal = ANY (coalesce(CAST(:ordinals AS integer[]), ARRAY[ordinal]))
    """
).bindparams(sa.bindparam("state", type_=sa.Text))
_REMOVE_PARTITIONS = sa.text("SELECT remove_partitions(:project_id, :cluster_id, :operation_id)")


async def record_leftovers(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """Keep what the step left from every other cluster until it was observed clean."""
    if not isinstance(achieved, Cleaned) or not achieved.leftovers:
        return
    ids = cluster.hardware_ids
    for leftover in achieved.leftovers:
        await report(
            connection,
            kind=leftover.kind,
            object_id=ids[leftover.name],
            source=Source.OPERATION,
            code=Code.NOT_CLEAN,
            detail=f"{leftover.why}; {cluster.external_name} was cleaned up without it",
            cluster_id=cluster.id,
        )
        count(connection, ISOLATED.labels(leftover.kind))
        log.warning("hardware_isolated", kind=leftover.kind, name=leftover.name, why=leftover.why)
    await record(
        connection,
        CLUSTER_HARDWARE_ISOLATED,
        project_id=cluster.project_id,
        subject_id=cluster.id,
        operation_id=cluster.operation.id,
        data=HardwareFailed(
            machines=[each.name for each in achieved.leftovers if each.kind == "machine"],
            hosts=[each.name for each in achieved.leftovers if each.kind == "host"],
            reason="; ".join(each.why for each in achieved.leftovers),
        ),
    )
    failpoint("cluster.hardware_isolated")


_NAME_ANEW = sa.text(
    """
    UPDATE clusters SET incarnation = :incarnation, external_name = :external_name
      FROM rename_partitions(:project_id, :cluster_id, :external_name)
     WHERE project_id = :project_id AND id = :cluster_id
    """
)


async def name_anew(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, incarnation: int) -> str:
    """Give the cluster its next external name, and return it. Nothing may be left under the current one."""
    name = external_name(cluster_id, incarnation)
    values = {"project_id": project_id, "cluster_id": cluster_id, "incarnation": incarnation, "external_name": name}
    await connection.execute(_NAME_ANEW, values)
    failpoint("cluster.named_anew")
    return name


async def release_machines(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """The customer has left the machines; they are not yet free for others."""
    await record_leftovers(connection, cluster, achieved)
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    await connection.execute(_FORGET_SERVERS, ids | {"state": "deleted", "ordinals": None})
    await _release(connection, cluster, hosts=None)


async def release_machines_of_suspended(
    connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved
) -> None:
    """The same, except for the servers on their hosts, which a suspended cluster keeps."""
    await record_leftovers(connection, cluster, achieved)
    await _release(connection, cluster, hosts=[UUID(host.id) for host in cluster.hosts if host.unbuilt])


async def _release(connection: AsyncConnection, cluster: ClusterInputs, *, hosts: Sequence[UUID] | None) -> None:
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    if cluster.kept_partitions is None or cluster.operation.undoing:
        await connection.execute(_REMOVE_PARTITIONS, ids | {"operation_id": cluster.operation.id})
    # A server with IPUs of its own is the suspended cluster's host: it is not given back.
    if hosts is None or cluster.allocated_through is AllocatedThrough.V_IPU:
        await release(connection, project_id=cluster.project_id, cluster_id=cluster.id, hosts=hosts)
    failpoint("cluster.machines_released")


async def record_observed_clean(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """Keep what the last observation of a clean-up showed, of what it cleaned and of what it left."""
    await record_leftovers(connection, cluster, achieved)
    if not isinstance(achieved, Cleaned):
        raise TypeError("a clean-up ends with an observation")
    await record_cleanings(
        connection,
        project_id=cluster.project_id,
        cluster_id=cluster.id,
        external_name=cluster.external_name,
        observed={UUID(each): seen for each, seen in achieved.observed.items()},
    )
    failpoint("cluster.cleaning_recorded")


async def free_machines(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """Return the released machines to the pool, and their number to the quota.

    They were observed clean, except for those that reports keep out of the pool.
    """
    await record_observed_clean(connection, cluster, achieved)
    machines = await free(connection, project_id=cluster.project_id, cluster_id=cluster.id, validated=cluster.validated)
    await quotas.give_back(
        connection,
        project_id=cluster.project_id,
        region=cluster.region,
        machine_type=cluster.machine_type,
        machines=machines,
    )
    failpoint("cluster.machines_freed")
