"""Taking machines and hosts for a cluster: the database's side of the allocator.

A transaction that chooses machines of a region and type locks their one `machine_pools` row until its end. The snapshot
is read after the lock was acquired, by a separate statement, and so shows what the previous holder took: no request is
refused while there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.catalogue import AllocatedThrough, Flavor
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.allocator import Placement, allocate
from ipucloud.inventory.snapshot import PodView, SlotState, SlotView
from ipucloud.inventory.whynot import WhyNot
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id

_LOCK_POOL = sa.text(
    """
    SELECT region FROM machine_pools WHERE region = :region AND machine_type = :machine_type FOR NO KEY UPDATE
    """
)


class _PodRow(NamedTuple):
    """A pod with a list entry for each machine, by slot; `states` are of `SlotState`."""

    id: UUID
    gw_group: str
    position: int
    machine_ids: list[UUID]
    slots: list[int]
    states: list[str]


_SNAPSHOT = Query(
    """
    SELECT pods.id, pods.gw_group, pods.position,
           array_agg(machines.id ORDER BY slot) AS machine_ids,
           array_agg(slot ORDER BY slot) AS slots,
           array_agg(CASE WHEN held.released_at IS NOT NULL THEN 'cleaning'
                          WHEN held.id IS NOT NULL THEN 'allocated'
                          WHEN machines.allocatable AND coalesce(own.allocatable, true) THEN 'free'
                          WHEN machines.maintenance OR own.maintenance THEN 'maintenance'
                          ELSE 'unhealthy' END ORDER BY slot) AS states
      FROM pods
      JOIN machines ON machines.pod_id = pods.id
      LEFT JOIN hosts AS own ON own.machine_id = machines.id
      LEFT JOIN allocations AS held ON held.machine_id = machines.id AND held.freed_at IS NULL
     WHERE pods.region = :region AND pods.machine_type = :machine_type
     GROUP BY pods.id
     ORDER BY pods.gw_group, pods.position
    """,
    _PodRow,
)
_FREE_HOSTS = Query(
    """
    SELECT count(*) FROM hosts LEFT JOIN machines ON machines.id = hosts.machine_id
      LEFT JOIN pods ON pods.id = machines.pod_id
     WHERE hosts.region = :region AND hosts.allocatable
       AND CASE WHEN :own_hosts THEN pods.machine_type = :machine_type ELSE hosts.machine_id IS NULL END
       AND NOT EXISTS (SELECT FROM allocations WHERE host_id = hosts.id AND freed_at IS NULL)
    """,
    int,
)
# Hosts are shared by the region's machine types, and so by several pools: hosts locked by another pool are skipped.
# Machines that are hosts themselves use their own, which no other cluster gets.
_TAKE = Query(
    """
    WITH chosen AS (
      SELECT id FROM hosts
       WHERE region = :region AND allocatable
         AND CASE WHEN :own_hosts THEN machine_id = ANY (CAST(:machines AS uuid[])) ELSE machine_id IS NULL END
         AND NOT EXISTS (SELECT FROM allocations WHERE host_id = hosts.id AND freed_at IS NULL)
       ORDER BY name LIMIT :host_count FOR NO KEY UPDATE SKIP LOCKED
    ), numbered AS (
      SELECT id, row_number() OVER () AS ordinal FROM chosen
    ), held AS (
      INSERT INTO allocations (id, project_id, cluster_id, machine_id, host_id, ordinal)
      SELECT wanted.id, CAST(:project_id AS uuid), CAST(:cluster_id AS uuid), wanted.machine_id, NULL,
             wanted.ordinal - 1
        FROM unnest(CAST(:machine_allocations AS uuid[]), CAST(:machines AS uuid[])) WITH ORDINALITY
             AS wanted (id, machine_id, ordinal)
      UNION ALL
      SELECT (CAST(:host_allocations AS uuid[]))[ordinal], CAST(:project_id AS uuid), CAST(:cluster_id AS uuid), NULL,
             id, ordinal - 1
        FROM numbered
    )
    SELECT count(*) FROM numbered
    """,
    int,
)
_ONE_HOLDER = frozenset({"uq_allocations_live_machine", "uq_allocations_live_host"})


@dataclass(frozen=True, slots=True)
class Need:
    """The machines of a type, and the hosts for Poplar servers, that a flavor takes.

    `own_hosts`: the machines are the hosts.
    """

    machine_type: str
    machines: int
    hosts: int
    ipus_per_machine: int = 4
    own_hosts: bool = False

    @classmethod
    def of(cls, flavor: Flavor) -> Need:
        return cls(
            flavor.machine_type,
            flavor.machines,
            flavor.poplar_servers,
            flavor.ipus // flavor.machines,
            own_hosts=flavor.allocated_through is AllocatedThrough.HOST_DEVICES,
        )


@dataclass(frozen=True, slots=True)
class Demand:
    """A cluster, its region, and what it needs there."""

    project_id: UUID
    cluster_id: UUID
    region: str
    need: Need


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Why a cluster cannot be placed now: a stable reason, a sentence, and figures.

    The figures are for the region as a whole; they reveal nothing of another customer.
    """

    reason: str
    detail: str
    numbers: dict[str, int]


