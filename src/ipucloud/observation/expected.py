"""The hardware of a region and what it is used for, as the database has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.sync import controller
from ipucloud.site.ports import VipuAddress

IN_USE = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""States of a cluster whose customer works with it: its machines are on, its servers run."""


class Holder(NamedTuple):
    """The cluster that has a live allocation of an object, and its name at the site."""

    cluster_id: UUID
    project_id: UUID
    state: ClusterState
    external_name: str

    @property
    def in_use(self) -> bool:
        return self.state in IN_USE


class Machine(NamedTuple):
    """An IPU machine, and the V-IPU controller that it is under. `is_server`: it is a host itself, and under none."""

    id: UUID
    name: str
    pod_id: UUID
    is_server: bool
    controller: str | None
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


class BrokenPartition(NamedTuple):
    """A partition that its controller showed in error, or that is being reset, and its machines.

    `blamed`: those with a credited report of another fault that is live, or ended while the partition was in error.
    `reported`: those with a live report of the partition itself.
    """

    name: str
    resetting: bool
    machines: list[UUID]
    blamed: list[UUID]
    reported: list[UUID]


@dataclass(frozen=True)
class Expected:
    """A region's hardware, its controllers, and the partitions that do not work."""

    region: str
    controllers: Sequence[VipuAddress]
    machines: list[Machine]
    hosts: list[Host]
    broken: list[BrokenPartition] = field(default_factory=list)


_REGION = Query("SELECT region FROM site_regions WHERE region = :region", str)
_CONTROLLERS = Query(
    f"""
    SELECT {controller("v")}
      FROM vipu_controllers v WHERE region = :region ORDER BY name
    """,  # noqa: S608  # our own text
    VipuAddress,
)
_MACHINES = Query(
    """
    SELECT m.id, m.name, m.pod_id, own.id IS NOT NULL AS is_server, p.controller, c.id AS cluster_id,
           c.project_id, c.state, c.external_name
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
    SELECT h.id, h.name, c.id AS cluster_id, c.project_id, c.state, c.external_name,
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
# Partitions that customers made at the controller are theirs to reset, and say nothing about the hardware.
_BROKEN = Query(
    """
    SELECT p.external_name AS name, p.state = 'resetting' AS resetting, array_agg(m.id) AS machines,
           coalesce(array_agg(m.id) FILTER (WHERE known.blamed), '{}') AS blamed,
           coalesce(array_agg(m.id) FILTER (WHERE known.reported), '{}') AS reported
      FROM partitions p
      JOIN clusters c ON c.project_id = p.project_id AND c.id = p.cluster_id
      JOIN allocations a ON a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
      JOIN machines m ON m.id = a.machine_id
      LEFT JOIN LATERAL (
        SELECT bool_or(r.code <> 'partition_error' AND r.credited) AS blamed,
               bool_or(r.code = 'partition_error' AND r.cleared_at IS NULL) AS reported
          FROM health_reports r
         WHERE r.machine_id = m.id AND (r.cleared_at IS NULL OR r.cleared_at >= p.state_entered_at)) AS known ON true
     WHERE c.region = :region AND p.state IN ('error', 'resetting') AND p.removed_at IS NULL AND p.origin <> 'customer'
       AND p.observed -> 'ipus' @> jsonb_build_array(jsonb_build_object('machine', m.name))
     GROUP BY p.id
    """,
    BrokenPartition,
)


async def read_expected(connection: Statements, region: str) -> Expected | None:
    """None when the region is not registered."""
    parameters = {"region": region}
    if await _REGION.one_or_none(connection, parameters) is None:
        return None
    return Expected(
        region,
        await _CONTROLLERS.all(connection, parameters),
        await _MACHINES.all(connection, parameters),
        await _HOSTS.all(connection, parameters),
        await _BROKEN.all(connection, parameters),
    )
