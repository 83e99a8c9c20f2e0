"""What the servers of a cluster are to have beside their system, under a revision, without an operation.

A column of `clusters` counts the changes of a setting, a column of the same name of `poplar_servers` has the revision
that the server was seen to have. A work item for each cluster brings it to the servers that lack it. The site
refuses a revision below that which a server has, so that a late request changes nothing.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.clusters import ClusterState
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.reconcile.outcomes import Done, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.reconcile.wake import AWAKE, WAKE
from ipucloud.site.ports import Hosts, SiteError, Sites
from ipucloud.wire.site import Host

log = structlog.get_logger(__name__)

Content = TypeVar("Content")
_OVER = frozenset({ClusterState.ERROR, ClusterState.DELETING, ClusterState.DELETED})


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was not seen to have the present revision."""

    ordinal: int
    generation: int
    name: str
    host: str


@dataclass(frozen=True, slots=True)
class SettingInputs(Generic[Content]):
    project_id: UUID
    cluster_id: UUID
    network: str
    revision: int
    servers: tuple[Server, ...]
    content: Content = field(repr=False)


class SettingRow(NamedTuple):
    """`content`: what the statement gives as JSON."""

    leased: bool
    project_id: UUID | None
    cluster_id: UUID | None
    state: ClusterState | None
    network: str | None
    revision: int | None
    servers: list[dict[str, Any]]
    content: list[Any]


RUNS = "s.state = 'running'"
EXISTS = "s.state IN ('running', 'rebooting', 'rebuilding')"
"""Which servers a setting is brought to: those that run, or also those that restart meanwhile."""


