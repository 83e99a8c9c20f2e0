"""What follows for a cluster from the health reports of the hardware that it holds: state, reason, event and credit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.credits import credit
from ipucloud.clusters.not_working import DEGRADING, Block, faults_of_cluster
from ipucloud.clusters.observed import SHOWN_FAULTS
from ipucloud.clusters.repairs.store import OpenRepair, open_repair
from ipucloud.clusters.states import BILLABLE, PARTITIONS
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.clusters import ClusterDegraded, ClusterFault
from ipucloud.contract.event_types.clusters import CLUSTER_DEGRADED, CLUSTER_RECOVERED
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.inventory.health.codes import REPAIRED_BY_REPLACEMENT, Code
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.wake import wake

_WAITING: Mapping[str, str] = {
    "capacity": "The cluster is repaired as soon as other hardware is free",
    "limit": "Other clusters of the region are repaired first",
    "operator": "An operator decides when the cluster is repaired",
}
_BY_ITSELF: Mapping[Code, str] = {
    Code.PARTITION_ERROR: "Until its partitions are reset",
    Code.ALLOCATION_LOST: "Until they are made again",
}
NAMED = 3
"""Faults that a cluster's `state_reason` names; it counts the others."""
_WORDS = {"machine": "Machine", "poplar_server": "Poplar server", "link": "Link of machine"}


class _Cluster(NamedTuple):
    state: ClusterState
    state_reason: str | None
    external_name: str
    machines: int
    poplar_servers: int
    allocated_through: AllocatedThrough
    auto_repair: bool
    now: datetime

    @property
    def sold_as(self) -> Block:
        own_hosts = self.allocated_through is not AllocatedThrough.V_IPU
        return Block(self.machines, self.poplar_servers, own_hosts=own_hosts)


class _Fault(NamedTuple):
    id: UUID
    kind: str
    name: str
    code: Code
    message: str
    since: datetime
    credited: bool

    @property
    def repairable(self) -> bool:
        return self.code in REPAIRED_BY_REPLACEMENT["host" if self.kind == "poplar_server" else "machine"]


_READ = Query(
    """
    SELECT c.state, c.state_reason, c.external_name, c.machines,
           (SELECT count(*) FROM poplar_servers AS server
             WHERE server.project_id = c.project_id AND server.cluster_id = c.id)::integer AS poplar_servers,
           c.allocated_through, c.auto_repair, app_now() AS now
      FROM clusters AS c WHERE c.project_id = :project_id AND c.id = :cluster_id
    """,
    _Cluster,
)
_FAULTS = Query(
    f"""
    SELECT id, kind, name, code, message, since, credited FROM ({SHOWN_FAULTS}) AS fault
     WHERE project_id = :project_id AND cluster_id = :cluster_id ORDER BY since, name, code
    """,  # noqa: S608  # our own text
    _Fault,
)
_ENTER = sa.text(
    """
    UPDATE clusters
       SET state = :state, state_reason = :reason, version = version + 1,
           state_entered_at = CASE WHEN state = :state THEN state_entered_at ELSE app_now() END
     WHERE project_id = :project_id AND id = :cluster_id
    """
).bindparams(sa.bindparam("state", type_=sa.Text), sa.bindparam("reason", type_=sa.Text))


