"""What should exist at the sites according to the database, as of one instant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.engine import Database
from ipucloud.invariants.states import STATES
from ipucloud.kernel.ids import read_external_name
from ipucloud.site.ports import VipuAddress


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """A cluster that holds hardware or is not gone. `servers` maps its hosts to the servers on them.

    `through_vipu`: its machines are under V-IPU; otherwise they are its hosts. `made_room`: its customer had the
    partition removed that was made with it.
    """

    id: UUID
    project_id: UUID
    name: str
    region: str
    state: ClusterState
    through_vipu: bool
    made_room: bool
    machines: frozenset[str]
    servers: Mapping[str, str]


@dataclass(frozen=True)
class Records:
    """`living` clusters by external name; the regions' controllers; the names of all machines and hosts."""

    living: Mapping[str, ClusterRecord]
    regions: Mapping[str, VipuAddress | None]
    hardware: Mapping[str, frozenset[str]]

    @cached_property
    def servers(self) -> frozenset[str]:
        """The Poplar servers on the hosts of living clusters, under the names that they were given."""
        return frozenset(server for cluster in self.living.values() for server in cluster.servers.values())

    @cached_property
    def holder(self) -> Mapping[str, ClusterRecord]:
        """The cluster that holds the machine or host of this name."""
        return {name: cluster for cluster in self.living.values() for name in (*cluster.machines, *cluster.servers)}


_CLUSTERS = sa.text(
    """
    SELECT c.id, c.project_id, c.external_name, c.region, c.state, c.allocated_through, held.machines, held.servers,
           EXISTS (SELECT FROM partitions p
                    WHERE p.project_id = c.project_id AND p.cluster_id = c.id AND p.external_name = c.external_name
                      AND p.desired_state = 'absent') AS made_room
      FROM clusters c
      LEFT JOIN (
        SELECT a.cluster_id, array_agg(m.name) FILTER (WHERE m.id IS NOT NULL) AS machines,
               json_object_agg(h.name, coalesce(s.name, '')) FILTER (WHERE h.id IS NOT NULL) AS servers
          FROM allocations a
          LEFT JOIN machines m ON m.id = a.machine_id
          LEFT JOIN hosts h ON h.id = a.host_id
          LEFT JOIN poplar_servers s
                 ON h.id IS NOT NULL AND s.project_id = a.project_id AND s.cluster_id = a.cluster_id
                AND s.ordinal = a.ordinal
         WHERE a.freed_at IS NULL
         GROUP BY a.cluster_id) AS held ON held.cluster_id = c.id
     WHERE c.state <> ALL (:gone) OR held.cluster_id IS NOT NULL
    """
)
_REGIONS = sa.text("SELECT region, vipu_host, vipu_user_port, vipu_admin_port, vipu_secure FROM site_regions")
_HARDWARE = sa.text(
    """
    SELECT p.region, array_agg(m.name) AS names FROM machines m JOIN pods p ON p.id = m.pod_id GROUP BY p.region
    UNION ALL
    SELECT region, array_agg(name) FROM hosts GROUP BY region
    """
)
_EVER = sa.text("SELECT id, incarnation, project_id FROM clusters WHERE id = ANY (CAST(:ids AS uuid[]))")


async def read_records(database: Database) -> Records:
    """Raises `Problem` unavailable."""
    async with database.read() as connection:
        clusters = [_cluster(row) for row in await connection.execute(_CLUSTERS, dict(STATES))]
        regions = {
            row.region: VipuAddress.of(row.vipu_host, row.vipu_user_port, row.vipu_admin_port, row.vipu_secure)
            for row in await connection.execute(_REGIONS)
        }
        hardware: dict[str, frozenset[str]] = dict.fromkeys(regions, frozenset())
        for row in await connection.execute(_HARDWARE):
            hardware[row.region] = hardware.get(row.region, frozenset()) | frozenset(row.names)
    return Records({cluster.name: cluster for cluster in clusters}, regions, hardware)


async def ever_ours(database: Database, names: Collection[str]) -> dict[str, UUID]:
    """Which of the names belong to any incarnation of any cluster, with its project."""
    read = {name: found for name in names if (found := read_external_name(name)) is not None}
    async with database.read() as connection:
        rows = await connection.execute(_EVER, {"ids": sorted({cluster for cluster, _ in read.values()})})
        known = {row.id: row for row in rows}
    return {
        name: known[cluster].project_id
        for name, (cluster, incarnation) in read.items()
        if cluster in known and 1 <= incarnation <= known[cluster].incarnation
    }


def _cluster(row: sa.Row[Any]) -> ClusterRecord:
    return ClusterRecord(
        id=row.id,
        project_id=row.project_id,
        name=row.external_name,
        region=row.region,
        state=ClusterState(row.state),
        through_vipu=row.allocated_through == AllocatedThrough.V_IPU,
        made_room=row.made_room,
        machines=frozenset(row.machines or ()),
        servers=row.servers or {},
    )
