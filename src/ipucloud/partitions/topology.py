"""A cluster's hardware with its partitions, for drawing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal, NamedTuple
from uuid import UUID

from ipucloud.clusters.observed import faults_of, health_of, observed, wrong
from ipucloud.clusters.vipu_access import endpoint, no_endpoint
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.topology import (
    AccessKeyOut,
    IpuOut,
    LinkOut,
    PartitionSizeOut,
    RackOut,
    TopologyMachineOut,
    TopologyOut,
    TopologyPartitionOut,
    VipuOut,
)
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.sync import controller_of_cluster
from ipucloud.kernel.errors import not_found
from ipucloud.kernel.vipu import DOMAIN_IPUS, IPUS_PER_MACHINE, IpuPlace, chain_positions
from ipucloud.partitions.queries import controller_status
from ipucloud.partitions.requests import no_vipu
from ipucloud.partitions.room import Room, room
from ipucloud.site.vipu_ports import UserEndpoint
from ipucloud.wire.inventory import LinkKind

Machine = Mapping[str, Any]
BareLink = tuple[Literal["ipu-link", "gw-link"], Machine, Machine]


class _Row(NamedTuple):
    """A cluster's hardware, partitions and links, and when the last two were observed."""

    external_name: str
    allocated_through: AllocatedThrough
    endpoint: UserEndpoint | None
    secure: bool | None
    authority: str | None
    machines: list[Machine]
    partitions: list[Mapping[str, Any]]
    observed_at: datetime | None
    links: list[list[Any]]
    links_at: datetime | None


class _Key(NamedTuple):
    name: str
    created_at: datetime


_READ = Query(
    f"""
    SELECT c.external_name, c.allocated_through,
           {endpoint("c")}, v.secure, v.authority,
           coalesce(held.machines, '[]') AS machines, coalesce(known.partitions, '[]') AS partitions,
           known.observed_at, coalesce(l.links, '[]') AS links, l.observed_at AS links_at
      FROM clusters c
      LEFT JOIN vipu_links l ON l.project_id = c.project_id AND l.cluster_id = c.id
      {controller_of_cluster("c", "v")}
      {wrong("c")}
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object(
                 'name', m.name, 'slot', m.slot, 'health', {health_of("m", "observation")},
                 'observed_at', {observed("m", "observation")}, 'faults', {faults_of("m")},
                 'rack', p.name, 'domain', p.position, 'topology', p.topology, 'gateways', p.gateway_topology)
                 ORDER BY p.position, m.slot) AS machines
          FROM allocations a JOIN machines m ON m.id = a.machine_id JOIN pods p ON p.id = m.pod_id
          LEFT JOIN observations observation ON observation.region = c.region AND observation.source = 'bmc'
         WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL) AS held ON true
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object(
                 'id', id, 'name', name, 'partition_id', external_name, 'origin', origin, 'state', state,
                 'state_reason', state_reason, 'controller', {controller_status("partitions")},
                 'size', coalesce(observed, requested) -> 'size', 'ipus', coalesce(observed -> 'ipus', '[]'))
                 ORDER BY created_at, id) AS partitions,
               min(observed_at) AS observed_at
          FROM partitions
         WHERE project_id = c.project_id AND cluster_id = c.id AND removed_at IS NULL) AS known ON true
     WHERE c.project_id = :project_id AND c.id = :cluster_id
    """,  # noqa: S608  # our own text
    _Row,
)
_KEY = Query(
    """
    SELECT name, created_at FROM vipu_access_keys
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND replaced_at IS NULL
    """,
    _Key,
)


async def _read(connection: Statements, project_id: UUID, cluster_id: UUID) -> _Row:
    row = await _READ.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})
    if row is None:
        raise not_found()
    if row.allocated_through is not AllocatedThrough.V_IPU:
        raise no_vipu()
    return row


