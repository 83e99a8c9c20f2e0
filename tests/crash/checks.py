"""What must hold once everything asked for is done: the site has exactly what the database says, and all rules hold."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ipucloud.invariants.audit import audit
from ipucloud.site.vipu_ports import PartitionState
from ipucloud.wire import vipu_admin_pb2, vipu_admin_pb2_grpc
from ipucloud.wire.site import HostState, NetworkState
from tests.crash.lab import Lab
from tests.support.invariants import in_one_line
from tests.support.waiting import PATIENCE

REGION = "luxembourg-2"

_CLUSTERS = """
SELECT c.id, c.external_name, c.state,
       (SELECT count(*) FROM events e WHERE e.subject_id = c.id AND e.type = 'cluster.active') AS uses,
       coalesce((SELECT array_agg(m.name) FROM allocations a JOIN machines m ON m.id = a.machine_id
                  WHERE a.cluster_id = c.id AND a.freed_at IS NULL), '{}') AS machines,
       coalesce((SELECT array_agg(h.name) FROM allocations a JOIN hosts h ON h.id = a.host_id
                  WHERE a.cluster_id = c.id AND a.freed_at IS NULL), '{}') AS hosts,
       coalesce((SELECT array_agg(p.name) FROM poplar_servers p
                  WHERE p.cluster_id = c.id AND p.state IN ('running', 'off')), '{}') AS servers,
       coalesce((SELECT array_agg(p.external_name) FROM partitions p
                  WHERE p.cluster_id = c.id AND p.removed_at IS NULL), '{}') AS partitions,
       (SELECT count(*) FROM usage_intervals u WHERE u.resource_id = c.id AND u.ended_at IS NULL) AS running,
       (SELECT count(*) FROM usage_intervals u WHERE u.resource_id = c.id AND NOT EXISTS (
          SELECT FROM usage_intervals b WHERE b.resource_id = c.id AND b.ended_at = u.started_at AND b.id <> u.id)
       ) AS spells,
       (SELECT count(*) FROM usage_intervals u WHERE u.resource_id = c.id) AS intervals,
       (SELECT count(*) FROM operations o WHERE o.cluster_id = c.id AND o.finished_at IS NULL) AS open
  FROM clusters c
 WHERE c.id = ANY (:trial) OR c.deleted_at IS NULL
"""
_STUCK = """
SELECT kind || ' ' || key || ': leased ' || (lease_owner IS NOT NULL) || ', due ' || (run_at IS NOT NULL)
       || ', parked ' || (parked_at IS NOT NULL) || ', ' || coalesce(last_error, '') AS work_item
  FROM work
 WHERE parked_at IS NOT NULL
    OR lease_until < app_now() - interval '5 seconds'
    OR kind = 'cluster' AND run_at IS NOT NULL AND NOT EXISTS (
         SELECT FROM operations o WHERE o.cluster_id = work.key::uuid AND o.finished_at IS NULL)
"""
_QUOTAS = """
SELECT q.used, (SELECT count(*) FROM allocations a JOIN clusters c ON c.id = a.cluster_id
                 WHERE a.freed_at IS NULL AND a.machine_id IS NOT NULL AND c.project_id = q.project_id
                   AND c.region = q.region AND c.machine_type = q.machine_type) AS held
  FROM quotas q