def loading(revision: str, content: str, which: str = RUNS) -> Query[SettingRow]:
    """The statement of a reconciler; `content`: SQL of a JSON list, what the servers of `clusters AS c` are to have."""
    return Query(
        f"""
    SELECT w.lease_until > app_now() AS leased, c.project_id, c.id AS cluster_id, c.state, c.external_name AS network,
           c.{revision} AS revision,
           (SELECT coalesce(json_agg(json_build_object(
                     'ordinal', s.ordinal, 'generation', s.generation, 'name', s.name, 'host', h.name)
                     ORDER BY s.ordinal), '[]')
              FROM poplar_servers AS s
              JOIN allocations AS held
                ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
               AND held.host_id IS NOT NULL AND held.released_at IS NULL
              JOIN hosts AS h ON h.id = held.host_id
             WHERE (s.project_id, s.cluster_id) = (c.project_id, c.id) AND {which}
               AND s.{revision} IS DISTINCT FROM c.{revision}) AS servers,
           {content} AS content
      FROM work AS w LEFT JOIN clusters AS c ON c.id = CAST(w.key AS uuid)
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,  # noqa: S608  # our own text
        SettingRow,
    )


def seeing(values: str, which: str = RUNS) -> sa.TextClause:
    """The statement that records what a server was seen to have: `values` are assignments to `poplar_servers AS s`.

    A server that was rebuilt, or is of a later network, was not the one that answered.
    """
    return sa.text(
        f"""
    UPDATE poplar_servers s
       SET {values}
      FROM clusters c
     WHERE c.project_id = :project_id AND c.id = :cluster_id AND c.external_name = :network
       AND s.project_id = c.project_id AND s.cluster_id = c.id AND s.ordinal = :ordinal
       AND s.generation = :generation AND {which}
    """  # noqa: S608  # our own text
    )


def changing(revision: str, more: str = "") -> sa.TextClause:
    """The statement that counts a change for locked clusters, with `more` assignments, and wakes their work items."""
    return sa.text(
        clauses(
            f"""
        WITH changed AS (
          UPDATE clusters SET {revision} = {revision} + 1{more}
           WHERE project_id = :project_id AND id = ANY (CAST(:clusters AS uuid[]))
          RETURNING id, project_id
        )
        """,  # noqa: S608  # our own text
            WAKE,
            "SELECT :kind, id::text, project_id, app_now() FROM changed ORDER BY id",
            AWAKE,
        )
    )


def renewing(revision: str) -> sa.TextClause:
    """The statement that has servers which started looked at again, if their cluster ever had the setting."""
    return sa.text(
        clauses(
            f"""
        WITH again AS (
          UPDATE poplar_servers s SET {revision} = NULL
            FROM clusters c
           WHERE c.project_id = :project_id AND c.id = :cluster_id AND c.{revision} > 0
             AND s.project_id = c.project_id AND s.cluster_id = c.id AND s.ordinal = ANY (CAST(:ordinals AS integer[]))
          RETURNING c.id, c.project_id
        )
        """,  # noqa: S608  # our own text
            WAKE,
            "SELECT DISTINCT :kind, id::text, project_id, app_now() FROM again",
            AWAKE,
        )
    )


_LOCK = sa.text("SELECT FROM clusters WHERE project_id = :project_id AND id = :cluster_id FOR NO KEY UPDATE")


class SettingReconciler(ABC, Generic[Content]):
    """One setting of one cluster.

    `waiting`: seconds between two attempts at a server whose site does not answer, or refuses. `what` it is, in the
    sentence that says so.
    """

    kind: str
    statement: ClassVar[Query[SettingRow]]
    seen: ClassVar[sa.TextClause]
    waiting: ClassVar[float]
    what: ClassVar[str]

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    @abstractmethod
    def content(self, row: SettingRow) -> Content | Outcome:
        """What the servers are to have."""

    @abstractmethod
    async def put(self, hosts: Hosts, cluster: SettingInputs[Content], server: Server) -> Host:
        """Ask the site for it. Raises SiteError."""

    @abstractmethod
    def shown(self, host: Host) -> Mapping[str, object] | None:
        """What the server has, as parameters of `seen`, `revision` among them; None: it never had one."""

    def idle(self, row: SettingRow) -> Outcome | None:
        """Why nothing is to be done in this state of the cluster; a server that starts wakes the item again."""
        return Done() if row.state in _OVER else None

    async def load(self, connection: Statements, item: WorkItem) -> SettingInputs[Content] | Outcome:
        row = await inputs_of(connection, self.statement, item)
        if row.cluster_id is None or row.project_id is None or row.network is None or not row.revision:
            return Done()
        if (idle := self.idle(row)) is not None:
            return idle
        if not row.servers:
            return Done()
        content = self.content(row)
        if isinstance(content, Outcome):
            return content
        servers = tuple(Server(**each) for each in row.servers)
        return SettingInputs(row.project_id, row.cluster_id, row.network, row.revision, servers, content)

    async def act(
        self, item: WorkItem, inputs: SettingInputs[Content]
    ) -> Sequence[tuple[Server, Mapping[str, object] | None]]:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), cluster_id=str(inputs.cluster_id))
        hosts = self._sites.at(None, item.remaining).hosts
        answers = await asyncio.gather(*(self._put(hosts, inputs, server) for server in inputs.servers))
        return [*zip(inputs.servers, answers, strict=True)]

    async def apply(
        self,
        connection: AsyncConnection,
        item: WorkItem,
        inputs: SettingInputs[Content],
        result: Sequence[tuple[Server, Mapping[str, object] | None]],
    ) -> Outcome:
        ids = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id, "network": inputs.network}
        await connection.execute(_LOCK, ids)
        waiting: list[str] = []
        for server, values in result:
            if values is None:
                waiting.append(server.name)
            else:
                of_server = {"ordinal": server.ordinal, "generation": server.generation}
                seen = await connection.execute(self.seen, {**ids, **of_server, **values})
                if seen.rowcount == 0:  # it was rebuilt meanwhile, or ends: look again
                    waiting.append(server.name)
        return Wait(f"the site does not say that {waiting[0]} has {self.what}", self.waiting) if waiting else Done()

    async def _put(self, hosts: Hosts, cluster: SettingInputs[Content], server: Server) -> Mapping[str, object] | None:
        """What the server has now; None: that is not known."""
        try:
            host = await self.put(hosts, cluster, server)
        except SiteError as error:
            log.info("server_setting_not_put", kind=self.kind, server=server.name, error=str(error))
            return None
        values = self.shown(host)
        return values if values is not None and int(str(values["revision"])) >= cluster.revision else None