async def topology(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> TopologyOut:
    """Raises `Problem`: not_found, no_vipu."""
    row = await _read(connection, project_id, cluster_id)
    links = SeenLinks({(kind, *ends): state for kind, ends, state in row.links}, row.links_at)
    return picture(row.machines, row.partitions, row.observed_at, links)


@dataclass(frozen=True, slots=True)
class SeenLinks:
    """The states of links as their controller showed them at the instant `at`, by kind and the names of both ends."""

    states: Mapping[tuple[str, str, str], Literal["up", "degraded", "down"]] = field(default_factory=dict)
    at: datetime | None = None

    def between(self, kind: Literal["ipu-link", "gw-link"], one: Machine, other: Machine) -> LinkOut:
        """A link; if the controller did not report it, nothing is known but that a machine does not work."""
        first, second = sorted([one["name"], other["name"]])
        state = self.states.get((_WIRE_KINDS[kind], first, second))
        return LinkOut(
            kind=kind,
            ends=[one["name"], other["name"]],
            state=state or _state({one["health"], other["health"]}),
            observed_at=None if state is None else self.at,
        )


_WIRE_KINDS = {"ipu-link": LinkKind.NEXT.value, "gw-link": LinkKind.GATEWAY.value}


def picture(
    machines: list[Machine], partitions: list[Mapping[str, Any]], observed_at: datetime | None, links: SeenLinks
) -> TopologyOut:
    """Racks, machines, links and partitions of a cluster. A missing partition has no IPUs."""
    shown = [TopologyPartitionOut.model_validate(each) for each in partitions if each["state"] != "missing"]
    owner = {(ipu.machine, ipu.ipu): each.partition_id for each in shown for ipu in each.ipus}
    places = {
        (machine["name"], ipu): IpuPlace(machine["domain"], position)
        for machine in machines
        for ipu, position in enumerate(chain_positions(machine["slot"]))
    }
    free = room(places.values(), (places[each] for each in owner if each in places))
    return TopologyOut(
        racks=list(_racks(machines)),
        machines=[
            TopologyMachineOut(
                name=machine["name"],
                rack=machine["rack"],
                slot=machine["slot"],
                health=machine["health"],
                observed_at=machine["observed_at"],
                faults=machine["faults"],
                ipus=[IpuOut(ipu=ipu, partition=owner.get((machine["name"], ipu))) for ipu in range(IPUS_PER_MACHINE)],
            )
            for machine in machines
        ],
        links=[links.between(*link) for link in (*_ipu_links(machines), *_gw_links(machines))],
        partitions=shown,
        free_ipus=free.free,
        largest_partition=free.largest,
        partition_sizes=list(_sizes(len(places), free)),
        observed_at=observed_at,
    )


def _sizes(ipus: int, free: Room) -> Iterator[PartitionSizeOut]:
    size = 1
    while size <= ipus:
        fits = free.fits(size, max(1, size // DOMAIN_IPUS))
        reason: Literal["too_few_free", "no_aligned_block"] = "too_few_free" if free.free < size else "no_aligned_block"
        yield PartitionSizeOut(size=size, fits=fits, reason=None if fits else reason)
        size *= 2


def _by_rack(machines: Iterable[Machine]) -> dict[str, list[Machine]]:
    racks: dict[str, list[Machine]] = {}
    for machine in machines:
        racks.setdefault(machine["rack"], []).append(machine)
    return racks


def _racks(machines: Iterable[Machine]) -> Iterator[RackOut]:
    for name, inside in _by_rack(machines).items():
        yield RackOut(
            name=name,
            domain=inside[0]["domain"],
            topology=inside[0]["topology"],
            machines=[machine["name"] for machine in inside],
        )


def _ipu_links(machines: Iterable[Machine]) -> Iterator[BareLink]:
    """Along the chain of a domain; a torus of a whole rack closes it."""
    for inside in _by_rack(machines).values():
        for one, other in pairwise(inside):
            if other["slot"] == one["slot"] + 1:
                yield "ipu-link", one, other
        if inside[0]["topology"] == "torus" and len(inside) == 16:
            yield "ipu-link", inside[-1], inside[0]


def _gw_links(machines: Iterable[Machine]) -> Iterator[BareLink]:
    """Between machines of the same slot in neighbouring domains; looped gateways close the ring."""
    racks = list(_by_rack(machines).values())
    neighbours = list(pairwise(racks))
    if len(racks) > 2 and racks[0][0]["gateways"] == "looped":
        neighbours.append((racks[-1], racks[0]))
    for one, other in neighbours:
        there = {machine["slot"]: machine for machine in other}
        for machine in one:
            if machine["slot"] in there:
                yield "gw-link", machine, there[machine["slot"]]


def _state(health: set[str]) -> Literal["degraded", "down", "unknown"]:
    if "failed" in health:
        return "down"
    return "degraded" if "degraded" in health else "unknown"


async def vipu(connection: Statements, *, project_id: UUID, cluster_id: UUID, partition: str | None) -> VipuOut:
    """The controller's endpoint, with the environment for a partition: by name or id, else the only one, if one.

    Raises `Problem`: not_found, no_vipu, state_conflict while there is no endpoint.
    """
    row = await _read(connection, project_id, cluster_id)
    if row.endpoint is None:
        raise no_endpoint()
    host, port = row.endpoint
    known = row.partitions
    chosen: str | None = known[0]["partition_id"] if len(known) == 1 else None
    if partition is not None:
        named = [
            each["partition_id"] for each in known if partition in {each["id"], each["name"], each["partition_id"]}
        ]
        if not named:
            raise not_found()
        chosen = named[0]
    environment = {
        "IPUOF_VIPU_API_HOST": host,
        "IPUOF_VIPU_API_PORT": str(port),
        "VIPU_CLI_API_HOST": host,
        "VIPU_CLI_API_PORT": str(port),
    }
    if row.authority is None:
        environment["VIPU_CLI_API_PLAINTEXT"] = "true"
    if chosen is not None:
        environment["IPUOF_VIPU_API_PARTITION_ID"] = chosen
    key = None
    if row.secure:
        environment["VIPU_CLI_API_USER_ID"] = row.external_name
        newest = await _KEY.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})
        key = None if newest is None else AccessKeyOut(id=newest.name, created_at=newest.created_at)
    return VipuOut(
        host=host,
        port=port,
        user=row.external_name if row.secure else None,
        access_key=key,
        partition=chosen,
        authority=row.authority,
        environment=environment,
    )