async def apply_reports(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, announce: bool = True
) -> bool:
    """Let state, reason and credit of a cluster in use agree with the live reports of its hardware.

    Called in the transaction that wrote the reports, or that ends an operation; it holds the cluster's lock. In other
    states nothing happens: the operation that leads to use calls this at its end. Nothing is written twice.
    `announce`: record an event; False when only what happens next has changed. Returns whether the state or its reason
    changed.
    """
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    cluster = await _READ.one(connection, ids)
    if cluster.state not in BILLABLE:
        return False
    faults = [fault for fault in await _FAULTS.all(connection, ids) if fault.code in DEGRADING]
    not_as_sold = await faults_of_cluster(connection, **ids)
    credited = cluster.sold_as.not_working([fault for fault in not_as_sold if fault.ended_at is None])
    state = ClusterState.DEGRADED if faults else ClusterState.ACTIVE
    repair = await open_repair(connection, **ids) if faults else None
    reason = "".join(_sentences(faults, credited, cluster, repair)) or None
    changed = (state, reason) != (cluster.state, cluster.state_reason)
    if changed:
        await connection.execute(_ENTER, ids | {"state": state.value, "reason": reason})
        if announce or state is not cluster.state:
            await _announce(connection, ids, _event(faults, reason, credited) if faults else None)
        failpoint("cluster.settled")
        if cluster.allocated_through is AllocatedThrough.V_IPU:
            # The controller shows the partitions of a failed machine in error; they are read now, not in a minute.
            await wake(connection, kind=PARTITIONS, key=str(cluster_id), project_id=project_id)
    await credit(
        connection,
        project_id=project_id,
        resource_id=cluster_id,
        faults=not_as_sold,
        not_working=cluster.sold_as.not_working,
        now=cluster.now,
    )
    failpoint("cluster.credited")
    return changed


async def _announce(connection: AsyncConnection, ids: dict[str, UUID], degraded: ClusterDegraded | None) -> None:
    """Record what is wrong now; None: nothing is."""
    kind = CLUSTER_RECOVERED if degraded is None else CLUSTER_DEGRADED
    await record(connection, kind, project_id=ids["project_id"], subject_id=ids["cluster_id"], data=degraded)


def _sentences(faults: Sequence[_Fault], credited: int, cluster: _Cluster, repair: OpenRepair | None) -> Iterator[str]:
    """What is wrong, and what happens next."""
    if not faults:
        return
    if any(fault.code is Code.ALLOCATION_LOST for fault in faults):
        yield f"The V-IPU controller has lost allocation {cluster.external_name} with its partitions. "
    named = [fault for fault in faults if fault.code is not Code.ALLOCATION_LOST]
    for fault in named[:NAMED]:
        yield f"{_WORDS[fault.kind]} {fault.name}: {fault.message} "
    if len(named) > NAMED:
        yield f"{len(named) - NAMED} more faults. "
    following = _next(faults, cluster, repair)
    if credited == 0:
        yield f"{following}. " if following else ""
        yield "Minutes are billed as before."
    else:
        whole = (
            "the cluster is"
            if credited == cluster.machines
            else f"{credited} of {cluster.machines} machines {'is' if credited == 1 else 'are'}"
        )
        following = following or "An operator has to repair this"
        codes = {fault.code for fault in faults if fault.credited}
        by_itself = _BY_ITSELF.get(codes.pop()) if len(codes) == 1 else None
        yield by_itself or f"{following}; until then"
        yield f", {whole} not billed."


def _next(faults: Sequence[_Fault], cluster: _Cluster, repair: OpenRepair | None) -> str | None:
    """When the cluster gets other hardware; None if that would repair nothing."""
    repairable = [fault for fault in faults if fault.repairable]
    if not repairable or cluster.allocated_through is not AllocatedThrough.V_IPU:
        return None
    if repair is not None and repair.waits_for is not None:
        return _WAITING[repair.waits_for]
    if repair is not None and repair.reason == "fault":
        disk = any(fault.kind == "poplar_server" for fault in repairable)
        lost = ", without the disk of the failed Poplar server" if disk else ""
        return f"The cluster gets other hardware at {repair.starts_at:%Y-%m-%d %H:%M} UTC{lost}"
    if cluster.auto_repair:
        return "A repair is being scheduled"
    return "Automatic repair is off: request a repair when it suits you"


def _event(faults: Sequence[_Fault], reason: str | None, credited: int) -> ClusterDegraded:
    shown = [ClusterFault(**{name: getattr(fault, name) for name in ClusterFault.model_fields}) for fault in faults]
    return ClusterDegraded(reason=reason, faults=shown, credited_machines=credited)