"""


_ISOLATED = """
SELECT h.name FROM hosts h JOIN health_reports r ON r.host_id = h.id WHERE r.code = 'not_clean' AND r.cleared_at IS NULL
"""


@dataclass(frozen=True)
class SiteObjects:
    """What the site has of one name."""

    network: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    partitions: frozenset[str] = frozenset()
    servers: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    dark: frozenset[str] = frozenset()
    """Machines of the allocation that are off."""


async def at_the_site(lab: Lab, owners: Mapping[str, str], isolated: Collection[str] = ()) -> dict[str, SiteObjects]:
    """Everything that stands at the site, by the external name it belongs to. Half-made things have a mark.

    `owners`: the external names of servers' clusters, which may have had another one when the server was made.
    `isolated`: hosts that a clean-up has left, with whatever they have.
    """
    site = await lab.patient_site()
    networks, hosts, partitions, allocations = await asyncio.gather(
        site.networks.list(REGION), site.hosts.list(REGION), site.vipu.all_partitions(), site.vipu.list_allocations("")
    )
    by_name: dict[str, dict[str, frozenset[str]]] = {}

    def note(name: str, part: str, names: frozenset[str]) -> None:
        entry = by_name.setdefault(name, {})
        entry[part] = entry.get(part, frozenset()) | names

    for network in networks:
        mark = set() if network.state is NetworkState.READY else {network.state.value}
        note(network.name, "network", frozenset({*network.spec.machines, *network.spec.hosts, *mark}))
    for allocation in allocations:
        note(allocation.id, "agents", allocation.agent_ids)
        systems = await asyncio.gather(*(site.machines.get(agent) for agent in allocation.agent_ids))
        note(allocation.id, "dark", frozenset(system.Id for system in systems if system.PowerState != "On"))
    for user in _users(lab):
        mark = {f"sees {sorted(user.allocation_ids)}"} if list(user.allocation_ids) != [user.id] else set()
        note(user.id, "users", frozenset({user.id, *mark, *([] if user.access_key_ids else ["no key"])}))
    for partition in partitions:
        mark = set() if partition.state is PartitionState.ACTIVE else {partition.state.value}
        note(partition.allocation_id, "partitions", frozenset({partition.id, *mark}))
    for host in hosts:
        if host.name in isolated:
            continue
        if host.server is not None:
            owner = owners.get(host.server.name, host.server.network)
            mark = {host.server.network, "on"} if host.state is HostState.RUNNING else {host.state.value}
            note(owner, "servers", frozenset({f"{host.server.name} on {host.name}", *mark}))
        elif host.state is not HostState.CLEAN:
            note(host.name, "servers", frozenset({host.state.value}))
    return {name: SiteObjects(**parts) for name, parts in by_name.items()}


def _users(lab: Lab) -> list[vipu_admin_pb2.User]:
    """But for the control plane's own."""
    stub = vipu_admin_pb2_grpc.AdminServiceStub(lab.site.channel())
    answer = stub.ListUsers(vipu_admin_pb2.ListUsersRequest(), timeout=PATIENCE)
    return [user for user in answer.users if not user.all_allocations]


def _expected(cluster: Any) -> SiteObjects:
    servers = frozenset(f"{server} on {host}" for server, host in zip(cluster.servers, cluster.hosts, strict=True))
    if cluster.state == "suspended":
        return SiteObjects(servers=servers | {"off"})
    if cluster.state != "active":
        return SiteObjects()
    return SiteObjects(
        network=frozenset({*cluster.machines, *cluster.hosts}),
        agents=frozenset(cluster.machines),
        partitions=frozenset(cluster.partitions),
        users=frozenset({cluster.external_name}),
        servers=servers | {"on", cluster.external_name},
    )


async def faults(lab: Lab, *trial: UUID) -> list[str]:
    """Everything that is wrong, in sentences. `trial`: the clusters a trial was about, gone ones too."""
    clusters = await lab.rows(_CLUSTERS, trial=list(trial))
    owners = {server: cluster.external_name for cluster in clusters for server in cluster.servers}
    site = await at_the_site(lab, owners, await lab.column(_ISOLATED))
    wrong: list[str] = []
    for cluster in clusters:
        there = site.pop(cluster.external_name, SiteObjects())
        wrong += _of_cluster(cluster, there)
    wrong += [f"the site has {name} and no cluster does: {there}" for name, there in site.items()]
    wrong += [f"stuck: {row.work_item}" for row in await lab.rows(_STUCK)]
    wrong += [f"quota {q.used}, held {q.held}" for q in await lab.rows(_QUOTAS) if q.used != q.held]
    wrong += [in_one_line(finding) for finding in await audit(lab.database)]
    return wrong


def _of_cluster(cluster: Any, there: SiteObjects) -> list[str]:
    wrong = []
    alive = cluster.state == "active"
    if cluster.open:
        wrong.append(f"{cluster.state} with an open operation")
    if there != _expected(cluster):
        wrong.append(f"{cluster.state}, and the site has {there}")
    if (bool(cluster.machines), bool(cluster.hosts)) != (alive, alive or cluster.state == "suspended"):
        wrong.append(f"{cluster.state} and holds {cluster.machines} {cluster.hosts}")
    # What lasts less than a second leaves no gap between two uses, and credited machines divide one.
    if cluster.running != int(alive) or not cluster.spells <= cluster.uses <= cluster.intervals:
        billed = f"{cluster.running} open intervals of {cluster.intervals} in {cluster.spells} spells"
        wrong.append(f"{cluster.state}, in use {cluster.uses} times, {billed}")
    return [f"{cluster.external_name}: {sentence}" for sentence in wrong]
