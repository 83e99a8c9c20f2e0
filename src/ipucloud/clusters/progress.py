"""What a look at a cluster writes: steps, operation, cluster state, machines, billing. All inside one transaction.

Every statement here runs under the engine's fence: a stale look is rolled back as a whole.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.models import AllocatedThrough
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locked import lock_quota
from ipucloud.clusters.results import ServerObservation
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES, PARTITIONS, ClusterState
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.operations.plan import PlannedStep
from ipucloud.operations.states import OperationState
from ipucloud.reconcile.wake import wake

_LOCK = sa.text(
    """
    SELECT o.id FROM clusters c JOIN operations o ON o.cluster_id = c.id
     WHERE c.id = :cluster_id AND o.id = :operation_id AND o.finished_at IS NULL
       AND (o.state = 'cancelling') = :cancelling
       FOR NO KEY UPDATE
    """
)


async def lock_operation(connection: AsyncConnection, cluster: ClusterInputs) -> bool:
    """Hold the cluster and its operation for this transaction.

    False when the operation has ended or was asked to be cancelled since its inputs were read. Whoever was told that
    an operation will be cancelled must not find it succeeded: the last step, too, gives way.

    The last step may give machines back, and so holds the quota first: quota comes before cluster in the lock order.
    """
    if cluster.step.last:
        await lock_quota(connection, project_id=cluster.project_id, cluster_id=cluster.id)
        failpoint("cluster.quota_locked")
    found = await connection.execute(
        _LOCK,
        {
            "cluster_id": cluster.id,
            "operation_id": cluster.operation_id,
            "cancelling": cluster.operation_state == OperationState.CANCELLING,
        },
    )
    failpoint("cluster.operation_locked")
    return found.one_or_none() is not None


_STEP = sa.text(
    """
    UPDATE operation_steps
       SET state = :state, detail = :detail, attempts = attempts + :failures,
           started_at = coalesce(started_at, app_now()),
           finished_at = CASE WHEN :state IN ('succeeded', 'failed') THEN app_now() END
     WHERE project_id = :project_id AND operation_id = :operation_id AND ordinal = :ordinal
    """
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("detail", type_=sa.Text))

_OPERATION = sa.text(
    """
    UPDATE operations o
       SET state = CASE WHEN o.state = 'queued' THEN 'running' ELSE o.state END,
           started_at = coalesce(o.started_at, app_now()), version = o.version + 1,
           stage = coalesce(following.stage, o.stage),
           progress = CASE WHEN o.undoing THEN o.progress ELSE following.progress END
      FROM (SELECT (array_agg(stage ORDER BY ordinal) FILTER (WHERE state IN ('pending', 'running')))[1] AS stage,
                   (100 * count(*) FILTER (WHERE state = 'succeeded')
                    / count(*) FILTER (WHERE state <> 'skipped'))::smallint AS progress
              FROM operation_steps WHERE project_id = :project_id AND operation_id = :operation_id) AS following
     WHERE o.project_id = :project_id AND o.id = :operation_id
    """
)

_TOUCH = sa.text(
    """
    UPDATE clusters SET version = version + 1, blocked_by = :blocked_by WHERE id = :cluster_id
    """
).bindparams(sa.bindparam("blocked_by", type_=sa.Text))


async def record_step(
    connection: AsyncConnection, cluster: ClusterInputs, state: str, *, detail: str | None = None, failed: bool = False
) -> None:
    """Write where the current step is, and move the operation's stage and progress along with it."""
    mine = {"project_id": cluster.project_id, "operation_id": cluster.operation_id}
    await connection.execute(
        _STEP, mine | {"ordinal": cluster.step.ordinal, "state": state, "detail": detail, "failures": int(failed)}
    )
    failpoint("cluster.step_recorded")
    await connection.execute(_OPERATION, mine)
    failpoint("cluster.operation_moved")
    await connection.execute(_TOUCH, {"cluster_id": cluster.id, "blocked_by": detail if failed else None})