@dataclass(frozen=True, slots=True)
class Room:
    """The machines and the number of free hosts of a region, as of one instant."""

    pods: Sequence[PodView]
    free_hosts: int

    def why_not(self, need: Need) -> NoRoom | None:
        """None when a cluster with this need fits."""
        found = allocate(self.pods, need.machines, need.ipus_per_machine)
        if isinstance(found, WhyNot):
            return _no_machines(found)
        return None if self.free_hosts >= need.hosts else _no_hosts(need.hosts, self.free_hosts)


async def read_room(connection: Statements, region: str, need: Need) -> Room:
    """The room for this need now. Nothing is locked: the answer may already be outdated."""
    pods = await _snapshot(connection, region, need.machine_type)
    asked = {"region": region, "machine_type": need.machine_type, "own_hosts": need.own_hosts}
    return Room(pods, await _FREE_HOSTS.one(connection, asked))


async def take(connection: AsyncConnection, demand: Demand) -> None:
    """Give the cluster free hosts and the machines that the allocator chooses. Call it last: it holds the pool's lock.

    Raises `Problem` capacity_exhausted with `why_not`.
    """
    need = demand.need
    await connection.execute(_LOCK_POOL, {"region": demand.region, "machine_type": need.machine_type})
    failpoint("create.pool_locked")
    pods = await _snapshot(connection, demand.region, need.machine_type)
    found = allocate(pods, need.machines, need.ipus_per_machine)
    if isinstance(found, WhyNot):
        raise exhausted(_no_machines(found))
    hosts = await _insert(connection, demand, found)
    if hosts < need.hosts:
        raise exhausted(_no_hosts(need.hosts, hosts))


def exhausted(room: NoRoom) -> Problem:
    """409 with advice on what would help."""
    return Problem(CAPACITY_EXHAUSTED, room.detail, extra={"why_not": asdict(room)})


async def _snapshot(connection: Statements, region: str, machine_type: str) -> list[PodView]:
    rows = await _SNAPSHOT.all(connection, {"region": region, "machine_type": machine_type})
    return [
        PodView(
            row.id,
            row.gw_group,
            row.position,
            tuple(
                SlotView(machine_id, slot, SlotState(state))
                for machine_id, slot, state in zip(row.machine_ids, row.slots, row.states, strict=True)
            ),
        )
        for row in rows
    ]


async def _insert(connection: AsyncConnection, demand: Demand, found: Placement) -> int:
    """Insert the allocations; returns the number of hosts."""
    parameters = {
        "project_id": demand.project_id,
        "cluster_id": demand.cluster_id,
        "region": demand.region,
        "machines": list(found.machine_ids),
        "machine_allocations": [new_id() for _ in found.machine_ids],
        "host_count": demand.need.hosts,
        "host_allocations": [new_id() for _ in range(demand.need.hosts)],
        "own_hosts": demand.need.own_hosts,
    }
    try:
        hosts = await _TAKE.one(connection, parameters)
    except sa.exc.IntegrityError as error:
        if isinstance(error.orig, pg_errors.UniqueViolation) and error.orig.diag.constraint_name in _ONE_HOLDER:
            raise exhausted(_outrun()) from error
        raise
    return hosts


def _no_machines(found: WhyNot) -> NoRoom:
    return NoRoom(found.reason, found.detail, asdict(found.numbers))


def _no_hosts(wanted: int, free: int) -> NoRoom:
    return NoRoom(
        "hosts",
        f"The cluster needs {wanted} Poplar server{'' if wanted == 1 else 's'} and the region has {free} free. "
        "Try again later, or choose another region.",
        {"wanted_hosts": wanted, "free_hosts": free},
    )


def _outrun() -> NoRoom:
    """The index on live allocations refused: another transaction chose machines without the pool's lock."""
    return NoRoom("capacity", "The machines have just been taken. Try again.", {})
