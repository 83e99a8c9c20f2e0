"""The inputs of a reconcile pass over a cluster, read in one statement that also checks the lease."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from ipucloud.clusters.servers import StoredUserData, user_data_place
from ipucloud.clusters.vipu_access import Access, access_of, endpoint
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.contract.clusters import DiskChoice
from ipucloud.contract.partitions import shape_of
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.ssh_certificates import trusting
from ipucloud.inventory.sync import controller, controller_of_cluster
from ipucloud.kernel.sealing import Keys
from ipucloud.kernel.vipu import PartitionShape
from ipucloud.operations.frozen import frozen_until
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.queries import CURRENT_STEP, OPEN_OPERATION
from ipucloud.operations.results import StepResult
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Site, VipuAddress
from ipucloud.site.vipu_ports import UserEndpoint

PATIENT = 5
"""How many times longer a clean-up waits for hardware that answers and has not failed."""


@dataclass(frozen=True, slots=True)
class MachineInput:
    """A machine that the cluster holds; `name` is its V-IPU agent id, if it is under V-IPU.

    `not_clean`: an earlier step left it to be cleaned later.
    """

    id: str
    name: str
    vipu_cluster_id: str | None
    topology: str
    not_clean: bool


@dataclass(frozen=True, slots=True)
class HostInput:
    """A host that the cluster holds, and the name of the Poplar server on it. `not_clean` as of a machine.

    `unbuilt`: the server is not there yet, or is to be built on another host: a clean-up gives the host back, wiped.
    `restarting`: the open operation restarts the server; `boot_before`: its boot id before that, once known.
    `rebuilding`: it rebuilds the server; `generation`: how often its system was to be written.
    `failed`: the operation goes on without the server, whose disk is kept.
    """

    id: str
    name: str
    server_name: str
    ordinal: int
    not_clean: bool
    unbuilt: bool
    restarting: bool = False
    boot_before: str | None = None
    rebuilding: bool = False
    generation: int = 1
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Rebuild:
    """What the open operation does with the disks of servers; `begun`: a request for that may have been sent."""

    disk: DiskChoice
    begun: bool


class CapacityWait(NamedTuple):
    """The operation's wait for machines: whether it has them, and the seconds that it may still wait."""

    granted: bool
    remaining: float


@dataclass(frozen=True, slots=True)
class KeptPartition:
    """A partition to make again: its id at the controller, and its shape; None: all of the cluster's IPUs."""

    name: str
    shape: PartitionShape | None


@dataclass(frozen=True, slots=True)
class Isolation:
    """When a clean-up leaves hardware: after it was in trouble for `after` seconds, or not done for `patience` seconds,
    while the region's `budget` lasts."""

    after: float
    patience: float
    budget: float

    @classmethod
    def usual(cls, after: float, limit: int) -> Isolation:
        """Hardware that answers and has not failed may take `PATIENT` times longer. `limit`: for an hour."""
        return cls(after, PATIENT * after, limit)

    def in_region(self, isolated: int, *, halted: bool, forced: bool) -> Isolation:
        """Where so many were isolated within the hour. `halted`: automatic actions are.

        `forced`: an operator has the cluster deleted, and what is in trouble is left as soon as that is sure.
        """
        if forced:
            return Isolation(0.0, self.after, math.inf)
        return replace(self, budget=0 if halted else self.budget - isolated)


