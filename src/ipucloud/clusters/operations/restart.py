"""Restarting Poplar servers of a cluster in use: by their operating system, or by cutting their power.

The cluster stays in use: partitions stay, and so does billing. Programs on the servers end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import step_objects
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locks import in_the_way, lock_cluster
from ipucloud.clusters.operations.begin import begin, repeated
from ipucloud.clusters.operations.effects import record_servers
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.steps.restart import Boots, note_boots, power_cycle_servers, reboot_servers, settle_servers
from ipucloud.config import Settings
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.kind import Billing, Repeated, Undo
from ipucloud.operations.results import Achieved
from ipucloud.operations.step import Stage
from ipucloud.operations.store import Accepted

DEADLINE = 900.0
"""Seconds after which a server that does not come back fails the operation."""

_BOOT = sa.text(
    """
    UPDATE poplar_servers SET boot_before = :boot_id
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND ordinal = :ordinal AND state = 'rebooting'
    """
)
_SETTLE = sa.text(
    """
    UPDATE poplar_servers SET state = 'running', boot_before = NULL
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND (state = 'rebooting' OR boot_before IS NOT NULL)
    """
)


async def _record_boots(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    if not isinstance(achieved, Boots):
        raise TypeError("boots are recorded from the answers of their hosts")
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id}
    await connection.execute(
        _BOOT, [ids | {"ordinal": ordinal, "boot_id": boot} for ordinal, boot in achieved.ids.items()]
    )
    failpoint("cluster.boots_recorded")


async def _finish(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    await connection.execute(_SETTLE, {"project_id": cluster.project_id, "cluster_id": cluster.id})
    failpoint("cluster.servers_settled")


async def _record_restarted(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    await record_servers(connection, cluster, achieved)
    await _finish(connection, cluster, achieved)


_kind = partial(
    ClusterKind,
    work_kind=WORK_KIND,
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    during=None,
    success=None,
    cancellable=True,
    repeated=Repeated.JOINS,
    billing=Billing.UNCHANGED,
    deadline=DEADLINE,
    preceding=(),
    replacing=(),
    beside_partitions=True,
)
_step = partial(ClusterStep, stage=Stage("CLUSTER_REBOOT", 120), asks=step_objects.hosts)
_NOTE = _step(name="note_boots", act=note_boots, on_success=_record_boots)
_SETTLING = (_step(name="settle_servers", act=settle_servers, endures=True, on_success=_finish),)
_CONSEQUENCE = "A server that is not back is watched like any other: what is wrong is shown as a fault, and repaired."

REBOOT = _kind(
    name="cluster.reboot",
    steps=(_NOTE, _step(name="reboot_servers", act=reboot_servers, on_success=_record_restarted)),
    undo=Undo(steps=_SETTLING, what="the reboot", cancelled=None, failed=None),
    failure=fails_with(_CONSEQUENCE, "Reboot again, or cut the power with a power cycle"),
)
POWER_CYCLE = _kind(
    name="cluster.power-cycle",
    steps=(_NOTE, _step(name="power_cycle_servers", act=power_cycle_servers, on_success=_record_restarted)),
    undo=Undo(steps=_SETTLING, what="the power cycle", cancelled=None, failed=None),
    failure=fails_with(_CONSEQUENCE, "Request the power cycle again"),
)


class _Server(NamedTuple):
    name: str
    state: str


_SERVERS = Query(
    """
    SELECT name, state FROM poplar_servers WHERE project_id = :project_id AND cluster_id = :cluster_id ORDER BY ordinal
    """,
    _Server,
)
_RESTART = sa.text(
    """
    UPDATE poplar_servers SET state = 'rebooting', boot_before = NULL
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND name = ANY (CAST(:names AS text[]))
    """
)


async def restart(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    *,
    servers: Sequence[str] | None,
    hard: bool,
    if_match: int | None,
    settings: Settings,
) -> Accepted:
    """Record the restart of the servers of these names; None: of all. `hard`: a power cycle.

    Raises `Problem`: not_found, precondition_failed, validation_failed for a server that the cluster does not have,
    operation_in_progress, state_conflict for a cluster that is not in use.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("restart.cluster_locked")
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    known = {server.name: server.state for server in await _SERVERS.all(connection, ids)}
    names = set(known if servers is None else servers)
    kind = POWER_CYCLE if hard else REBOOT
    running = await repeated(connection, actor, cluster, kind, if_match=if_match)
    if running is not None:
        if names != {name for name, state in known.items() if state == "rebooting"}:
            raise in_the_way(running.operation_id)
        return running
    if cluster.state not in kind.begins_in:
        raise Problem(
            STATE_CONFLICT, f"Only servers of a cluster in use can be restarted; this cluster is {cluster.state}."
        )
    _refuse_unknown(servers or (), known)
    deadline = min(DEADLINE, settings.create_deadline)
    accepted = await begin(connection, actor, cluster, kind, deadline_seconds=deadline)
    await connection.execute(_RESTART, ids | {"names": sorted(names)})
    failpoint("restart.servers_chosen")
    return accepted


def _refuse_unknown(servers: Sequence[str], known: Collection[str]) -> None:
    has = f"The cluster has no such Poplar server; it has {', '.join(known)}."
    faults = [
        FieldError(f"/poplar_servers/{place}", "unknown_server", has)
        for place, name in enumerate(servers)
        if name not in known
    ]
    if faults:
        raise Problem(VALIDATION_FAILED, "Nothing is restarted; `errors` says why.", faults)
