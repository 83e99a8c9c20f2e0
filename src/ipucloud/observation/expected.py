"""The hardware of a region and what it is used for, as the database has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.site.ports import VipuAddress

IN_USE = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""States of a cluster whose customer works with it: its machines are on, its servers run."""


class Holder(NamedTuple):
    """The cluster that has a live allocation of an object."""

    cluster_id: UUID
    project_id: UUID
    state: ClusterState

    @property
    def in_use(self) -> bool:
        return self.state in IN_USE


class Machine(NamedTuple):
    """An IPU machine. `is_server`: it is a host itself, and not under V-IPU."""

    id: UUID
    name: str
    pod_id: UUID
    is_server: bool
    holder: Holder | None

    @property
    def in_use(self) -> bool:
        return self.holder is not None and self.holder.in_use


class Server(NamedTuple):
    """A Poplar server as it was built: its state, and where and with which key it answers."""

    name: str
    state: str
    ssh_host: str | None
    ssh_port: int | None
    host_key: str | None


class Host(NamedTuple):
    """A host, and the Poplar server on it."""

    id: UUID
    name: str
    holder: Holder | None
    server: Server | None

    @property
    def running_server(self) -> Server | None:
        """The server that a customer works with now."""
        if self.holder is None or not self.holder.in_use or self.server is None or self.server.state != "running":
            return None
        return self.server


@dataclass(frozen=True)
class Expected:
    """A region's hardware and the address of its controller."""

    region: str
    vipu: VipuAddress | None
    machines: list[Machine]
    hosts: list[Host]


class _Region(NamedTuple):
    vipu: VipuAddress | None


_REGION = Query(
    """
    SELECT vipu_host AS host, vipu_user_port AS user_port, vipu_admin_port AS admin_port, vipu_secure AS secure
      FROM site_regions WHERE region = :region
    """,
    _Region,
)
_MACHINES = Query(
    """
    SELECT m.id, m.name, m.pod_id, own.id IS NOT NULL AS is_server, c.id AS cluster_id, c.project_id, c.state
      FROM pods p
      JOIN machines m ON m.pod_id = p.id
      LEFT JOIN hosts own ON own.machine_id = m.id
      LEFT JOIN allocations a ON a.machine_id = m.id AND a.freed_at IS NULL
      LEFT JOIN clusters c ON c.project_id = a.project_id AND c.id = a.cluster_id
     WHERE p.region = :region
    """,
    Machine,
)
_HOSTS = Query(
    """
    SELECT h.id, h.name, c.id AS cluster_id, c.project_id, c.state,
           s.name, s.state, s.ssh_host, s.ssh_port, s.host_key
      FROM hosts h
      LEFT JOIN allocations a ON a.host_id = h.id AND a.freed_at IS NULL
      LEFT JOIN clusters c ON c.project_id = a.project_id AND c.id = a.cluster_id
      LEFT JOIN poplar_servers s
             ON s.project_id = a.project_id AND s.cluster_id = a.cluster_id AND s.ordinal = a.ordinal
     WHERE h.region = :region
    """,
    Host,
)


async def read_expected(connection: Statements, region: str) -> Expected | None:
    """None when the region is not registered."""
    asked = {"region": region}
    found = await _REGION.one_or_none(connection, asked)
    if found is None:
        return None
    return Expected(region, found.vipu, await _MACHINES.all(connection, asked), await _HOSTS.all(connection, asked))
