"""Taking machines and hosts for a cluster.

A transaction locks the one row with the best room, chooses a block in its mask and takes the machines. It waits only
when every row with room is locked by others, and is refused only when no row has any (`inventory/functions.py`,
docs/concurrency.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.catalogue import AllocatedThrough, Flavor
from ipucloud.db.outages import RETRY_AFTER
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.allocator import Fit, capacity, choose
from ipucloud.inventory.snapshot import DOMAIN, Pod, SlotState, usable
from ipucloud.inventory.whynot import WhyNot, explain
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, UNAVAILABLE, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id


class _Locked(NamedTuple):
    """A pod with its free slots, or a run with its wholly free pods; and hosts of the pool."""

    run_id: UUID | None
    pod_id: UUID | None
    mask: int
    hosts: list[UUID]


class _Allocated(NamedTuple):
    machines: int
    hosts: int


_LOCK = Query(
    """
    SELECT run AS run_id, pod AS pod_id, mask, lock_hosts(:region, :hosts) AS hosts
      FROM lock_room(:region, :machine_type, :machines)
    """,
    _Locked,
)
# One statement is one snapshot: the masks of runs follow from those of pods.
_PODS = Query(
    """
    SELECT gw_group, position, free_mask, allocated_mask, cleaning_mask,
           CASE WHEN c.withheld THEN 0 ELSE unhealthy_mask END AS unhealthy_mask, maintenance_mask, validating_mask,
           CASE WHEN c.withheld THEN unhealthy_mask ELSE 0 END AS silent_mask, 1 AS alike
      FROM pods LEFT JOIN vipu_controllers c ON c.region = pods.region AND c.name = pods.controller
     WHERE pods.region = :region AND machine_type = :machine_type ORDER BY gw_group, position
    """,
    Pod,
)
# In a region that is full, which refuses many, most pods are alike.
_PODS_ALIKE = Query(
    """
    SELECT '' AS gw_group, 0 AS position, free_mask, allocated_mask, cleaning_mask,
           CASE WHEN c.withheld THEN 0 ELSE unhealthy_mask END AS unhealthy_mask, maintenance_mask, validating_mask,
           CASE WHEN c.withheld THEN unhealthy_mask ELSE 0 END AS silent_mask, count(*) AS alike
      FROM pods LEFT JOIN vipu_controllers c ON c.region = pods.region AND c.name = pods.controller
     WHERE pods.region = :region AND machine_type = :machine_type
     GROUP BY free_mask, allocated_mask, cleaning_mask, unhealthy_mask, maintenance_mask, validating_mask, c.withheld
    """,
    Pod,
)
_FREE_HOSTS = Query(
    """
    SELECT count(*) FROM hosts
     WHERE region = :region AND machine_id IS NULL AND NOT held AND allocatable
    """,
    int,
)
_HOSTS = Query("SELECT count(*) FROM hosts WHERE region = :region AND machine_id IS NULL", int)
HAS_ROOM = """
    (EXISTS (SELECT FROM pods WHERE region = :region AND machine_type = :machine_type
                AND largest_free BETWEEN 1 AND 8 AND largest_free >= CAST(:machines AS integer))
     OR EXISTS (SELECT FROM pod_runs WHERE region = :region AND machine_type = :machine_type
                   AND largest_run > 0 AND largest_run >= CAST(:machines AS integer) / 16))
