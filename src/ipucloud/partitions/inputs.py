"""The inputs of a reconcile pass over a cluster's partitions, read in one statement that checks the lease."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.partitions import Origin, PartitionState, shape_of
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.sync import controller, controller_of_cluster
from ipucloud.kernel.vipu import IpuNumber, IpuPlace, PartitionShape, chain_positions
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.queries import OPEN_ON_PARTITIONS, open_operation_of
from ipucloud.partitions.plan import Desired
from ipucloud.partitions.states import IN_USE, DesiredState
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import VipuAddress


@dataclass(frozen=True, slots=True)
class Record:
    """A partition as recorded in the database. `observed` is what the controller last showed.

    `fence`, `sent_for` and `confirmed` describe the progress of a reset: the lease under which it was to be sent, how
    many seconds ago, and whether the controller confirmed it. `status` is what the controller said of it while it was
    not active. `lost`: with the cluster's allocation.
    """

    id: UUID
    origin: Origin
    name: str
    external_name: str
    desired_state: DesiredState
    state: PartitionState
    removed: bool
    shape: PartitionShape | None
    observed: Mapping[str, Any] | None
    has_config: bool
    relocatable: bool
    fence: int | None
    sent_for: float | None
    confirmed: bool
    status: Mapping[str, Any] | None = None
    reason: str | None = None
    lost: bool = False

    @property
    def desired(self) -> Desired:
        shape = self.shape if self.desired_state is DesiredState.PRESENT else None
        return Desired(self.external_name, self.desired_state, shape, sent=self.confirmed)


@dataclass(frozen=True, slots=True)
class Operated:
    """A partition with the open operation on it."""

    project_id: UUID
    partition: Record
    operation: OpenOperation

    @property
    def rests(self) -> bool:
        """Whether its step failed, and is not to be tried again yet."""
        return self.operation.step.retry_in > 0


class HeldIpu(NamedTuple):
    """An IPU of a cluster: its machine, its number in the machine, and where it is cabled."""

    machine: str
    ipu: int
    place: IpuPlace


@dataclass(frozen=True)
class PartitionInputs:
    """A cluster in use with its partitions, as of one instant; `held` are its IPUs as their controller numbers them.

    `operated`: those with an open operation, the oldest first. `repairing`: what the site lost is being restored.
    `overtaken`: those on which something began since; nothing is concluded of them.
    """

    cluster_id: UUID
    project_id: UUID
    external_name: str
    ipus: int
    vipu: VipuAddress
    held: Mapping[IpuNumber, HeldIpu]
    records: tuple[Record, ...]
    operated: tuple[Operated, ...]
    repairing: bool = False
    overtaken: frozenset[UUID] = frozenset()

    def without(self, overtaken: frozenset[UUID]) -> PartitionInputs:
        """The inputs once something else has begun on these partitions."""
        operated = tuple(each for each in self.operated if each.partition.id not in overtaken)
        return replace(self, operated=operated, overtaken=overtaken)

    @cached_property
    def by_name(self) -> Mapping[str, Record]:
        """Records by their id at the controller."""
        return {record.external_name: record for record in self.records}

    @cached_property
    def operation_of(self) -> Mapping[UUID, OpenOperation]:
        """The open operations by their partition's id."""
        return {each.partition.id: each.operation for each in self.operated}

    @cached_property
    def places(self) -> frozenset[IpuPlace]:
        """Every IPU of the cluster."""
        return frozenset(ipu.place for ipu in self.held.values())


class _Row(NamedTuple):
    """A cluster with its controller. There may be none: then its columns are NULL."""

    leased: bool
    id: UUID | None
    project_id: UUID
    external_name: str
    state: str
    ipus: int
    allocated_through: AllocatedThrough
    vipu: VipuAddress | None
    machines: list[list[Any]]
    partitions: list[dict[str, Any]]
    repairing: bool
    operations: list[dict[str, Any]]


