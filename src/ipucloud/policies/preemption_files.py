"""Brings the notice of a preemptible cluster to its Poplar servers, and records which of them have it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.preemption.server_files import PREEMPTION_FILES, note_seen
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Hosts, SiteError, Sites

log = structlog.get_logger(__name__)

WAITING_SECONDS = 5.0
"""Between two attempts at a server whose site does not answer, or refuses."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs and was not seen to have the present notice."""

    ordinal: int
    generation: int
    name: str
    host: str


@dataclass(frozen=True, slots=True)
class NoticeInputs:
    """`preempt_at` None: the servers are to have no notice."""

    project_id: UUID
    cluster_id: UUID
    network: str
    revision: int
    preempt_at: datetime | None
    servers: tuple[Server, ...]


class _Row(NamedTuple):
    leased: bool
    project_id: UUID | None
    cluster_id: UUID | None
    state: ClusterState | None
    network: str | None
    revision: int | None
    preempt_at: datetime | None
    servers: list[dict[str, Any]]


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, c.project_id, c.id AS cluster_id, c.state, c.external_name AS network,
           c.notice_revision AS revision,
           (SELECT notice.preempt_at FROM preemptions AS notice
             WHERE (notice.project_id, notice.cluster_id) = (c.project_id, c.id)
               AND notice.ended_at IS NULL) AS preempt_at,
           (SELECT coalesce(json_agg(json_build_object(
                     'ordinal', s.ordinal, 'generation', s.generation, 'name', s.name, 'host', h.name)
                     ORDER BY s.ordinal), '[]')
              FROM poplar_servers AS s
              JOIN allocations AS held
                ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
               AND held.host_id IS NOT NULL AND held.released_at IS NULL
              JOIN hosts AS h ON h.id = held.host_id
             WHERE (s.project_id, s.cluster_id) = (c.project_id, c.id) AND s.state = 'running'
               AND s.notice_revision IS DISTINCT FROM c.notice_revision) AS servers
      FROM work AS w LEFT JOIN clusters AS c ON c.id = CAST(w.key AS uuid)
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)
_LOCK = sa.text("SELECT FROM clusters WHERE project_id = :project_id AND id = :cluster_id FOR NO KEY UPDATE")


class PreemptionFileReconciler:
    """The notice on the servers of one cluster in use. A server that is switched off has lost it."""

    kind = PREEMPTION_FILES

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    async def load(self, connection: Statements, item: WorkItem) -> NoticeInputs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if row.cluster_id is None or row.project_id is None or row.network is None or not row.revision:
            return Done()
        if row.state not in BILLABLE:
            # What restarts or is rebuilt comes back with its notice; what is suspended or deleted needs none.
            return Wait("the cluster is not in use", recheck=WAITING_SECONDS) if row.preempt_at else Done()
        if not row.servers:
            return Done()
        servers = tuple(Server(**each) for each in row.servers)
        return NoticeInputs(row.project_id, row.cluster_id, row.network, row.revision, row.preempt_at, servers)

    async def act(self, item: WorkItem, inputs: NoticeInputs) -> Sequence[int | None]:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        hosts = self._sites.at(None, item.remaining).hosts
        return await asyncio.gather(*(_put(hosts, inputs, server) for server in inputs.servers))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: NoticeInputs, result: Sequence[int | None]
    ) -> Outcome:
        ids = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
        await connection.execute(_LOCK, ids)
        for server, revision in zip(inputs.servers, result, strict=True):
            if revision is not None:
                values = {
                    "network": inputs.network,
                    "ordinal": server.ordinal,
                    "generation": server.generation,
                    "revision": revision,
                }
                await note_seen(connection, ids | values)
        failpoint("preemption_files.recorded")
        waiting = [server.name for server, revision in zip(inputs.servers, result, strict=True) if revision is None]
        return (
            Wait(f"the site does not say that {waiting[0]} has the notice", recheck=WAITING_SECONDS)
            if waiting
            else Done()
        )


async def _put(hosts: Hosts, cluster: NoticeInputs, server: Server) -> int | None:
    """The revision that the server has now; None: that is not known."""
    try:
        host = await hosts.put_preemption(
            server.host, server.name, cluster.network, cluster.preempt_at, revision=cluster.revision
        )
    except SiteError as error:
        log.info("preemption_notice_not_put", server=server.name, error=str(error))
        return None
    shown = host.preemption
    return shown.revision if shown is not None and shown.revision >= cluster.revision else None
