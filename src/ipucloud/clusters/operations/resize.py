"""Resizing a cluster in use: taken down, and set up again with more or fewer machines, under its next external name.

Its Poplar servers keep hosts, disks, addresses and host keys, and partitions that fit are made again. The cluster holds
the machines of both sizes until it is in use again, so a resize that fails or is cancelled sets the former size up
again; the cluster is suspended only when that fails too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.admission import Terms, check_cost_limit, hold_first_hour, refuse_by_terms, terms_of
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locks import (
    RESIZES,
    LockedCluster,
    in_the_way,
    lock_cluster,
    lock_quota,
    partition_operation,
)
from ipucloud.clusters.operations.begin import begin, end_billing, repeated, transition
from ipucloud.clusters.operations.effects import name_anew, record_leftovers, record_observed_clean
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.operations.replacing import (
    exchange_by,
    exchanging,
    goes_without,
    incarnation_of,
    lack,
    needed_by,
    other_hardware,
    report_faulty,
)
from ipucloud.clusters.operations.resize_record import read_resize, waiting_size, write_resize
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.suspend import SUSPENSION
from ipucloud.clusters.operations.waiting import AT_ONCE, WAIT, MayWait, begin_waiting
from ipucloud.clusters.resize_flavors import Sizes, sizes_for
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.steps.faulty import Fault, Faulty
from ipucloud.clusters.waiting.queue import awaited, behind_the_queue
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import ClusterResized
from ipucloud.contract.event_types.clusters import CLUSTER_RESIZED
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.inventory.placement import Demand, NoRoom
from ipucloud.inventory.reserved import block_of
from ipucloud.inventory.resizing import (
    ResizePart,
    end_resize,
    former_machines,
    held_machines,
    number_machines,
    release_new_size,
    release_part,
    stays,
    take_for_resize,
    take_others,
)
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, STATE_CONFLICT, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import Billing, Repeated, Undo
from ipucloud.operations.results import Achieved, Failed
from ipucloud.operations.step import OnSuccess, Stage
from ipucloud.operations.store import Accepted
from ipucloud.quotas import store as quotas

_MOVES = sa.text("UPDATE resizes SET moves = :moves WHERE project_id = :project_id AND operation_id = :operation_id")
_IDLE = sa.text(
    "UPDATE resizes SET idle = :idle WHERE project_id = :project_id AND operation_id = :operation_id"
).bindparams(sa.bindparam("idle", type_=sa.Text))
_GROW_OR_SHRINK = """
    UPDATE clusters AS c SET flavor = r.{side}_flavor, machines = r.{side}_machines, ipus = r.{side}_ipus,
                             sku = r.{side}_sku
      FROM resizes AS r
     WHERE r.project_id = :project_id AND r.operation_id = :operation_id
       AND c.project_id = r.project_id AND c.id = r.cluster_id