# Why a cluster is suspended was said when that began.
_ENTER = sa.text(
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
    INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, data)
    VALUES (:project_id, 'cluster.' || :state, 'cluster', :cluster_id, :operation_id,
            jsonb_build_object('reason', CAST(:reason AS text)))
    """
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("reason", type_=sa.Text))


# The partition that was made with the cluster; what it is like, the first look at the controller says.
_DEFAULT_PARTITION = sa.text(
    """
    INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, wish, state)
    SELECT :id, project_id, id, 'cluster', external_name, external_name, 'kept', 'active'
      FROM clusters WHERE id = :cluster_id
    ON CONFLICT (cluster_id, external_name) DO NOTHING
    """
)


async def enter_state(
    connection: AsyncConnection, cluster: ClusterInputs, state: ClusterState, *, reason: str | None = None
) -> None:
    """Move the cluster, with its event. Raises IllegalTransition for a move the table does not have."""
    CLUSTER_STATES.require(ClusterState(cluster.state), state)
    await connection.execute(
        _ENTER,
        {
            "cluster_id": cluster.id,
            "project_id": cluster.project_id,
            "operation_id": cluster.operation_id,
            "state": state.value,
            "reason": reason,
        },
    )
    failpoint("cluster.state_entered")
    if state in BILLABLE and cluster.allocated_through is AllocatedThrough.V_IPU:
        await connection.execute(_DEFAULT_PARTITION, {"id": new_id(), "cluster_id": cluster.id})
        await wake(connection, kind=PARTITIONS, key=str(cluster.id), project_id=cluster.project_id)
        failpoint("cluster.partition_recorded")


_SERVER = sa.text(
    """
    UPDATE poplar_servers
       SET state = 'running', ssh_host = :host, ssh_port = :port, ssh_user = :user, host_key = :host_key,
           host_key_fingerprint = :fingerprint
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ordinal = :ordinal
    """
)


async def record_servers(
    connection: AsyncConnection, cluster: ClusterInputs, servers: tuple[ServerObservation, ...]
) -> None:
    rows = [
        {"project_id": cluster.project_id, "cluster_id": cluster.id, "ordinal": server.ordinal}
        | server.ssh.model_dump()
        for server in servers
    ]
    if rows:
        await connection.execute(_SERVER, rows)
        failpoint("cluster.servers_recorded")


_UNDO = sa.text(
    """
    WITH operation AS (
      UPDATE operations SET undoing = true, error = CAST(:error AS jsonb), version = version + 1
       WHERE project_id = :project_id AND id = :operation_id
    ), skipped AS (
      UPDATE operation_steps SET state = 'skipped'
       WHERE project_id = :project_id AND operation_id = :operation_id AND state = 'pending'
    )
    INSERT INTO operation_steps (operation_id, ordinal, project_id, name, stage, state, detail)
    SELECT :operation_id, 100 + step.ordinal, :project_id, step.name, step.stage,
           CASE WHEN step.skipped IS NULL THEN 'pending' ELSE 'skipped' END, step.skipped
      FROM unnest(CAST(:names AS text[]), CAST(:stages AS text[]), CAST(:skipped AS text[]))
           WITH ORDINALITY AS step (name, stage, skipped, ordinal)
    """
)


async def append_undo(
    connection: AsyncConnection, cluster: ClusterInputs, plan: tuple[PlannedStep, ...], error: str | None
) -> None:
    """Replace what is left of the plan by the clean-up; `error` is the problem document the operation ends with."""
    await connection.execute(
        _UNDO,
        {
            "project_id": cluster.project_id,
            "operation_id": cluster.operation_id,
            "names": [step.name for step in plan],
            "stages": [str(step.stage) for step in plan],
            "skipped": [step.skipped for step in plan],
            "error": error,
        },
    )
    failpoint("cluster.undo_appended")


_SWITCH_OFF = sa.text(
    """
    UPDATE poplar_servers SET state = 'off'
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state = 'running'
    """
)


async def record_switched_off(connection: AsyncConnection, cluster: ClusterInputs) -> None:
    """The servers are off; where they are, and the keys that they show, stay as they were."""
    await connection.execute(_SWITCH_OFF, {"project_id": cluster.project_id, "cluster_id": cluster.id})
    failpoint("cluster.servers_switched_off")


_FORGET_SERVERS = sa.text(
    """
    UPDATE poplar_servers
       SET state = 'deleted', ssh_host = NULL, ssh_port = NULL, ssh_user = NULL, host_key = NULL,
           host_key_fingerprint = NULL
     WHERE project_id = :project_id AND cluster_id = :cluster_id
    """
)
# A server with IPUs of its own is the host of what is suspended: it is not given back.
_RELEASE = sa.text(
    """
    WITH partitions AS (
      UPDATE partitions
         SET wish = CASE origin WHEN 'customer' THEN wish ELSE 'gone' END, state = 'removed', removed_at = app_now(),
             state_reason = 'the cluster was taken down', state_entered_at = app_now(), version = version + 1
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND removed_at IS NULL
      RETURNING id, origin
    ), told AS (
      INSERT INTO events (project_id, type, subject_type, subject_id, operation_id, data)
      SELECT :project_id, 'partition.removed', 'partition', id, :operation_id,
             jsonb_build_object('cluster', CAST(:cluster_id AS uuid))
        FROM partitions WHERE origin <> 'customer'
    )
    UPDATE allocations SET released_at = app_now()
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NULL
       AND (NOT :suspends OR (machine_id IS NOT NULL AND :through_vipu))
    """
)
_FREE = sa.text(
    """
    WITH freed AS (
      UPDATE allocations SET freed_at = app_now()
       WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL AND released_at IS NOT NULL
      RETURNING machine_id
    )
    UPDATE quotas q SET used = q.used - freed.machines
      FROM (SELECT count(machine_id) AS machines FROM freed) AS freed, clusters c
     WHERE c.id = :cluster_id AND q.project_id = c.project_id AND q.region = c.region
       AND q.machine_type = c.machine_type
    """
)


async def release_machines(connection: AsyncConnection, cluster: ClusterInputs) -> None:
    """The customer is gone from the machines, but for servers that rest; nobody else may have them yet."""
    mine = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    if not cluster.suspends:
        await connection.execute(_FORGET_SERVERS, mine)
    through_vipu = cluster.allocated_through is AllocatedThrough.V_IPU
    named = {"operation_id": cluster.operation_id, "suspends": cluster.suspends, "through_vipu": through_vipu}
    await connection.execute(_RELEASE, mine | named)
    failpoint("cluster.machines_released")


async def free_machines(connection: AsyncConnection, cluster: ClusterInputs) -> None:
    """The released machines were seen clean: back to the pool, and their number back to the quota."""
    await connection.execute(_FREE, {"project_id": cluster.project_id, "cluster_id": cluster.id})
    failpoint("cluster.machines_freed")