@dataclass(frozen=True, slots=True)
class ClusterInputs:
    """A cluster with its open operation, as of one instant.

    `kept_partitions`: those that a repair or resize makes again, also because the controller lost them; None: the
    cluster gets one with all of its IPUs. `machines`: in a resize those that its present steps are about.
    `endpoint`: the recorded user endpoint of its allocation; None before there is one.
    `authorized_keys` has the lines for its SSH keys, and for the authority whose certificates its servers accept;
    `keys_revision` counts their changes, `sources_revision` those of the networks from which they let SSH in.
    `wait`: the operation's wait for capacity; None: it does not wait, and never did.
    `rebuild`: how the open operation rebuilds servers; image, user data and SSH keys are those of it then.
    `access`: the keys that its user at a secure V-IPU controller should have; None when the controller has no users.
    `quarantine_left`: seconds until no request sent before the machines were released, or were switched off by this
    operation, can take effect; meaningful in clean-up only. `replaceable`: for how many more machines and hosts of the
    region creates and resumes may take others within the hour. `power_limit`: seconds that a machine may take to switch
    on.
    `request_life`: seconds after which no request to the site takes effect any more.
    `frozen_until`: nothing may be removed until then; None: it may.
    `validated`: machines that it gives back are validated before other clusters get them.
    `attaching_volumes`: names of the volumes that its servers are to have, and do not have yet.
    """

    id: UUID
    project_id: UUID
    name: str
    external_name: str
    region: str
    machine_type: str
    state: str
    image: str
    ipus: int
    allocated_through: AllocatedThrough
    reconfigurable: bool
    user_data: StoredUserData
    authorized_keys: tuple[str, ...]
    keys_revision: int
    allowed_sources: tuple[str, ...]
    sources_revision: int
    vipu: VipuAddress | None
    endpoint: UserEndpoint | None
    access: Access | None
    machines: tuple[MachineInput, ...]
    hosts: tuple[HostInput, ...]
    kept_partitions: tuple[KeptPartition, ...] | None
    quarantine_left: float
    isolation: Isolation
    replaceable: float
    power_limit: float
    request_life: float
    frozen_until: datetime | None
    validated: bool
    operation: OpenOperation
    rebuild: Rebuild | None = None
    wait: CapacityWait | None = None
    attaching_volumes: tuple[str, ...] = ()

    @property
    def hardware_ids(self) -> dict[str, UUID]:
        """The ids of the machines and hosts, by name."""
        held: tuple[MachineInput | HostInput, ...] = (*self.machines, *self.hosts)
        return {each.name: UUID(each.id) for each in held}

    @property
    def network_machines(self) -> tuple[str, ...]:
        """The machines with ports of their own in the tenant network: none when the machines are the hosts."""
        own = self.allocated_through is AllocatedThrough.V_IPU
        return tuple(machine.name for machine in self.machines) if own else ()


ClusterAct: TypeAlias = Callable[[Site, ClusterInputs], Awaitable[StepResult]]
"""Calls one step of an operation on a cluster."""


class _Row(NamedTuple):
    """A cluster with its region's controller; without an operation there may be no cluster either."""

    leased: bool
    id: UUID
    project_id: UUID
    name: str
    external_name: str
    region: str
    machine_type: str
    state: str
    image: str
    ipus: int
    allocated_through: AllocatedThrough
    reconfigurable: bool
    user_data: str | None
    ssh_public_keys: list[str]
    ssh_authority: str | None
    keys_revision: int
    allowed_sources: list[str]
    sources_revision: int
    vipu: VipuAddress | None
    endpoint: UserEndpoint | None
    access: dict[str, Any] | None
    operation: OpenOperation | None
    machines: list[list[Any]]
    hosts: list[list[Any]]
    kept_partitions: list[list[Any]] | None
    quarantine_left: float
    isolated: int
    replaced: int
    automation_halted: bool
    forced: bool
    frozen_until: datetime | None
    disk: DiskChoice | None
    begun: bool
    wait: list[Any] | None
    attaching_volumes: list[str]