"""
_TO = sa.text(_GROW_OR_SHRINK.format(side="to"))
_BACK = sa.text(_GROW_OR_SHRINK.format(side="from"))
_KEEP_PARTITIONS = sa.text("SELECT keep_partitions(:project_id, :cluster_id, :operation_id)")


def _ids(cluster: ClusterInputs) -> dict[str, UUID]:
    return {"project_id": cluster.project_id, "cluster_id": cluster.id}


def _its_resize(cluster: ClusterInputs) -> dict[str, UUID]:
    return {"project_id": cluster.project_id, "operation_id": cluster.operation.id}


async def _release_former(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """Those that leave; or, when hardware of the new size has failed, all of it, which others are taken for."""
    await record_leftovers(connection, cluster, achieved)
    if await _has_changed(connection, cluster):
        await release_new_size(connection, **_ids(cluster))
    else:
        await release_part(connection, ResizePart.LEAVES, **_ids(cluster))


async def _has_changed(connection: Statements, cluster: ClusterInputs) -> bool:
    resize = await read_resize(connection, **_its_resize(cluster))
    return resize.idle == ResizePart.LEAVES


async def _release_joining(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    await record_leftovers(connection, cluster, achieved)
    await release_part(connection, ResizePart.JOINS, **_ids(cluster))


async def _change_size(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """From here on the steps are about the machines of the new size. Those that leave were observed clean."""
    if await _has_changed(connection, cluster):
        await record_observed_clean(connection, cluster, achieved)
    else:
        await _change_sides(connection, cluster, achieved, _TO, idle=ResizePart.LEAVES)


async def _change_back(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    """And here about those of the former size again. Those that had joined were observed clean."""
    await _change_sides(connection, cluster, achieved, _BACK, idle=ResizePart.JOINS)


async def _change_sides(
    connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved, side: sa.TextClause, *, idle: ResizePart
) -> None:
    await record_observed_clean(connection, cluster, achieved)
    await name_anew(connection, **_ids(cluster), incarnation=incarnation_of(cluster) + 1)
    await connection.execute(side, _its_resize(cluster))
    await connection.execute(_IDLE, _its_resize(cluster) | {"idle": idle.value})
    await number_machines(connection, idle, **_ids(cluster))
    failpoint("resize.sides_changed")


async def _exchange(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    """Take other machines for the new size, under the next name. Raises GiveUp."""
    async with exchanging(connection, cluster):
        await name_anew(connection, **_ids(cluster), incarnation=incarnation_of(cluster) + 1)
        demand = Demand(cluster.project_id, cluster.id, cluster.region, needed_by(cluster))
        stays_here = await take_others(connection, demand)
        await connection.execute(_MOVES, _its_resize(cluster) | {"moves": not stays_here})


async def _other_machines(connection: AsyncConnection, cluster: ClusterInputs, failed: Faulty) -> Failed | None:
    """Its undo does not try others: they would be of the former size, of which the cluster has machines."""
    if cluster.operation.undoing:
        return await report_faulty(connection, cluster, failed)
    return await other_hardware(connection, cluster, failed, lacking=_lack)


async def _lack(connection: AsyncConnection, cluster: ClusterInputs, _: Sequence[Fault]) -> NoRoom | None:
    """Why no other block can be taken. A smaller cluster may find one among its former machines."""
    need = needed_by(cluster)
    former = await former_machines(connection, **_ids(cluster))
    if need.machines < len(former) and await stays(connection, former, need.machines):
        return None
    return await lack(connection, cluster.region, need, own_block=False)


async def _all_take_part(connection: AsyncConnection, cluster: ClusterInputs) -> None:
    """An undo takes down whatever is there, of either size."""
    await connection.execute(_IDLE, _its_resize(cluster) | {"idle": None})
    failpoint("resize.undo_begun")


async def _finish(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    """Give back the machines of the other size, and what the quota counts for them."""
    resize = await read_resize(connection, **_its_resize(cluster))
    await end_resize(connection, **_ids(cluster), validated=cluster.validated)
    await quotas.give_back(
        connection,
        project_id=cluster.project_id,
        region=cluster.region,
        machine_type=cluster.machine_type,
        machines=max(resize.from_machines, resize.to_machines) - len(cluster.machines),
    )
    if not cluster.operation.undoing:
        await record(
            connection,
            CLUSTER_RESIZED,
            project_id=cluster.project_id,
            subject_id=cluster.id,
            operation_id=cluster.operation.id,
            data=ClusterResized(from_flavor=resize.from_flavor, to_flavor=resize.to_flavor, moved=bool(resize.moves)),
        )
    failpoint("resize.settled")


_STAGE = Stage("CLUSTER_RESIZE", 620)


def _steps(written: Mapping[str, OnSuccess[ClusterInputs]]) -> tuple[ClusterStep, ...]:
    """The steps of a suspend and of a resume, with what the success of some of them writes."""
    return tuple(
        dataclasses.replace(step, stage=_STAGE, on_success=written.get(step.name, step.on_success))
        for step in (*SUSPENSION, *RESUME.steps)
    )


_SUSPENDED = Undo(
    steps=SUSPENSION,
    what="the resize, which could not be undone,",
    cancelled=ClusterState.SUSPENDED,
    failed=ClusterState.SUSPENDED,
    on_begin=_all_take_part,
)

_STEPS = _steps({"power_off_machines": _release_former, "verify_suspended": _change_size, "check_ipus": _finish})
_DOWN, _UP = _STEPS[: len(SUSPENSION)], _STEPS[len(SUSPENSION) :]
_EXCHANGE = exchange_by(_exchange, _STAGE)

RESIZE = ClusterKind(
    name=RESIZES,
    work_kind=WORK_KIND,
    steps=_STEPS,
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    during=ClusterState.RESIZING,
    success=ClusterState.ACTIVE,
    undo=Undo(
        steps=_steps({"power_off_machines": _release_joining, "verify_suspended": _change_back, "check_ipus": _finish}),
        what="the resize",
        cancelled=ClusterState.ACTIVE,
        failed=ClusterState.ACTIVE,
        on_begin=_all_take_part,
        otherwise=_SUSPENDED,
    ),
    cancellable=True,
    repeated=Repeated.JOINS,
    billing=Billing.PAUSES,
    deadline=None,
    preceding=WAIT,
    replacing=(_EXCHANGE,),
    again=(*_DOWN, _EXCHANGE, *_UP),
    other_hardware=_other_machines,
    goes_without=goes_without,
    failure=fails_with("The cluster gets its former size back, with its servers and partitions.", "Resize it again"),
)
"""The steps of a suspend, the change of size, and those of a resume. Its undo is the same the other way round."""


async def resize(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    *,
    flavor: str,
    catalogue: Catalogue,
    if_match: int | None,
    settings: Settings,
    may_wait: MayWait = AT_ONCE,
) -> Accepted:
    """Record a resize to this flavor with quota, machines, operation, work item and events, or nothing.

    Billing is paused with the request. A repeated request for the same flavor gets the running resize. One that may
    wait for capacity is recorded without quota and machines when others wait, or none are free; the cluster stays in
    use, and is billed, until its turn has come.

    Raises `Problem`: not_found, precondition_failed, operation_in_progress; validation_failed for a flavor that the
    cluster cannot have, or the end of a wait; state_conflict for a cluster that is not in use; capacity_exhausted; and
    to grow, as a create, budget_reached, payment_overdue, quota_exceeded, funds_exhausted, cost_limit_reached.
    """
    may_wait.check()
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    await lock_quota(connection, **ids)
    cluster = await lock_cluster(connection, **ids)
    failpoint("resize.cluster_locked")
    running = await _running(connection, actor, cluster, flavor, if_match=if_match)
    if running is not None:
        return running
    if await block_of(connection, **ids) is not None:
        sentence = (
            "The cluster uses an active reservation, which is for clusters of its present flavor. Resize it when the"
            " reservation has ended, or create another cluster."
        )
        raise Problem(STATE_CONFLICT, sentence)
    sizes = await sizes_for(connection, cluster, flavor, catalogue=catalogue)
    if may_wait.for_capacity:
        return await _resize_or_wait(connection, actor, cluster, sizes, may_wait, settings=settings)
    return await _resize_now(connection, actor, cluster, sizes, settings)


async def _resize_now(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, sizes: Sizes, settings: Settings
) -> Accepted:
    if sizes.grows and await awaited(connection, cluster.region, cluster.machine_type, preemptible=cluster.preemptible):
        raise behind_the_queue("Resize the cluster with `wait_for_capacity`, or later: it keeps its size meanwhile.")
    terms = await _admit(connection, actor, cluster, sizes)
    accepted = await begin(connection, actor, cluster, RESIZE, deadline_seconds=settings.create_deadline)
    await write_resize(connection, cluster, sizes, accepted.operation_id)
    await _begin(connection, cluster, sizes, accepted.operation_id)
    await _settle_accounts(connection, actor, cluster, sizes, terms, settings=settings)
    return accepted


async def _resize_or_wait(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    sizes: Sizes,
    may_wait: MayWait,
    *,
    settings: Settings,
) -> Accepted:
    until = await may_wait.end(connection)
    try:
        async with connection.begin_nested():
            return await _resize_now(connection, actor, cluster, sizes, settings)
    except Problem as problem:
        if problem.kind is not CAPACITY_EXHAUSTED:
            raise
    terms = await _terms(connection, actor, cluster, sizes)
    if sizes.grows:
        refuse_by_terms(terms)
    more = max(0, sizes.machines - cluster.machines)
    accepted = await begin_waiting(
        connection, actor, cluster, RESIZE, until, need=sizes.need, more=more, settings=settings
    )
    await write_resize(connection, cluster, sizes, accepted.operation_id)
    if sizes.grows:
        await check_cost_limit(connection, actor, cluster.id, terms, settings)
    return accepted


async def resize_in_turn(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, operation_id: UUID, settings: Settings
) -> None:
    """Begin a resize that has waited: its turn has come. Billing is paused from now on.

    Raises `Problem`: state_conflict, operation_in_progress for one on a partition, capacity_exhausted, unavailable; and
    to grow budget_reached, payment_overdue, quota_exceeded, funds_exhausted.
    """
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    if cluster.state not in RESIZE.begins_in or await block_of(connection, **ids) is not None:
        raise Problem(STATE_CONFLICT, f"Only a cluster in use can be resized; this one is {cluster.state}.")
    on_partition = await partition_operation(connection, cluster)
    if on_partition is not None:
        raise in_the_way(on_partition, "a partition of the cluster")
    sizes = await waiting_size(connection, cluster, operation_id)
    terms = await _admit(connection, actor, cluster, sizes)
    await transition(connection, actor, cluster, RESIZE, operation_id)
    await _begin(connection, cluster, sizes, operation_id)
    await _settle_accounts(connection, actor, cluster, sizes, terms, settings=settings)


async def _terms(connection: Statements, actor: Actor, cluster: LockedCluster, sizes: Sizes) -> Terms:
    return await terms_of(connection, actor, cluster._replace(sku=sizes.sku, machines=sizes.machines))


async def _admit(connection: AsyncConnection, actor: Actor, cluster: LockedCluster, sizes: Sizes) -> Terms:
    """Only what grows can be refused; it takes quota."""
    terms = await _terms(connection, actor, cluster, sizes)
    if sizes.grows:
        refuse_by_terms(terms)
        await quotas.consume(
            connection,
            project_id=actor.project_id,
            region=cluster.region,
            machine_type=cluster.machine_type,
            machines=sizes.machines - cluster.machines,
        )
    return terms


async def _settle_accounts(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    sizes: Sizes,
    terms: Terms,
    *,
    settings: Settings,
) -> None:
    await end_billing(connection, cluster)
    if sizes.grows:
        await hold_first_hour(connection, actor, cluster.id, terms, settings)


async def _running(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, flavor: str, *, if_match: int | None
) -> Accepted | None:
    running = await repeated(connection, actor, cluster, RESIZE, if_match=if_match)
    if running is None:
        return None
    under_way = await read_resize(connection, project_id=cluster.project_id, operation_id=running.operation_id)
    if under_way.to_flavor != flavor:
        raise in_the_way(running.operation_id)
    return running


async def _begin(connection: AsyncConnection, cluster: LockedCluster, sizes: Sizes, operation_id: UUID) -> None:
    """Keep the partitions, and take the machines, which others may wait for, last."""
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    await connection.execute(_KEEP_PARTITIONS, ids | {"operation_id": operation_id})
    failpoint("resize.partitions_kept")
    held = await held_machines(connection, **ids)
    demand = Demand(cluster.project_id, cluster.id, cluster.region, sizes.need)
    stays_here = await take_for_resize(connection, demand, held)
    moves = {"project_id": cluster.project_id, "operation_id": operation_id, "moves": not stays_here}
    await connection.execute(_MOVES, moves)
    failpoint("resize.begun")
