"""Repairing a cluster in use by other hardware: taken down, its faulty hardware exchanged, built again as it was.

Its machines are exchanged all together, because a cluster's machines are one block. Its servers keep their hosts and
disks, except those whose hosts are faulty: they are built again on other hosts, without what was on their disks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster, lock_cluster, set_reason
from ipucloud.clusters.metrics import REPLACED, count
from ipucloud.clusters.operations.begin import begin, end_billing, repeated
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.operations.replacing import goes_without, lack, other_hardware, replacing
from ipucloud.clusters.operations.resume import RESUME
from ipucloud.clusters.operations.suspend import SUSPENSION
from ipucloud.clusters.repairs.store import open_repair
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.config import Settings
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import HardwareFailed
from ipucloud.contract.event_types.clusters import CLUSTER_HARDWARE_REPLACED
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.inventory.health.codes import CODES, Code, Kind, Source
from ipucloud.inventory.health.observations import automation_halted
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.placement import Need, exhausted
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import Billing, Repeated, Undo
from ipucloud.operations.step import Stage
from ipucloud.operations.store import Accepted

_STAGE = Stage("CLUSTER_REPAIR", 620)


def _steps(*steps: ClusterStep) -> tuple[ClusterStep, ...]:
    return tuple(dataclasses.replace(step, stage=_STAGE) for step in steps)


REPLACE = ClusterKind(
    name="cluster.replace-hardware",
    work_kind=WORK_KIND,
    steps=_steps(*replacing(SUSPENSION), *RESUME.steps),
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    during=ClusterState.REBUILDING,
    success=ClusterState.ACTIVE,
    undo=Undo(steps=SUSPENSION, what="the repair", cancelled=ClusterState.SUSPENDED, failed=ClusterState.SUSPENDED),
    cancellable=False,
    repeated=Repeated.JOINS,
    billing=Billing.PAUSES,
    deadline=None,
    preceding=(),
    replacing=(),
    ends_waits=True,
    other_hardware=other_hardware,
    goes_without=goes_without,
    failure=fails_with(
        "The cluster is suspended and costs nothing; its Poplar servers keep their disks, except those that were built"
        " again, and its partitions are gone.",
        "Resume it",
    ),
)
"""The steps of a suspend, the exchange, and those of a resume. When the exchange has failed hardware too, they are
taken again. It cannot be cancelled: what it has removed would have to be built again."""

Reason = Literal["fault", "maintenance"]
REPAIRED = {
    kind: sorted(
        code
        for code, declared in codes.items()
        if declared.repaired_by_replacement and not (kind == "host" and declared.maintenance)
    )
    for kind, codes in CODES.items()
}
"""Codes of faults that other hardware repairs. A host that is maintained works, and has a disk that would be lost."""
_UNREPORTED: dict[Reason, str] = {"fault": "A fault was reported.", "maintenance": "It is to be maintained."}


class _Held(NamedTuple):
    """A machine or host of the cluster; the Poplar server on a host. `why`: what its faults say, None without any."""

    kind: Kind
    object_id: UUID
    name: str
    server: str | None
    allocatable: bool
    why: str | None


def _why(kind: Kind) -> str:
    return f"""
        (SELECT string_agg(report.message, ' ' ORDER BY report.first_seen_at) FROM health_reports AS report
          WHERE report.{kind}_id = {kind}.id AND report.confirmed_at IS NOT NULL AND report.cleared_at IS NULL
            AND report.code = ANY (:{kind}_codes))
    """  # noqa: S608  # our own names


_HELD = Query(
    f"""
    SELECT 'machine' AS kind, machine.id AS object_id, machine.name, NULL AS server, machine.allocatable,
           {_why("machine")} AS why
      FROM allocations AS held JOIN machines AS machine ON machine.id = held.machine_id
     WHERE held.project_id = :project_id AND held.cluster_id = :cluster_id AND held.released_at IS NULL
    UNION ALL
    SELECT 'host', host.id, host.name, server.name, host.allocatable, {_why("host")}
      FROM allocations AS held JOIN hosts AS host ON host.id = held.host_id
      JOIN poplar_servers AS server
        ON (server.project_id, server.cluster_id, server.ordinal) = (held.project_id, held.cluster_id, held.ordinal)
     WHERE held.project_id = :project_id AND held.cluster_id = :cluster_id AND held.released_at IS NULL
     ORDER BY kind DESC, name
    """,  # noqa: S608  # our own text
    _Held,
)
_KEEP_PARTITIONS = sa.text("SELECT keep_partitions(:project_id, :cluster_id, :operation_id)")


async def replace_hardware(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    *,
    hardware: Sequence[str] = (),
    reason: Reason = "fault",
    if_match: int | None = None,
    settings: Settings,
) -> Accepted:
    """Record a repair: billing is paused, an operation opens that exchanges hardware of the cluster.

    `hardware`: names of machines, hosts or Poplar servers; none: all with confirmed faults that other hardware repairs,
    or all machines whose planned maintenance is announced.

    Raises `Problem`: not_found, precondition_failed, operation_in_progress, capacity_exhausted, state_conflict for a
    cluster that is not in use, or has no such fault, or whose IPUs are in its server, or while automatic actions are
    halted in the region.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("replace.cluster_locked")
    running = await repeated(connection, actor, cluster, REPLACE, if_match=if_match)
    if running is not None:
        return running
    held = await _held(connection, cluster)
    planned = () if hardware else await _planned(connection, cluster, held)
    if planned:
        hardware, reason = planned, "maintenance"
    chosen = [
        each._replace(why=each.why or _UNREPORTED[reason])
        for each in await _chosen(connection, cluster, held, hardware)
    ]
    await _require_room(connection, cluster, held, chosen)
    accepted = await begin(connection, actor, cluster, REPLACE, deadline_seconds=settings.create_deadline)
    await _announce(connection, actor, cluster, chosen, accepted)
    await _report(connection, cluster, chosen)
    await end_billing(connection, cluster)
    return accepted


