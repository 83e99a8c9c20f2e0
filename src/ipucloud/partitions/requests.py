"""Requests to make, reset or remove a partition: what they write, in the caller's one transaction."""

from __future__ import annotations

from dataclasses import asdict
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import RESIZES, RunningOperation, in_the_way, lock_cluster
from ipucloud.clusters.operations.all import BESIDE_PARTITIONS
from ipucloud.clusters.states import BILLABLE, PARTITIONS
from ipucloud.config import Settings
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import PartitionOf
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.partitions import Origin, PartitionCreate, PartitionReset, PartitionState
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    NAME_TAKEN,
    NO_VIPU,
    PRECONDITION_FAILED,
    STATE_CONFLICT,
    VALIDATION_FAILED,
    Problem,
    not_found,
)
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id, partition_name
from ipucloud.operations.ending import preempt
from ipucloud.operations.step import expected_seconds, plan_of
from ipucloud.operations.store import Accepted, Target, open_operation
from ipucloud.partitions.operations import CREATE, REMOVE, RESET, PartitionKind
from ipucloud.partitions.rules import Hardware, faults
from ipucloud.partitions.states import IN_USE, DesiredState
from ipucloud.reconcile.wake import wake

MAX_OPEN = 32
"""Operations that run on partitions of one cluster at a time: one pass carries all of them out."""


class _Facts(NamedTuple):
    """What a partition depends on: the cluster, its machines, the open operations.

    `next_number` is that of the next partition: the first after those of earlier ones whose name no partition has that
    the customer made at the controller. `own_operation`: the one on the cluster itself, of `own_kind`. `running`: how
    many are on its partitions, and the `oldest` of those.
    """

    external_name: str
    ipus: int
    torus: bool
    looped: bool
    next_number: int
    own_operation: UUID | None
    own_kind: str | None
    running: int
    oldest: UUID | None
    state: ClusterState


_FACTS = Query(
    """
    SELECT c.external_name, c.ipus, bool_and(p.topology = 'torus') AS torus,
           bool_and(p.gateway_topology = 'looped') AS looped,
           coalesce((
             SELECT candidate FROM (
               SELECT coalesce(max(number), 0) AS last, count(*) FILTER (WHERE origin = 'customer') AS others
                 FROM partitions WHERE project_id = c.project_id AND cluster_id = c.id) AS counts
              CROSS JOIN LATERAL generate_series(last + 1, last + 1 + others::integer) AS candidate
              WHERE NOT EXISTS (
                SELECT FROM partitions existing
                 WHERE (existing.project_id, existing.cluster_id) = (c.project_id, c.id)
                   AND existing.external_name = c.external_name || '-' || candidate)
              ORDER BY candidate LIMIT 1), 0) AS next_number,
           o.id AS own_operation, o.kind AS own_kind, others.running, others.oldest, c.state
      FROM clusters c
      LEFT JOIN allocations a ON a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
      LEFT JOIN machines m ON m.id = a.machine_id
      LEFT JOIN pods p ON p.id = m.pod_id
      LEFT JOIN operations o ON o.project_id = c.project_id AND o.cluster_id = c.id AND o.partition_id IS NULL
             AND o.state NOT IN ('cancelled', 'failed', 'succeeded')
     CROSS JOIN LATERAL (
       SELECT count(*) AS running, (array_agg(id ORDER BY created_at, id))[1] AS oldest FROM operations
        WHERE project_id = c.project_id AND cluster_id = c.id AND partition_id IS NOT NULL
          AND state NOT IN ('cancelled', 'failed', 'succeeded')) AS others
     WHERE c.project_id = :project_id AND c.id = :cluster_id
     GROUP BY c.id, o.id, others.running, others.oldest
    """,
    _Facts,
)
_TAKEN = Query(
    """
    SELECT count(*) FROM partitions
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND removed_at IS NULL
       AND :name IN (name, external_name)
    """,
    int,
)
_INSERT = sa.text(
    """
    INSERT INTO partitions (id, project_id, cluster_id, origin, number, name, external_name, desired_state, state,
        requested)
    VALUES (:id, :project_id, :cluster_id, 'api', :number, :name, :external_name, 'present', 'creating',
            CAST(:requested AS jsonb))
    """
)


class _Partition(NamedTuple):
    """A living partition with its open operation."""

    id: UUID
    origin: str
    desired_state: str
    state: str
    version: int
    operation: RunningOperation | None