"""
"""A boolean: whether `:machines` fit. False is exact, as of its snapshot; true may already be outdated."""
_TAKE = Query(
    """
    WITH used AS (
      UPDATE pods SET free_mask = free_mask & ~CAST(:slots AS integer), allocated_mask = allocated_mask | :slots
       WHERE id IN (SELECT CAST(:pod_id AS uuid) UNION ALL
                    SELECT id FROM pods WHERE run_id = CAST(:run_id AS uuid) AND :places >> position % 16 & 1 = 1)
         AND free_mask & :slots = :slots
      RETURNING id, position
    ), broken AS (
      UPDATE pod_runs SET whole_mask = whole_mask & ~CAST(:places AS integer) WHERE id = CAST(:run_id AS uuid)
    ), chosen AS (
      SELECT machines.id, row_number() OVER (ORDER BY used.position, slot) AS ordinal
        FROM used JOIN machines ON machines.pod_id = used.id AND :slots >> slot & 1 = 1
    ), hosts_held AS (
      UPDATE hosts SET held = true
       WHERE id IN (SELECT unnest(CAST(:hosts AS uuid[])) UNION ALL
                    SELECT own.id FROM chosen JOIN hosts AS own ON own.machine_id = chosen.id WHERE :own_hosts)
      RETURNING id, name
    ), numbered AS (
      SELECT id, row_number() OVER (ORDER BY name) AS ordinal FROM hosts_held
    ), held AS (
      INSERT INTO allocations (id, project_id, cluster_id, machine_id, host_id, ordinal, reservation_id, block)
      SELECT (CAST(:machine_allocations AS uuid[]))[ordinal], CAST(:project_id AS uuid), CAST(:cluster_id AS uuid), id,
             NULL, ordinal - 1, CAST(:reservation_id AS uuid), CAST(:block AS integer)
        FROM chosen
      UNION ALL
      SELECT (CAST(:host_allocations AS uuid[]))[ordinal], CAST(:project_id AS uuid), CAST(:cluster_id AS uuid), NULL,
             id, (CAST(:servers AS integer[]))[ordinal], CAST(:reservation_id AS uuid), CAST(:block AS integer)
        FROM numbered
    )
    SELECT (SELECT count(*) FROM chosen) AS machines, (SELECT count(*) FROM numbered) AS hosts
    """,
    _Allocated,
)
_ONE_HOLDER = frozenset({"uq_allocations_live_machine", "uq_allocations_live_host"})
_LOCK_TRIES = 5


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
    def of(cls, flavor: Flavor, servers: int | None = None) -> Need:
        """What a cluster of this flavor takes, with so many Poplar servers; None: as many as the flavor has."""
        return cls(
            flavor.machine_type,
            flavor.machines,
            flavor.poplar_servers if servers is None else servers,
            flavor.ipus // flavor.machines,
            own_hosts=flavor.allocated_through is AllocatedThrough.HOST_DEVICES,
        )


class ReservedBlock(NamedTuple):
    """One of the blocks of a reservation, by its number."""

    reservation_id: UUID
    block: int


@dataclass(frozen=True, slots=True)
class Demand:
    """A cluster, its region, and what it needs there.

    `servers`: the numbers of the Poplar servers that the hosts are for; None: from 0. `reserved`: what is taken is of
    this block of a reservation, which holds it alone if there is no `cluster_id`.
    """

    project_id: UUID
    cluster_id: UUID | None
    region: str
    need: Need
    servers: Sequence[int] | None = None
    reserved: ReservedBlock | None = None


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
    """The pods of a region and machine type, and its number of free hosts."""

    pods: Sequence[Pod]
    free_hosts: int

    def why_not(self, need: Need) -> NoRoom | None:
        """None when a cluster with this need fits."""
        if capacity(self.pods, need.machines) == 0:
            return _no_machines(explain(self.pods, need.machines, need.ipus_per_machine))
        return None if self.free_hosts >= need.hosts else _no_hosts(need.hosts, self.free_hosts)

    def count(self, need: Need) -> int:
        """How many clusters with this need fit at the same time."""
        fits = capacity(self.pods, need.machines)
        return fits if need.own_hosts else min(fits, self.free_hosts // need.hosts)


async def refuse_if_full(connection: AsyncConnection, region: str, need: Need) -> None:
    """Raise `Problem` capacity_exhausted if no machines are free as needed; nothing is locked."""
    pods = await _read_pods(connection, region, need)
    if capacity(pods, need.machines) == 0:
        raise exhausted(_no_machines(explain(pods, need.machines, need.ipus_per_machine)))


async def refuse_if_never(connection: AsyncConnection, region: str, need: Need) -> None:
    """Raise `Problem` capacity_exhausted if the region has no such place, even if all of it were free."""
    pods = await _read_pods(connection, region, need)
    if next(Fit(pods, usable(pods, *SlotState)).blocks(need.machines), None) is None:
        raise exhausted(_no_machines(explain(pods, need.machines, need.ipus_per_machine)))
    hosts = await _HOSTS.one(connection, {"region": region})
    if not need.own_hosts and hosts < need.hosts:
        raise exhausted(_no_hosts(need.hosts, hosts))


async def _read_pods(connection: Statements, region: str, need: Need) -> Sequence[Pod]:
    query = _PODS_ALIKE if need.machines <= DOMAIN else _PODS
    return await query.all(connection, {"region": region, "machine_type": need.machine_type})


async def read_room(connection: Statements, region: str, need: Need) -> Room:
    """The room for this need now. Nothing is locked: the answer may already be outdated."""
    pods = await _PODS.all(connection, {"region": region, "machine_type": need.machine_type})
    if need.own_hosts:
        return Room(pods, sum(pod.free_mask.bit_count() for pod in pods))
    return Room(pods, await _FREE_HOSTS.one(connection, {"region": region}))


async def allocate(connection: AsyncConnection, demand: Demand) -> None:
    """Give the cluster free machines and hosts. Call it last: rows that others may wait for stay locked until the end.

    Raises `Problem` capacity_exhausted with `why_not`; or unavailable, when others keep all rows with room locked for
    too long.
    """
    locked = await _lock(connection, demand)
    failpoint("create.room_locked")
    if not demand.need.own_hosts and len(locked.hosts) < demand.need.hosts:
        raise exhausted(_no_hosts(demand.need.hosts, len(locked.hosts)))
    allocated = await _allocate(connection, demand, locked)
    if allocated.machines != demand.need.machines:
        raise _busy()
    if allocated.hosts < demand.need.hosts:
        raise exhausted(_no_hosts(demand.need.hosts, allocated.hosts))


def exhausted(room: NoRoom) -> Problem:
    """409 with advice on what would help."""
    return Problem(CAPACITY_EXHAUSTED, room.detail, extra={"why_not": asdict(room)})


async def _lock(connection: AsyncConnection, demand: Demand) -> _Locked:
    need = demand.need
    demanded = {
        "region": demand.region,
        "machine_type": need.machine_type,
        "machines": need.machines,
        "hosts": 0 if need.own_hosts else need.hosts,
    }
    for _ in range(_LOCK_TRIES):
        async with waiting_for_room():
            locked = await _LOCK.one_or_none(connection, demanded)
        if locked is not None:
            return locked
        # Room that was returned since is found by another attempt.
        await refuse_if_full(connection, demand.region, need)
    raise _busy()


@asynccontextmanager
async def waiting_for_room() -> AsyncIterator[None]:
    """Raise `Problem` unavailable when others keep a row with room locked for too long."""
    try:
        yield
    except sa.exc.OperationalError as error:
        if isinstance(error.orig, pg_errors.LockNotAvailable | pg_errors.QueryCanceled):
            raise _busy() from error
        raise


async def _allocate(connection: AsyncConnection, demand: Demand, locked: _Locked) -> _Allocated:
    slots, places = choose(locked.mask, demand.need.machines, whole=locked.run_id is not None)
    return await _allocate_blocks(connection, demand, locked, slots=slots, places=places)


async def allocate_slots(
    connection: AsyncConnection,
    demand: Demand,
    *,
    pod_id: UUID | None = None,
    run_id: UUID | None = None,
    slots: int,
    places: int = 0,
) -> None:
    """Give the cluster these free slots of a pod, or of the pods at these places of a run; the row is locked.

    Raises `Problem` unavailable when they are not free.
    """
    allocated = await _allocate_blocks(connection, demand, _Locked(run_id, pod_id, 0, []), slots=slots, places=places)
    if allocated.machines != slots.bit_count() * max(places.bit_count(), 1):
        raise _busy()


async def _allocate_blocks(
    connection: AsyncConnection, demand: Demand, locked: _Locked, *, slots: int, places: int
) -> _Allocated:
    parameters = {
        "project_id": demand.project_id,
        "cluster_id": demand.cluster_id,
        "run_id": locked.run_id,
        "pod_id": locked.pod_id,
        "slots": slots,
        "places": places,
        "hosts": locked.hosts,
        "own_hosts": demand.need.own_hosts,
        "machine_allocations": [new_id() for _ in range(demand.need.machines)],
        "host_allocations": [new_id() for _ in range(demand.need.hosts)],
        "servers": list(range(demand.need.hosts) if demand.servers is None else demand.servers),
        "reservation_id": demand.reserved and demand.reserved.reservation_id,
        "block": demand.reserved and demand.reserved.block,
    }
    try:
        return await _TAKE.one(connection, parameters)
    except sa.exc.IntegrityError as error:
        if isinstance(error.orig, pg_errors.UniqueViolation) and error.orig.diag.constraint_name in _ONE_HOLDER:
            raise _busy() from error
        raise


def _no_machines(why: WhyNot) -> NoRoom:
    return NoRoom(why.reason, why.detail, asdict(why.numbers))


def _no_hosts(needed: int, free: int) -> NoRoom:
    return NoRoom(
        "hosts",
        f"The cluster needs {needed} Poplar server{'' if needed == 1 else 's'} and the region has {free} free. "
        "Try again later, or choose another region.",
        {"wanted_hosts": needed, "free_hosts": free},
    )


def _busy() -> Problem:
    """503: whether there is room is not known; or a mask differs from its machines, which the audit repairs."""
    return Problem(
        UNAVAILABLE,
        "Machines of this type are being taken by too many requests at once. Nothing was changed; send the request "
        "again shortly.",
        headers=RETRY_AFTER,
    )