async def _planned(connection: AsyncConnection, cluster: LockedCluster, held: Sequence[_Held]) -> Sequence[str]:
    """Machines that the cluster is to leave before their maintenance; hosts are maintained with their disks."""
    repair = await open_repair(connection, project_id=cluster.project_id, cluster_id=cluster.id)
    if repair is None or repair.reason != "maintenance":
        return ()
    return [each.name for each in held if each.kind == "machine" and each.name in repair.hardware]


async def _held(connection: AsyncConnection, cluster: LockedCluster) -> Sequence[_Held]:
    codes = {f"{kind}_codes": codes for kind, codes in REPAIRED.items()}
    return await _HELD.all(connection, {"project_id": cluster.project_id, "cluster_id": cluster.id, **codes})


async def _chosen(
    connection: AsyncConnection, cluster: LockedCluster, held: Sequence[_Held], hardware: Sequence[str]
) -> Sequence[_Held]:
    """The hardware to exchange. Raises `Problem` state_conflict."""
    if cluster.state not in REPLACE.begins_in:
        raise Problem(STATE_CONFLICT, f"Only a cluster in use can be repaired; this one is {cluster.state}.")
    if cluster.allocated_through is not AllocatedThrough.V_IPU:
        raise Problem(
            STATE_CONFLICT,
            "The cluster's IPUs are in its server, which cannot be replaced without the loss of all of its data. Wait"
            " until the operator has repaired it; or save what you need, delete the cluster and create another.",
        )
    chosen = [each for each in held if ({each.name, each.server} & {*hardware} if hardware else each.why)]
    known = {name for each in held for name in (each.name, each.server)}
    if unknown := [name for name in hardware if name not in known]:
        raise Problem(STATE_CONFLICT, f"The cluster does not have {unknown[0]}; read it to see what it has.")
    if not chosen:
        raise Problem(
            STATE_CONFLICT,
            "No hardware of the cluster has a confirmed fault that other hardware repairs; its `faults` list what is"
            " known. Report a fault that is not listed.",
        )
    if await automation_halted(connection, cluster.region):
        raise Problem(
            STATE_CONFLICT,
            f"Nothing is repaired in {cluster.region} now: so much hardware is reported as failed that an operator"
            " has to check the reports first. Try again later.",
        )
    return chosen


async def _require_room(
    connection: AsyncConnection, cluster: LockedCluster, held: Sequence[_Held], chosen: Sequence[_Held]
) -> None:
    """Raise `Problem` capacity_exhausted unless other hardware is free now; nothing is reserved."""
    hosts = sum(each.kind == "host" for each in chosen)
    own_block = hosts == len(chosen) and all(each.allocatable for each in held if each.kind == "machine")
    need = Need(cluster.machine_type, cluster.machines, hosts, cluster.ipus // cluster.machines)
    lacking = await lack(connection, cluster.region, need, own_block=own_block)
    if lacking is not None:
        raise exhausted(dataclasses.replace(lacking, detail=f"No other healthy hardware is free: {lacking.detail}"))


async def _announce(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    chosen: Sequence[_Held],
    accepted: Accepted,
) -> None:
    sentence = " ".join(map(_sentence, chosen))
    await set_reason(connection, cluster.project_id, cluster.id, sentence)
    await connection.execute(
        _KEEP_PARTITIONS,
        {"project_id": cluster.project_id, "cluster_id": cluster.id, "operation_id": accepted.operation_id},
    )
    await record(
        connection,
        CLUSTER_HARDWARE_REPLACED,
        project_id=cluster.project_id,
        subject_id=cluster.id,
        operation_id=accepted.operation_id,
        request_id=actor.request_id,
        data=HardwareFailed(
            machines=[each.name for each in chosen if each.kind == "machine"],
            hosts=[each.name for each in chosen if each.kind == "host"],
            reason=sentence,
        ),
    )
    failpoint("replace.announced")


def _sentence(held: _Held) -> str:
    if held.kind == "machine":
        return f"Machine {held.name} is replaced: {held.why}"
    return f"Poplar server {held.server} is built again on another host, and the data on its disk is lost: {held.why}"


async def _report(connection: AsyncConnection, cluster: LockedCluster, chosen: Sequence[_Held]) -> None:
    """Keep the hardware from every cluster until it was observed good for a while; machines first, as they lock."""
    for held in chosen:
        await report(
            connection,
            kind=held.kind,
            object_id=held.object_id,
            source=Source.OPERATION,
            code=Code.REPLACED,
            detail=f"a repair replaced it: {held.why}",
            cluster_id=cluster.id,
        )
        count(connection, REPLACED.labels(held.kind, REPLACE.name))
    failpoint("replace.hardware_reported")
