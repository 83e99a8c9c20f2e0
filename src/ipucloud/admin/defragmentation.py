"""Which clusters would have to be moved so that one of a flavor fits, for how long, and what that would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.clusters.operations.replace import REPLACE
from ipucloud.contract.catalogue import AllocatedThrough, Flavor
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.allocator import Block
from ipucloud.inventory.defragment import SearchTooLong, Tenant, propose
from ipucloud.inventory.snapshot import Pod, bits
from ipucloud.kernel.money import Money
from ipucloud.operations.step import expected_seconds, plan_of


class _Pod(NamedTuple):
    id: UUID
    name: str
    gw_group: str
    position: int
    free_mask: int


class _Cluster(NamedTuple):
    """A cluster in use with no open operation. `slots` maps pods to the masks that it holds there.

    `unit_price`: of a machine's minute now; None when its article is not sold any more.
    """

    id: UUID
    project: str
    name: str
    machines: int
    currency: str
    unit_price: Decimal | None
    slots: dict[str, int]


class _Times(NamedTuple):
    typical_seconds: dict[str, float]
    now: datetime


_TIMES = Query("SELECT typical_seconds, app_now() AS now FROM site_regions WHERE region = :region", _Times)
_NOW = Query("SELECT app_now()", datetime)
_PODS = Query(
    """
    SELECT id, name, gw_group, position, free_mask FROM pods
     WHERE region = :region AND machine_type = :machine_type ORDER BY gw_group, position
    """,
    _Pod,
)
_CLUSTERS = Query(
    """
    SELECT c.id, projects.slug AS project, c.name, c.machines, c.currency, price.unit_price,
           (SELECT json_object_agg(held.pod_id, held.mask)
              FROM (SELECT m.pod_id, bit_or(1 << m.slot) AS mask
                      FROM allocations a JOIN machines m ON m.id = a.machine_id
                     WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
                     GROUP BY m.pod_id) AS held) AS slots
      FROM clusters c
      JOIN projects ON projects.id = c.project_id
      LEFT JOIN prices_paid(c.project_id, c.sku, c.region, c.currency) AS price
             ON price.valid_from <= app_now() AND price.valid_to > app_now()
     WHERE c.region = :region AND c.machine_type = :machine_type AND c.state IN ('active', 'degraded')
       AND c.allocated_through = 'v-ipu'
       AND NOT EXISTS (SELECT FROM operations WHERE cluster_id = c.id AND finished_at IS NULL)
     ORDER BY c.id
    """,
    _Cluster,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Slots of a pod."""

    pod: str
    slots: list[int]


@dataclass(frozen=True, slots=True)
class ClusterMove:
    """A cluster that would be moved. `not_billed`: its minutes meanwhile; None: it has no price now."""

    project: str
    cluster: UUID
    name: str
    machines: int
    since: list[Place]
    to: list[Place]
    minutes: float
    not_billed: Money | None


@dataclass(frozen=True, slots=True)
class Defragmentation:
    """What would make room for one more cluster of a flavor, at the database's time `as_of`."""

    region: str
    flavor: str
    machines: int
    as_of: datetime
    result: str
    target: list[Place]
    moves: list[ClusterMove]


@dataclass(frozen=True, slots=True)
class Layout:
    """The pods of a flavor's machine type in a region, and who holds them, at one time."""

    region: str
    flavor: Flavor
    pods: Sequence[_Pod]
    clusters: Sequence[_Cluster]
    typical_seconds: Mapping[str, float]
    as_of: datetime

    def proposal(self) -> Defragmentation:
        """The moves for one more cluster of the flavor. It may take a second: call it in a thread."""
        index = {str(pod.id): number for number, pod in enumerate(self.pods)}
        tenants = [Tenant(tuple((index[pod], mask) for pod, mask in each.slots.items())) for each in self.clusters]
        if self.flavor.allocated_through is not AllocatedThrough.V_IPU:
            tenants = []  # such a cluster is its servers: it cannot be moved
        try:
            plan = propose(
                [Pod(pod.gw_group, pod.position) for pod in self.pods],
                [pod.free_mask for pod in self.pods],
                tenants,
                self.flavor.machines,
            )
        except SearchTooLong:
            return self._answer("too_long")
        if plan is None:
            return self._answer("impossible")
        seconds = expected_seconds(plan_of(REPLACE.steps, {}), self.typical_seconds)
        moves = [
            _move(
                self.clusters[each.tenant],
                _places(self.pods, tenants[each.tenant].block),
                _places(self.pods, each.to),
                seconds,
            )
            for each in plan.moves
        ]
        return self._answer("possible" if moves else "fits", plan.target, moves)

    def _answer(self, result: str, target: Block = (), moves: Sequence[ClusterMove] = ()) -> Defragmentation:
        target_places = _places(self.pods, target)
        return Defragmentation(
            self.region, self.flavor.name, self.flavor.machines, self.as_of, result, target_places, [*moves]
        )


async def read_layout(connection: Statements, *, region: str, flavor: Flavor) -> Layout:
    """The layout now. Nothing is locked."""
    filters = {"region": region, "machine_type": flavor.machine_type}
    times = await _TIMES.one_or_none(connection, {"region": region})
    return Layout(
        region,
        flavor,
        await _PODS.all(connection, filters),
        await _CLUSTERS.all(connection, filters),
        {} if times is None else times.typical_seconds,
        await _NOW.one(connection) if times is None else times.now,
    )


def _move(cluster: _Cluster, since: list[Place], to: list[Place], seconds: float) -> ClusterMove:
    minutes = round(seconds / 60, 1)
    price = None if cluster.unit_price is None else Money.of(cluster.unit_price, cluster.currency)
    return ClusterMove(
        project=cluster.project,
        cluster=cluster.id,
        name=cluster.name,
        machines=cluster.machines,
        since=since,
        to=to,
        minutes=minutes,
        not_billed=None if price is None else price * cluster.machines * Decimal(str(minutes)),
    )


def _places(pods: Sequence[_Pod], block: Block) -> list[Place]:
    return [Place(pods[pod].name, [*bits(mask)]) for pod, mask in block]