_FIND = Query(
    """
    SELECT partitions.id, origin, desired_state, partitions.state, version, open.id, open.kind, true AS of_partition
      FROM partitions
      LEFT JOIN LATERAL (
        SELECT id, kind FROM operations o
         WHERE o.project_id = partitions.project_id AND o.partition_id = partitions.id
           AND o.state NOT IN ('cancelled', 'failed', 'succeeded')) AS open ON true
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND removed_at IS NULL
       AND (:ref IN (name, external_name) OR partitions.id::text = :ref)
     ORDER BY name <> :ref, origin = 'customer', created_at LIMIT 1
       FOR NO KEY UPDATE OF partitions
    """,
    _Partition,
)
_DESIRED_STATE = sa.text(
    """
    UPDATE partitions
       SET desired_state = :desired_state, state = :state, state_reason = NULL, state_entered_at = app_now(),
           version = version + 1,
           reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false, reset_relocatable = :relocatable
     WHERE project_id = :project_id AND id = :id
    """
)


async def create(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, body: PartitionCreate, *, settings: Settings
) -> Accepted:
    """Record a partition to make, with its operation, work item and events.

    Raises `Problem`: not_found, no_vipu, state_conflict, validation_failed for what no controller could make of these
    machines, operation_in_progress, name_taken.
    """
    facts = await _in_use(connection, actor, cluster_id)
    hardware = Hardware(facts.ipus, torus=facts.torus, looped=facts.looped)
    shape = body.shape()
    if wrong := faults(shape, hardware):
        raise Problem(VALIDATION_FAILED, "Such a partition cannot be made here.", wrong)
    _may_begin(facts)
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    if await _TAKEN.one(connection, ids | {"name": body.name}):
        raise Problem(
            NAME_TAKEN,
            "Another partition of the cluster has this name. Choose another name, or remove that partition first.",
        )
    partition_id, number = new_id(), facts.next_number
    await connection.execute(
        _INSERT,
        ids
        | {
            "id": partition_id,
            "number": number,
            "name": body.name,
            "external_name": partition_name(facts.external_name, number),
            "requested": orjson.dumps(asdict(shape)).decode(),
        },
    )
    failpoint("partition_request.partition_written")
    return await _begin(connection, actor, cluster_id, partition_id, kind=CREATE, deadline=settings.create_deadline)


async def reset(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    ref: str,
    body: PartitionReset,
    *,
    if_match: int | None,
    settings: Settings,
) -> Accepted:
    """Record that a partition is to be reset: programs that use it lose it.

    Raises `Problem`: not_found, no_vipu, state_conflict, precondition_failed, operation_in_progress.
    """
    facts = await _in_use(connection, actor, cluster_id)
    partition = await _find(connection, actor, cluster_id, ref, if_match)
    _require_ours(partition)
    if partition.operation is not None:
        raise in_the_way(partition.operation.id, "the partition")
    _may_begin(facts)
    if partition.desired_state != DesiredState.UNMANAGED or partition.state == PartitionState.MISSING:
        raise Problem(STATE_CONFLICT, "The partition cannot be reset in its current state. Read it to see why.")
    return await begin_reset(
        connection, actor, cluster_id, partition.id, relocatable=body.relocatable, deadline=settings.create_deadline
    )


async def begin_reset(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    partition_id: UUID,
    *,
    relocatable: bool,
    deadline: float,
) -> Accepted:
    """Record the reset of a partition that nothing is to be done with otherwise; the cluster is locked.

    `deadline` in seconds. Raises sqlalchemy.exc.IntegrityError when the partition has an open operation.
    """
    await _change(
        connection, actor, partition_id, DesiredState.RESET, PartitionState.RESETTING, relocatable=relocatable
    )
    return await _begin(connection, actor, cluster_id, partition_id, kind=RESET, deadline=deadline)


