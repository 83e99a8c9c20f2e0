"""Going on with other hardware when a step of a create or resume is given up because of a machine or host.

The hardware is reported, which keeps it from every cluster. What was built under the current external name is removed
by the steps of a clean-up. Only when all of it was observed clean, later than any request can take effect, are the
machines given back and others taken, in one transaction, under the next external name. So no name is used twice, and at
any moment at most one of a cluster's names has anything at the site. Then the operation's own steps run again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.metrics import REPLACED, count
from ipucloud.clusters.operations.effects import name_anew, record_left
from ipucloud.clusters.operations.kind import ClusterStep
from ipucloud.clusters.steps.faulty import Fault, Faulty
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.event_payloads import HardwareFailed
from ipucloud.contract.event_types import CLUSTER_HARDWARE_REPLACED
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.observations import automation_halted
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.placement import Demand, Need, NoRoom, read_room, take
from ipucloud.inventory.release import free
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, PROVISIONING_FAILED, ErrorCode, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import read_external_name
from ipucloud.operations.results import Achieved, Failed, GiveUp, StepResult
from ipucloud.site.ports import Site

log = structlog.get_logger(__name__)

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
_ANNOUNCE_SERVERS = sa.text(
    """
    UPDATE poplar_servers SET state = 'pending', name = :external_name || '-p' || ordinal
     WHERE project_id = :project_id AND cluster_id = :cluster_id
    """
)


def replacing(clean_up: Sequence[ClusterStep], *, hosts: bool) -> tuple[ClusterStep, ...]:
    """The steps of a clean-up, after which the hardware is exchanged instead of given back.

    `hosts`: the hosts are exchanged too; otherwise the cluster keeps them.
    """
    *steps, verify = clean_up
    verified = dataclasses.replace(verify, on_success=record_left)
    taken = ClusterStep(
        name=STEP, stage=verify.stage, act=_nothing, on_success=partial(_exchange, hosts=hosts), endures=True
    )
    return (*steps, verified, taken)


async def _nothing(site: Site, cluster: ClusterInputs) -> StepResult:  # noqa: ARG001  # every step has the same signature
    """All of it is in what its success writes."""
    return Achieved()


async def other_hardware(
    connection: AsyncConnection, cluster: ClusterInputs, failed: Faulty, *, hosts: bool
) -> Failed | None:
    """Report the hardware. None when other hardware is free and may be tried; otherwise the failure with the reason.

    While automatic actions are halted in the region, nothing is reported and the operation fails as it is."""
    faults = [fault for fault in failed.hardware if hosts or fault.kind == "machine"]
    if not faults or await automation_halted(connection, cluster.region):
        return failed
    await _report(connection, cluster, faults)
    if cluster.operation.overdue:
        return failed
    mine = {"project_id": cluster.project_id, "operation_id": cluster.operation.id, "step": STEP}
    if (await _TRIED.one(connection, mine)).times >= LIMIT:
        return _given_up(
            cluster, failed, PROVISIONING_FAILED, f"It was the last of {LIMIT} attempts with other hardware."
        )
    lack = await _lack(connection, cluster, faults, hosts=hosts)
    if lack is not None:
        sentence = f"No other healthy hardware is free: {lack.detail}"
        return _given_up(cluster, failed, CAPACITY_EXHAUSTED, sentence)
    await _announce(connection, cluster, faults)
    return None


def _given_up(cluster: ClusterInputs, failed: Faulty, code: ErrorCode, sentence: str) -> Failed:
    text = (
        f"Step {cluster.operation.step.name} failed: {failed.detail}. {sentence} What was built is removed and nothing"
    )
    return dataclasses.replace(failed, problem=Problem(code, f"{text} is charged."))


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


async def _lack(
    connection: AsyncConnection, cluster: ClusterInputs, faults: Sequence[Fault], *, hosts: bool
) -> NoRoom | None:
    """Why no other hardware can be taken now. The cluster's own block has the faulty machine: it does not count."""
    need = _need(cluster, hosts=hosts)
    room = await read_room(connection, cluster.region, need)
    broken = sum(fault.kind == "host" for fault in faults)
    if not need.own_hosts:
        need = dataclasses.replace(need, hosts=broken)
        if broken == len(faults) and room.free_hosts >= broken:
            return None
    return room.why_not(need)


def _need(cluster: ClusterInputs, *, hosts: bool) -> Need:
    machines = len(cluster.machines)
    own = cluster.allocated_through is AllocatedThrough.HOST_DEVICES
    return Need(
        cluster.machine_type, machines, len(cluster.hosts) if hosts else 0, cluster.ipus // machines, own_hosts=own
    )


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


async def _exchange(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved, *, hosts: bool) -> None:
    """Give back what was observed clean, and take other hardware under the next name. Raises GiveUp."""
    mine = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    try:
        async with connection.begin_nested():
            await free(connection, **mine)
            name = await name_anew(connection, **mine, incarnation=_incarnation(cluster) + 1)
            if hosts:
                await connection.execute(_ANNOUNCE_SERVERS, mine | {"external_name": name})
            failpoint("cluster.hardware_given_back")
            await take(connection, Demand(**mine, region=cluster.region, need=_need(cluster, hosts=hosts)))
    except Problem as problem:
        if problem.kind is not CAPACITY_EXHAUSTED:
            raise
        raise GiveUp(Failed("the other hardware was taken meanwhile", problem=problem)) from problem
    failpoint("cluster.hardware_exchanged")


def _incarnation(cluster: ClusterInputs) -> int:
    read: tuple[UUID, int] | None = read_external_name(cluster.external_name)
    if read is None:
        raise ValueError(f"{cluster.external_name} is not the name of a cluster at its site")
    return read[1]
