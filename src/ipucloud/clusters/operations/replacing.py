"""Going on with other hardware when a step that builds is given up because of a machine or host; and taking it.

The hardware is reported, which keeps it from every cluster. What was built under the current external name is removed
by the steps of a clean-up. Only when all of it was observed clean, later than any request can take effect, are the
machines given back and others taken, in one transaction, under the next external name. So no name is used twice, and at
any moment at most one of a cluster's names has anything at the site. Then the operation's own steps run again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeAlias
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.metrics import REPLACED, count
from ipucloud.clusters.operations.effects import name_anew, record_observed_clean
from ipucloud.clusters.operations.kind import CREATES, ClusterStep
from ipucloud.clusters.repairs.store import REPLACE_HARDWARE
from ipucloud.clusters.steps.faulty import Fault, Faulty
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.event_payloads.clusters import HardwareFailed
from ipucloud.contract.event_types.clusters import CLUSTER_HARDWARE_REPLACED
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.merge import lock
from ipucloud.inventory.health.observations import automation_halted
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.placement import Demand, Need, NoRoom, allocate, read_room
from ipucloud.inventory.release import free
from ipucloud.inventory.reserved import block_of
from ipucloud.inventory.validations import require
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, PROVISIONING_FAILED, ErrorCode, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import read_external_name
from ipucloud.operations.results import Achieved, Failed, GiveUp, StepResult
from ipucloud.operations.step import OnSuccess, Stage
from ipucloud.site.ports import Site

log = structlog.get_logger(__name__)

Lacking: TypeAlias = Callable[[AsyncConnection, ClusterInputs, Sequence[Fault]], Awaitable[NoRoom | None]]

LIMIT = 3
"""Times that one operation takes other hardware."""
STEP = "take_other_hardware"


class _Tried(NamedTuple):
    times: int


_TRIED = Query(
    "SELECT count(*) AS times FROM operation_steps"
    " WHERE project_id = :project_id AND operation_id = :operation_id AND name = :step",
    _Tried,
)
_WITHOUT_HOST = Query(
    """
    UPDATE poplar_servers server SET state = 'pending', name = c.external_name || '-p' || ordinal
      FROM clusters c
     WHERE c.project_id = :project_id AND c.id = :cluster_id
       AND server.project_id = c.project_id AND server.cluster_id = c.id
       AND NOT EXISTS (SELECT FROM allocations held
                        WHERE held.project_id = c.project_id AND held.cluster_id = c.id AND held.freed_at IS NULL
                          AND held.host_id IS NOT NULL AND held.ordinal = server.ordinal)
    RETURNING ordinal
    """,
    int,
)

_AFTER_CREATE = (
    "What was built is removed and nothing is charged. Delete the cluster; then create it later, or of another flavor"
    " or in another region that has room."
)
_AFTER = {
    "cluster.resize": "The cluster gets its former size back, with its servers and partitions. Resize it later.",
    "cluster.resume": "The cluster is suspended as before and costs nothing. Resume it later.",
    "cluster.replace-hardware": "The cluster is suspended and costs nothing. Resume it later.",
}
"""What becomes of the cluster when no other hardware can be tried, by the kind of operation, and what to do."""


def replacing(clean_up: Sequence[ClusterStep]) -> tuple[ClusterStep, ...]:
    """The steps of a clean-up, after which what it gives back is exchanged for other hardware."""
    *steps, verify = clean_up
    verified = dataclasses.replace(verify, on_success=record_observed_clean)
    return (*steps, verified, exchange_by(_exchange, verify.stage))


def exchange_by(exchange: OnSuccess[ClusterInputs], stage: Stage) -> ClusterStep:
    """The step after a clean-up that takes other hardware; `exchange` raises GiveUp."""
    return ClusterStep(name=STEP, stage=stage, act=_exchanged, on_success=exchange, endures=True)


async def _exchanged(site: Site, cluster: ClusterInputs) -> StepResult:  # noqa: ARG001  # every step's signature
    """All of it is in what its success writes; the note says what a repair loses."""
    lost = [host.server_name for host in cluster.hosts if host.unbuilt and cluster.operation.kind == REPLACE_HARDWARE]
    return Achieved(note=f"built again without the data on its disk: {', '.join(lost)}" if lost else None)


async def report_faulty(connection: AsyncConnection, cluster: ClusterInputs, failed: Faulty) -> Failed:
    """Report the hardware, for an operation that does not go on with other; within the limits of `other_hardware`."""
    faults = _exchangeable(cluster, failed)
    if faults and len(faults) <= cluster.replaceable and not await automation_halted(connection, cluster.region):
        await _report(connection, cluster, faults)
    return failed


def _exchangeable(cluster: ClusterInputs, failed: Faulty) -> list[Fault]:
    kept = _with_disks(cluster)
    return [fault for fault in failed.hardware if fault.name not in kept]


def _with_disks(cluster: ClusterInputs) -> set[str]:
    """Hosts with disks that the customer may need, which are not exchanged; before a cluster is ready, it has none."""
    return {host.name for host in cluster.hosts if not host.unbuilt and cluster.operation.kind != CREATES}


async def goes_without(connection: AsyncConnection, cluster: ClusterInputs, failed: Faulty) -> bool:
    """Report hosts with disks as failed; whether they are all that keeps the step from its end.

    The operation then goes on without their servers, and the cluster's customer decides about the disks: by a repair,
    which also comes by itself, after a notice. Servers with IPUs of their own are all that their cluster has.
    """
    kept = _with_disks(cluster)
    lost = [fault for fault in failed.hardware if fault.name in kept]
    unusual = len(lost) > cluster.replaceable or await automation_halted(connection, cluster.region)
    if not lost or unusual or cluster.allocated_through is not AllocatedThrough.V_IPU or cluster.operation.overdue:
        return False
    for fault in lost:
        await report(
            connection,
            kind="host",
            object_id=cluster.hardware_ids[fault.name],
            source=Source.HOST,
            code=Code.HOST_FAILED,
            detail=f"{fault.why}; step {cluster.operation.step.name} of {cluster.external_name} goes on without it",
            cluster_id=cluster.id,
        )
    return len(lost) == len(failed.hardware)


async def other_hardware(
    connection: AsyncConnection, cluster: ClusterInputs, failed: Faulty, *, lacking: Lacking | None = None
) -> Failed | None:
    """Report the hardware. None when other hardware is free and may be tried; otherwise the failure with the reason.

    `lacking` says why no other can be taken, for clusters that do not exchange all of theirs. Nothing is reported while
    automatic actions are halted in the region, or when so much was replaced there within the hour that the site itself
    may be at fault.
    """
    faults = _exchangeable(cluster, failed)
    if not faults or await automation_halted(connection, cluster.region):
        return failed
    if len(faults) > cluster.replaceable:
        return _given_up(
            cluster,
            failed,
            PROVISIONING_FAILED,
            "So much hardware of the region was replaced within the hour that an operator has to check it first.",
        )
    await _report(connection, cluster, faults)
    if cluster.operation.overdue:
        return failed
    ids = {"project_id": cluster.project_id, "operation_id": cluster.operation.id, "step": STEP}
    if (await _TRIED.one(connection, ids)).times >= LIMIT:
        return _given_up(
            cluster, failed, PROVISIONING_FAILED, f"It was the last of {LIMIT} attempts with other hardware."
        )
    no_room = await (lacking or _lack)(connection, cluster, faults)
    if no_room is not None:
        sentence = f"No other healthy hardware is free: {no_room.detail}"
        return _given_up(cluster, failed, CAPACITY_EXHAUSTED, sentence)
    await _announce(connection, cluster, faults)
    return None


def _given_up(cluster: ClusterInputs, failed: Faulty, code: ErrorCode, sentence: str) -> Failed:
    text = f"Step {cluster.operation.step.name} failed: {failed.detail}. {sentence} {_after(cluster)}"
    return dataclasses.replace(failed, problem=Problem(code, text))


def _after(cluster: ClusterInputs) -> str:
    return _AFTER.get(cluster.operation.kind, _AFTER_CREATE)


async def _report(connection: AsyncConnection, cluster: ClusterInputs, faults: Iterable[Fault]) -> None:
    ids = cluster.hardware_ids
    for fault in faults:
        await report(
            connection,
            kind=fault.kind,
            object_id=ids[fault.name],
            source=Source.OPERATION,
            code=Code.BUILD_FAILED,
            detail=f"{fault.why}; step {cluster.operation.step.name} of {cluster.external_name} failed",
            cluster_id=cluster.id,
        )
    failpoint("cluster.hardware_reported")


async def _lack(connection: AsyncConnection, cluster: ClusterInputs, faults: Sequence[Fault]) -> NoRoom | None:
    broken = sum(fault.kind == "host" for fault in faults)
    return await lack(connection, cluster.region, needed_by(cluster, broken), own_block=broken == len(faults))


async def lack(connection: AsyncConnection, region: str, need: Need, *, own_block: bool) -> NoRoom | None:
    """Why other hardware cannot be taken now, `need.hosts` hosts of it; None: it can.

    `own_block`: the cluster's own machines can be taken again. Otherwise one is faulty, and their block does not count.
    """
    room = await read_room(connection, region, need)
    if own_block and not need.own_hosts and room.free_hosts >= need.hosts:
        return None
    return room.why_not(need)


def needed_by(cluster: ClusterInputs, hosts: int = 0) -> Need:
    """The block of the cluster's present size, and so many hosts."""
    machines = len(cluster.machines)
    own = cluster.allocated_through is AllocatedThrough.HOST_DEVICES
    return Need(cluster.machine_type, machines, hosts, cluster.ipus // machines, own_hosts=own)


async def _announce(connection: AsyncConnection, cluster: ClusterInputs, faults: Sequence[Fault]) -> None:
    for fault in faults:
        count(connection, REPLACED.labels(fault.kind, cluster.operation.step.name))
        log.warning("hardware_replaced", kind=fault.kind, name=fault.name, why=fault.why)
    await record(
        connection,
        CLUSTER_HARDWARE_REPLACED,
        project_id=cluster.project_id,
        subject_id=cluster.id,
        operation_id=cluster.operation.id,
        data=HardwareFailed(
            machines=[fault.name for fault in faults if fault.kind == "machine"],
            hosts=[fault.name for fault in faults if fault.kind == "host"],
            reason="; ".join(dict.fromkeys(fault.why for fault in faults)),
        ),
    )


async def _exchange(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    """Give back what was observed clean, and take other hardware under the next name. Raises GiveUp."""
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    async with exchanging(connection, cluster):
        reserved = await block_of(connection, **ids)
        await free(connection, **ids, validated=False, to_reservation=False)
        await name_anew(connection, **ids, incarnation=incarnation_of(cluster) + 1)
        servers = await servers_without_host(connection, **ids)
        failpoint("cluster.hardware_given_back")
        need = needed_by(cluster, len(servers))
        await allocate(connection, Demand(**ids, region=cluster.region, need=need, servers=servers, reserved=reserved))


@asynccontextmanager
async def exchanging(connection: AsyncConnection, cluster: ClusterInputs) -> AsyncIterator[None]:
    """Within the block the cluster's machines are exchanged, or nothing is and others have taken what it was to get.

    Raises GiveUp.
    """
    given_back = [UUID(machine.id) for machine in cluster.machines]
    await lock(connection, "machine", given_back)
    try:
        async with connection.begin_nested():
            yield
    except Problem as problem:
        if problem.kind is not CAPACITY_EXHAUSTED:
            raise
        text = f"The other hardware was taken by others meanwhile: {problem.detail} {_after(cluster)}"
        given_up = Problem(CAPACITY_EXHAUSTED, text, extra=problem.extra)
        raise GiveUp(Failed("the other hardware was taken meanwhile", problem=given_up)) from problem
    if cluster.validated:  # those that the cluster did not get again
        await require(connection, given_back, "release")
    failpoint("cluster.hardware_exchanged")


async def servers_without_host(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> list[int]:
    """The numbers of the Poplar servers that have no host, and get names of the cluster's present external name."""
    return sorted(await _WITHOUT_HOST.all(connection, {"project_id": project_id, "cluster_id": cluster_id}))


def incarnation_of(cluster: ClusterInputs) -> int:
    """The number of the cluster's present external name. Raises ValueError if it has none of a cluster's."""
    read: tuple[UUID, int] | None = read_external_name(cluster.external_name)
    if read is None:
        raise ValueError(f"{cluster.external_name} is not the name of a cluster at its site")
    return read[1]
