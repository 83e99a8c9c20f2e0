"""Brings a cluster's S3 connections to its Poplar servers, and records what each was seen to have."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.connections import secret_place
from ipucloud.clusters.s3_access import S3_ACCESS
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.sealing import Keys, SealingError, unseal
from ipucloud.reconcile.outcomes import Done, Outcome, Retry, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Hosts, SiteError, Sites
from ipucloud.wire.site import S3Remote, S3Seen

log = structlog.get_logger(__name__)

WAITING_SECONDS = 30.0
"""Between two attempts at a server whose site does not answer, or refuses."""

_OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs and was not seen to have the cluster's connections."""

    ordinal: int
    generation: int
    name: str
    host: str


@dataclass(frozen=True, slots=True)
class S3Inputs:
    project_id: UUID
    cluster_id: UUID
    network: str
    revision: int
    servers: tuple[Server, ...]
    remotes: tuple[S3Remote, ...] = field(repr=False)


class _Row(NamedTuple):
    leased: bool
    project_id: UUID | None
    cluster_id: UUID | None
    state: ClusterState | None
    network: str | None
    revision: int | None
    servers: list[dict[str, Any]]
    connections: list[dict[str, str]]


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, c.project_id, c.id AS cluster_id, c.state, c.external_name AS network,
           c.s3_revision AS revision,
           (SELECT coalesce(json_agg(json_build_object(
                     'ordinal', s.ordinal, 'generation', s.generation, 'name', s.name, 'host', h.name)
                     ORDER BY s.ordinal), '[]')
              FROM poplar_servers AS s
              JOIN allocations AS held
                ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
               AND held.host_id IS NOT NULL AND held.released_at IS NULL
              JOIN hosts AS h ON h.id = held.host_id
             WHERE (s.project_id, s.cluster_id) = (c.project_id, c.id) AND s.state = 'running'
               AND s.s3_revision IS DISTINCT FROM c.s3_revision) AS servers,
           (SELECT coalesce(json_agg(json_build_object(
                     'id', k.id, 'name', k.name, 'endpoint', k.endpoint, 'region', k.region, 'bucket', k.bucket,
                     'prefix', k.prefix, 'access_key_id', k.access_key_id, 'secret', k.secret) ORDER BY a.place), '[]')
              FROM cluster_s3_connections AS a
              JOIN s3_connections AS k ON (k.project_id, k.id) = (a.project_id, a.connection_id)
             WHERE (a.project_id, a.cluster_id) = (c.project_id, c.id)) AS connections
      FROM work AS w LEFT JOIN clusters AS c ON c.id = CAST(w.key AS uuid)
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)
_LOCK = sa.text("SELECT FROM clusters WHERE project_id = :project_id AND id = :cluster_id FOR NO KEY UPDATE")
# A server that was rebuilt, or is of a later network, was not the one that answered.
_SEEN = sa.text(
    """
    UPDATE poplar_servers s
       SET s3_revision = :revision, s3_connections = CAST(:connections AS jsonb), s3_mounts = CAST(:mounts AS jsonb),
           s3_observed_at = app_now()
      FROM clusters c
     WHERE c.project_id = :project_id AND c.id = :cluster_id AND c.external_name = :network
       AND s.project_id = c.project_id AND s.cluster_id = c.id AND s.ordinal = :ordinal
       AND s.generation = :generation AND s.state = 'running'
    """
)


class S3Reconciler:
    """The S3 connections of one cluster. `keys` decrypt their secrets."""

    kind = S3_ACCESS

    def __init__(self, sites: Sites, *, keys: Keys | None) -> None:
        self._sites = sites
        self._keys = keys

    async def load(self, connection: Statements, item: WorkItem) -> S3Inputs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if row.cluster_id is None or row.project_id is None or row.network is None or not row.revision:
            return Done()
        if row.state in _OVER or not row.servers:
            return Done()  # it is woken when its servers have started
        try:
            remotes = tuple(self._remote(row.project_id, each) for each in row.connections)
        except SealingError:
            return Retry("a secret of an S3 connection cannot be decrypted", after=WAITING_SECONDS)
        servers = tuple(Server(**each) for each in row.servers)
        return S3Inputs(row.project_id, row.cluster_id, row.network, row.revision, servers, remotes)

    async def act(self, item: WorkItem, inputs: S3Inputs) -> Sequence[S3Seen | str]:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        hosts = self._sites.at(None, item.remaining).hosts
        return await asyncio.gather(*(_put(hosts, inputs, server) for server in inputs.servers))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: S3Inputs, result: Sequence[S3Seen | str]
    ) -> Outcome:
        ids = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
        await connection.execute(_LOCK, ids)
        waiting: list[str] = []
        for server, answer in zip(inputs.servers, result, strict=True):
            if isinstance(answer, str):
                waiting.append(answer)
                continue
            values = {
                "network": inputs.network,
                "ordinal": server.ordinal,
                "generation": server.generation,
                "revision": answer.revision,
                "connections": orjson.dumps(answer.connections).decode(),
                "mounts": orjson.dumps(answer.mounts).decode(),
            }
            await connection.execute(_SEEN, ids | values)
        failpoint("s3_access.recorded")
        return Wait(waiting[0], recheck=WAITING_SECONDS) if waiting else Done()

    def _remote(self, project_id: UUID, stored: dict[str, str]) -> S3Remote:
        """Raises SealingError."""
        if self._keys is None:
            raise SealingError("no key")
        secret = unseal(self._keys, stored["secret"], secret_place(UUID(stored["id"]), project_id))
        return S3Remote.model_validate(stored | {"secret": secret})


async def _put(hosts: Hosts, cluster: S3Inputs, server: Server) -> S3Seen | str:
    """What the server has now, or why that is not known."""
    try:
        host = await hosts.put_s3(server.host, server.name, cluster.network, cluster.remotes, revision=cluster.revision)
    except SiteError as error:
        log.info("s3_connections_not_put", server=server.name, error=str(error))
        return f"the site did not take the S3 connections of {server.name}"
    if host.s3 is None or host.s3.revision < cluster.revision:
        return f"the site does not say that {server.name} has its S3 connections"
    return host.s3