async def remove(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str, *, if_match: int | None, settings: Settings
) -> Accepted:
    """Record the removal of a partition, even in use; a repeated request gets the running removal.

    Raises `Problem`: not_found, no_vipu, state_conflict, precondition_failed, operation_in_progress.
    """
    facts = await _in_use(connection, actor, cluster_id)
    partition = await _find(connection, actor, cluster_id, ref, None)
    running = partition.operation
    if running is not None and running.kind == REMOVE.name:
        await wake(connection, kind=PARTITIONS, key=str(cluster_id), project_id=actor.project_id)
        return Accepted(running.id, partition.id)
    _require_version(partition, if_match)
    _require_ours(partition)
    if running is not None:
        reason = "The partition is being removed; this operation's changes are discarded."
        await preempt(connection, project_id=actor.project_id, operation_id=running.id, reason=reason)
        failpoint("partition_request.preempted")
    else:
        _may_begin(facts)
    await _change(connection, actor, partition.id, DesiredState.ABSENT, PartitionState.REMOVING)
    return await _begin(connection, actor, cluster_id, partition.id, kind=REMOVE, deadline=settings.create_deadline)


async def _in_use(connection: AsyncConnection, actor: Actor, cluster_id: UUID) -> _Facts:
    """The cluster, locked, with what a partition of it depends on."""
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("partition_request.cluster_locked")
    if cluster.allocated_through is not AllocatedThrough.V_IPU:
        raise no_vipu()
    if cluster.state not in IN_USE:
        raise Problem(
            STATE_CONFLICT, "Partitions can be changed only while the cluster is in use. Wait until it is active."
        )
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    return await _FACTS.one(connection, ids)


def no_vipu() -> Problem:
    """409: the IPUs are devices of the server itself."""
    return Problem(
        NO_VIPU, "The cluster's IPUs are devices of its server, which programs attach to without partitions."
    )


async def _find(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str, if_match: int | None
) -> _Partition:
    """The living partition of that name, or with that id, here or at the controller."""
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id, "ref": ref}
    partition = await _FIND.one_or_none(connection, ids)
    if partition is None:
        raise not_found()
    _require_version(partition, if_match)
    return partition


def _require_version(partition: _Partition, if_match: int | None) -> None:
    if if_match is not None and if_match != partition.version:
        raise Problem(
            PRECONDITION_FAILED,
            "The partition has changed since it was read. Read it again, and repeat the request if it still applies.",
            extra={"version": partition.version},
        )


def _require_ours(partition: _Partition) -> None:
    if partition.origin == Origin.CUSTOMER:
        raise Problem(
            STATE_CONFLICT,
            "The partition was made at the controller, not here. Change it there, with `vipu` on a Poplar server.",
        )


def _may_begin(facts: _Facts) -> None:
    """Raise `Problem` operation_in_progress while the cluster is being repaired, or as many operations run as may."""
    waits = facts.own_kind == RESIZES and facts.state in BILLABLE
    if facts.own_operation is not None and not waits and facts.own_kind not in BESIDE_PARTITIONS:
        raise in_the_way(facts.own_operation)
    if facts.oldest is not None and facts.running >= MAX_OPEN:
        raise in_the_way(facts.oldest, f"each of {facts.running} partitions of the cluster, as many as may at a time")


async def _change(
    connection: AsyncConnection,
    actor: Actor,
    partition_id: UUID,
    desired_state: DesiredState,
    state: PartitionState,
    *,
    relocatable: bool = False,
) -> None:
    values = {
        "project_id": actor.project_id,
        "id": partition_id,
        "desired_state": desired_state.value,
        "state": state.value,
    }
    await connection.execute(_DESIRED_STATE, values | {"relocatable": relocatable})
    failpoint("partition_request.desired_state_written")


class _Times(NamedTuple):
    typical_seconds: dict[str, float]


_TIMES = Query(
    """
    SELECT coalesce((SELECT typical_seconds FROM site_regions WHERE region = c.region), '{}') AS typical_seconds
      FROM clusters c WHERE c.project_id = :project_id AND c.id = :cluster_id
    """,
    _Times,
)


async def _begin(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    partition_id: UUID,
    *,
    kind: PartitionKind,
    deadline: float,
) -> Accepted:
    plan = plan_of(kind.steps, {})
    times = await _TIMES.one(connection, {"project_id": actor.project_id, "cluster_id": cluster_id})
    operation_id = await open_operation(
        connection,
        kind,
        actor,
        Target(cluster_id=cluster_id, partition_id=partition_id),
        plan=plan,
        deadline_seconds=deadline,
        expected_seconds=expected_seconds(plan, times.typical_seconds),
    )
    await record(
        connection,
        REGISTRY[f"partition.{kind.during}"],
        project_id=actor.project_id,
        subject_id=partition_id,
        operation_id=operation_id,
        request_id=actor.request_id,
        data=PartitionOf(cluster=cluster_id),
    )
    return Accepted(operation_id, partition_id)