_LOAD = Query(
    f"""
    SELECT w.lease_until > app_now() AS leased,
           c.id, c.project_id, c.name, c.external_name, c.region, c.machine_type, c.state,
           coalesce(rebuild.image, c.image) AS image, c.ipus, c.allocated_through, c.reconfigurable,
           CASE WHEN rebuild.disk IS NULL THEN c.user_data ELSE rebuild.user_data END AS user_data,
           ARRAY(SELECT key ->> 'public_key'
                   FROM jsonb_array_elements(coalesce(rebuild.ssh_keys, c.ssh_keys)) AS k (key)) AS ssh_public_keys,
           c.ssh_authority,
           coalesce(rebuild.keys_revision, c.keys_revision) AS keys_revision,
           c.allowed_sources, c.sources_revision,
           {controller("v")}, {endpoint("c")},
           known.access, {OPEN_OPERATION},
           coalesce(held.machines, '[]') AS machines, coalesce(held.hosts, '[]') AS hosts,
           CASE WHEN c.state IN ('rebuilding', 'resizing') OR o.kind = 'cluster.repair' AND (
                  EXISTS (SELECT FROM kept_partitions k
                           WHERE k.project_id = c.project_id AND k.cluster_id = c.id AND k.lost)
                  OR EXISTS (SELECT FROM shown_partitions s
                              WHERE s.project_id = c.project_id AND s.cluster_id = c.id AND s.name = c.external_name
                                AND s.removed_at IS NOT NULL)) THEN
             (SELECT coalesce(json_agg(json_build_array(external_name, shape) ORDER BY created_at, id), '[]')
                FROM kept_partitions WHERE project_id = c.project_id AND cluster_id = c.id) END AS kept_partitions,
           CASE WHEN EXISTS (SELECT FROM capacity_waits AS first
                              WHERE first.project_id = c.project_id AND first.cluster_id = c.id
                                AND first.kind = 'cluster.create' AND first.granted_at IS NULL) THEN 0
                ELSE greatest(0, least(held.quarantine_left, :request_life)) END::float8 AS quarantine_left,
           (SELECT count(*) FROM health_reports r
             WHERE r.region = c.region AND r.code = 'not_clean' AND r.cleared_at IS NULL
               AND r.first_seen_at > app_now() - interval '1 hour') AS isolated,
           (SELECT count(*) FROM health_reports r
             WHERE r.region = c.region AND r.code = 'build_failed' AND r.cleared_at IS NULL
               AND r.first_seen_at > app_now() - interval '1 hour') AS replaced,
           EXISTS (SELECT FROM observations
                    WHERE observations.region = c.region AND halted_since IS NOT NULL) AS automation_halted,
           o.forced_reason IS NOT NULL AS forced, {frozen_until("c.region")} AS frozen_until,
           rebuild.disk, rebuild.begun_at IS NOT NULL AS begun,
           CASE WHEN waited.cluster_id IS NOT NULL THEN json_build_array(
             waited.granted_at IS NOT NULL, extract(epoch FROM waited.until - app_now())::float8) END AS wait,
           ARRAY(SELECT volumes.name FROM volumes
                  WHERE volumes.project_id = c.project_id AND volumes.cluster_id = c.id AND volumes.state = 'attaching'
                  ORDER BY volumes.name) AS attaching_volumes
      FROM work w
      LEFT JOIN clusters c ON c.id = CAST(w.key AS uuid)
      {controller_of_cluster("c", "v")}
      LEFT JOIN operations o ON o.cluster_id = c.id AND o.finished_at IS NULL AND o.partition_id IS NULL
      {CURRENT_STEP}
      LEFT JOIN capacity_waits waited ON waited.project_id = o.project_id AND waited.operation_id = o.id
      LEFT JOIN resizes resized ON resized.project_id = o.project_id AND resized.operation_id = o.id
      LEFT JOIN cluster_rebuilds rebuild ON rebuild.project_id = o.project_id AND rebuild.operation_id = o.id
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_array(m.id, m.name, p.vipu_cluster_id, p.topology, dirty.id IS NOT NULL)
                          ORDER BY a.ordinal)
                 FILTER (WHERE m.id IS NOT NULL) AS machines,
               json_agg(json_build_array(h.id, h.name, ps.name, ps.ordinal, dirty.id IS NOT NULL,
                                         ps.state = 'pending' OR given_up.id IS NOT NULL,
                                         ps.state = 'rebooting', ps.boot_before, ps.state = 'rebuilding',
                                         ps.generation, lost.id IS NOT NULL) ORDER BY a.ordinal)
                 FILTER (WHERE h.id IS NOT NULL) AS hosts,
               extract(epoch FROM greatest(max(a.released_at), (
                 SELECT max(finished_at) FROM operation_steps
                  WHERE project_id = o.project_id AND operation_id = o.id AND name = 'power_off_machines'
               )) - app_now()) + :request_life AS quarantine_left
          FROM allocations a
          LEFT JOIN machines m ON m.id = a.machine_id
          LEFT JOIN pods p ON p.id = m.pod_id
          LEFT JOIN hosts h ON h.id = a.host_id
          LEFT JOIN health_reports dirty
                 ON (dirty.machine_id = m.id OR dirty.host_id = h.id) AND dirty.code = 'not_clean'
                AND dirty.cluster_id = c.id AND dirty.cleared_at IS NULL
          LEFT JOIN health_reports given_up
                 ON given_up.host_id = h.id AND given_up.source = 'operation' AND given_up.code = 'replaced'
                AND given_up.cluster_id = c.id AND given_up.cleared_at IS NULL
          LEFT JOIN health_reports lost
                 ON lost.host_id = h.id AND lost.source = 'host' AND lost.code = 'host_failed'
                AND lost.cluster_id = c.id AND lost.cleared_at IS NULL
          LEFT JOIN poplar_servers ps ON ps.cluster_id = a.cluster_id AND h.id IS NOT NULL AND ps.ordinal = a.ordinal
         WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
           AND (resized.idle IS NULL OR a.resize IS DISTINCT FROM resized.idle)) AS held ON true
      LEFT JOIN LATERAL (
        SELECT json_build_object(
                 'keys', json_object_agg(name, sha256) FILTER (WHERE replaced_at IS NULL),
                 'ended_server_key',
                 coalesce(bool_or(ends_server_key AND starts_with(name, c.external_name || '-')), false)) AS access
          FROM vipu_access_keys k WHERE k.project_id = c.project_id AND k.cluster_id = c.id) AS known ON v.secure
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,  # noqa: S608  # our own text
    _Row,
)


async def load(
    connection: Statements,
    item: WorkItem,
    *,
    request_life: float,
    keys: Keys | None,
    isolation: Isolation,
    power_limit: float,
    validated: bool,
) -> ClusterInputs | None:
    """The inputs, or None when the cluster is gone or has no open operation. Raises LeaseLost.

    `isolation`: its budget is for an hour, and creates and resumes have one of the same size for hardware that they
    replace.
    """
    row = await inputs_of(connection, _LOAD, item, request_life=request_life)
    if row.operation is None:
        return None
    return ClusterInputs(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        external_name=row.external_name,
        region=row.region,
        machine_type=row.machine_type,
        state=row.state,
        image=row.image,
        ipus=row.ipus,
        allocated_through=row.allocated_through,
        reconfigurable=row.reconfigurable,
        user_data=StoredUserData(row.user_data, keys, user_data_place(row.id, row.project_id)),
        authorized_keys=_authorized_keys(row),
        keys_revision=row.keys_revision,
        allowed_sources=tuple(row.allowed_sources),
        sources_revision=row.sources_revision,
        vipu=row.vipu,
        endpoint=row.endpoint,
        access=None if row.access is None else access_of(row.external_name, keys, row.access),
        machines=tuple(MachineInput(*machine) for machine in row.machines),
        hosts=tuple(HostInput(*host) for host in row.hosts),
        kept_partitions=None if row.kept_partitions is None else tuple(map(_kept, row.kept_partitions)),
        quarantine_left=row.quarantine_left,
        isolation=isolation.in_region(row.isolated, halted=row.automation_halted, forced=row.forced),
        replaceable=isolation.budget - row.replaced,
        power_limit=power_limit,
        request_life=request_life,
        frozen_until=row.frozen_until,
        validated=validated,
        operation=row.operation,
        rebuild=None if row.disk is None else Rebuild(row.disk, row.begun),
        wait=None if row.wait is None else CapacityWait(*row.wait),
        attaching_volumes=tuple(row.attaching_volumes),
    )


def _authorized_keys(row: _Row) -> tuple[str, ...]:
    authority = () if row.ssh_authority is None else (trusting(row.ssh_authority, row.id),)
    return (*row.ssh_public_keys, *authority)


def _kept(pair: list[Any]) -> KeptPartition:
    name, shape = pair
    return KeptPartition(name, None if shape is None else shape_of(shape))
