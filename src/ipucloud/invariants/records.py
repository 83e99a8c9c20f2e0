"""What should exist at the sites according to the database, as of one instant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from ipucloud.clusters.not_working import DEGRADING
from ipucloud.clusters.vipu_access import endpoint
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.invariants.states import STATES
from ipucloud.inventory.sync import controller
from ipucloud.kernel.ids import VALIDATION_PREFIX, read_external_name
from ipucloud.site.ports import VipuAddress
from ipucloud.site.vipu_ports import UserEndpoint


class ClusterRecord(NamedTuple):
    """A cluster that holds hardware or is not gone. `servers` maps its hosts to the servers on them.

    `through_vipu`: its machines are under V-IPU; otherwise they are its hosts. `controller`: the one of its machines,
    None when it holds none. `made_room`: its customer had the partition removed that was made with it. `impaired`: by a
    live health report, one of its machines does not work.
    """

    id: UUID
    project_id: UUID
    name: str
    region: str
    state: ClusterState
    endpoint: UserEndpoint | None
    through_vipu: bool
    controller: str | None
    made_room: bool
    impaired: bool
    machines: list[str]
    servers: dict[str, str]


@dataclass(frozen=True)
class Records:
    """`living` clusters by external name; the controllers of each region; the names of all machines and hosts.

    `isolated`: the hosts that clean-ups have left, which still have their servers until they are cleaned.
    `validations`: the names of those under way.
    """

    living: Mapping[str, ClusterRecord]
    regions: Mapping[str, Sequence[VipuAddress]]
    hardware: Mapping[str, frozenset[str]]
    isolated: frozenset[str]
    validations: frozenset[str]

    @cached_property
    def servers(self) -> frozenset[str]:
        """The Poplar servers on the hosts of living clusters, under the names that they were given."""
        return frozenset(server for cluster in self.living.values() for server in cluster.servers.values())

    @cached_property
    def holder(self) -> Mapping[str, ClusterRecord]:
        """The cluster that holds the machine or host of this name."""
        return {name: cluster for cluster in self.living.values() for name in (*cluster.machines, *cluster.servers)}


class _Region(NamedTuple):
    """A region with one of its controllers, if it has any."""

    region: str
    vipu: VipuAddress | None


class _Hardware(NamedTuple):
    region: str
    names: list[str]


class _Known(NamedTuple):
    """A cluster that exists or existed; its last incarnation."""

    id: UUID
    incarnation: int
    project_id: UUID


_CLUSTERS = Query(
    f"""
    SELECT c.id, c.project_id, c.external_name AS name, c.region, c.state,
           {endpoint("c")},
           c.allocated_through = 'v-ipu' AS through_vipu, held.controller,
           EXISTS (SELECT FROM partitions p
                    WHERE p.project_id = c.project_id AND p.cluster_id = c.id AND p.external_name = c.external_name
                      AND p.desired_state = 'absent') AS made_room,
           EXISTS (SELECT FROM health_reports r JOIN allocations a ON a.machine_id = r.machine_id
                    WHERE a.cluster_id = c.id AND a.freed_at IS NULL AND r.cleared_at IS NULL
                      AND r.code = ANY (:degrading)) AS impaired,
           coalesce(held.machines, '{{}}') AS machines, coalesce(held.servers, '{{}}') AS servers
      FROM clusters c
      LEFT JOIN (
        SELECT a.cluster_id, array_agg(m.name) FILTER (WHERE m.id IS NOT NULL) AS machines,
               json_object_agg(h.name, coalesce(s.name, '')) FILTER (WHERE h.id IS NOT NULL) AS servers,
               max(pod.controller) AS controller
          FROM allocations a
          LEFT JOIN machines m ON m.id = a.machine_id
          LEFT JOIN pods pod ON pod.id = m.pod_id
          LEFT JOIN hosts h ON h.id = a.host_id
          LEFT JOIN poplar_servers s
                 ON h.id IS NOT NULL AND s.project_id = a.project_id AND s.cluster_id = a.cluster_id
                AND s.ordinal = a.ordinal
         WHERE a.freed_at IS NULL
         GROUP BY a.cluster_id) AS held ON held.cluster_id = c.id
     WHERE c.state <> ALL (:gone) OR held.cluster_id IS NOT NULL
    """,  # noqa: S608  # our own text
    ClusterRecord,
)
_REGIONS = Query(
    f"""
    SELECT r.region, {controller("v")}
      FROM site_regions r LEFT JOIN vipu_controllers v ON v.region = r.region
     WHERE r.region = coalesce(:region, r.region) ORDER BY r.region, v.name
    """,  # noqa: S608  # our own text
    _Region,
)
_HARDWARE = Query(
    """
    SELECT p.region, array_agg(m.name) AS names FROM machines m JOIN pods p ON p.id = m.pod_id GROUP BY p.region
    UNION ALL
    SELECT region, array_agg(name) FROM hosts GROUP BY region
    """,
    _Hardware,
)
_ISOLATED = Query(
    """
    SELECT h.name FROM health_reports r JOIN hosts h ON h.id = r.host_id
     WHERE r.code = 'not_clean' AND r.cleared_at IS NULL
    """,
    str,
)
_VALIDATIONS = Query("SELECT DISTINCT name FROM hardware_validations WHERE name IS NOT NULL AND ended_at IS NULL", str)
_VALIDATIONS_EVER = Query("SELECT DISTINCT name FROM hardware_validations WHERE name = ANY (:names)", str)
_EVER = Query("SELECT id, incarnation, project_id FROM clusters WHERE id = ANY (CAST(:ids AS uuid[]))", _Known)


async def read_records(database: Database) -> Records:
    """Raises `Problem` unavailable."""
    async with database.read() as connection:
        clusters = await _CLUSTERS.all(connection, {**STATES, "degrading": sorted(DEGRADING)})
        regions = await _controllers(connection, None)
        hardware: dict[str, frozenset[str]] = dict.fromkeys(regions, frozenset())
        for region, names in await _HARDWARE.all(connection):
            hardware[region] = hardware.get(region, frozenset()) | frozenset(names)
        isolated = frozenset(await _ISOLATED.all(connection))
        validations = frozenset(await _VALIDATIONS.all(connection))
    return Records({cluster.name: cluster for cluster in clusters}, regions, hardware, isolated, validations)


async def ever_ours(database: Database, names: Collection[str]) -> dict[str, UUID]:
    """Which of the names belong to any incarnation of any cluster, with its project."""
    read = {name: parsed for name in names if (parsed := read_external_name(name)) is not None}
    async with database.read() as connection:
        rows = await _EVER.all(connection, {"ids": sorted({cluster for cluster, _ in read.values()})})
    known = {row.id: row for row in rows}
    return {
        name: known[cluster].project_id
        for name, (cluster, incarnation) in read.items()
        if cluster in known and 1 <= incarnation <= known[cluster].incarnation
    }


async def ever_validations(database: Database, names: Collection[str]) -> frozenset[str]:
    """Which of the names belong to any validation."""
    ours = [name for name in names if name.startswith(VALIDATION_PREFIX)]
    async with database.read() as connection:
        return frozenset(await _VALIDATIONS_EVER.all(connection, {"names": ours}))


async def controllers_of(connection: Statements, region: str | None) -> Sequence[VipuAddress]:
    """The addresses of a region's controllers."""
    return [each for addresses in (await _controllers(connection, region)).values() for each in addresses]


async def _controllers(connection: Statements, region: str | None) -> dict[str, list[VipuAddress]]:
    """Those of a region, or of all, by region."""
    regions: dict[str, list[VipuAddress]] = {}
    for row in await _REGIONS.all(connection, {"region": region}):
        regions.setdefault(row.region, []).extend([] if row.vipu is None else [row.vipu])
    return regions