# A removed partition is kept for a while: a request in flight when it was removed may still make it.
_LOAD = Query(
    f"""
    SELECT w.lease_until > app_now() AS leased, c.id, c.project_id, c.external_name, c.state, c.ipus,
           c.allocated_through,
           {controller("v")},
           coalesce(held.machines, '[]') AS machines, coalesce(known.partitions, '[]') AS partitions,
           EXISTS (SELECT FROM operations r WHERE r.project_id = c.project_id AND r.cluster_id = c.id
                      AND r.finished_at IS NULL AND r.kind = 'cluster.repair') AS repairing,
           {OPEN_ON_PARTITIONS} AS operations
      FROM work w
      LEFT JOIN clusters c ON c.id = CAST(w.key AS uuid)
      {controller_of_cluster("c", "v")}
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_array(p.position, m.slot, m.name, m.topology_ids)) AS machines
          FROM allocations a JOIN machines m ON m.id = a.machine_id JOIN pods p ON p.id = m.pod_id
         WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL) AS held ON true
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object(
                 'id', id, 'origin', origin, 'name', name, 'external_name', external_name, 'desired_state',
                     desired_state,
                 'state', state, 'removed', removed_at IS NOT NULL, 'requested', requested, 'observed', observed,
                 'has_config', ipuof IS NOT NULL, 'relocatable', reset_relocatable, 'fence', reset_fence,
                 'sent_for', extract(epoch FROM app_now() - reset_sent_at), 'confirmed', reset_confirmed,
                 'status', status, 'reason', state_reason, 'lost', lost
               ) ORDER BY created_at, id) AS partitions
          FROM partitions
         WHERE project_id = c.project_id AND cluster_id = c.id
           AND (removed_at IS NULL OR removed_at > app_now() - interval '1 hour')) AS known ON true
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,  # noqa: S608  # our own text
    _Row,
)


async def load(connection: Statements, item: WorkItem) -> PartitionInputs | None:
    """The inputs, or None when the cluster is not in use or has no V-IPU. Raises LeaseLost."""
    row = await inputs_of(connection, _LOAD, item)
    if row.id is None or row.vipu is None or row.state not in IN_USE:
        return None
    if row.allocated_through is not AllocatedThrough.V_IPU:
        return None
    records = tuple(_record(each) for each in row.partitions)
    return PartitionInputs(
        cluster_id=row.id,
        project_id=row.project_id,
        external_name=row.external_name,
        ipus=row.ipus,
        vipu=row.vipu,
        held={number: ipu for machine in row.machines for number, ipu in _ipus(*machine)},
        records=records,
        operated=tuple(_operated(row.project_id, row.operations, {record.id: record for record in records})),
        repairing=row.repairing,
    )


def _ipus(domain: int, slot: int, machine: str, topology_ids: list[int]) -> Iterator[tuple[IpuNumber, HeldIpu]]:
    numbered = zip(topology_ids, chain_positions(slot), strict=True)
    for ipu, (topology_id, position) in enumerate(numbered):
        yield IpuNumber(domain, topology_id), HeldIpu(machine, ipu, IpuPlace(domain, position))


def _operated(
    project_id: UUID, operations: Iterable[Mapping[str, Any]], records: Mapping[UUID, Record]
) -> Iterator[Operated]:
    for row in operations:
        partition_id, operation = open_operation_of(row)
        yield Operated(project_id, records[partition_id], operation)


def _record(row: Mapping[str, Any]) -> Record:
    return Record(
        id=UUID(row["id"]),
        origin=Origin(row["origin"]),
        name=row["name"],
        external_name=row["external_name"],
        desired_state=DesiredState(row["desired_state"]),
        state=PartitionState(row["state"]),
        removed=row["removed"],
        shape=None if row["requested"] is None else shape_of(row["requested"]),
        observed=row["observed"],
        has_config=row["has_config"],
        relocatable=row["relocatable"],
        fence=row["fence"],
        sent_for=row["sent_for"],
        confirmed=row["confirmed"],
        status=row["status"],
        reason=row["reason"],
        lost=row["lost"],
    )
