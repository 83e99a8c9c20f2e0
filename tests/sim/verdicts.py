"""What must hold when a history has come to rest: database, site and bill agree, and the product's own rules hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.usage import cluster_usage
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import TEARDOWN
from ipucloud.invariants import billing, clusters, log, machines, operations, partitions, tenancy, work_items
from ipucloud.invariants.rules import violations
from ipucloud.site.ports import PartitionState
from ipucloud.wire.site import HostState
from tests.sim.database import Plain
from tests.sim.oracle import within
from tests.sim.site.hardware import Hardware
from tests.sim.site.state import Host

RULES = (
    *clusters.RULES,
    *operations.RULES,
    *partitions.RULES,
    *work_items.RULES,
    *machines.RULES,
    *billing.RULES,
    *tenancy.RULES,
    *log.RULES,
)
"""The rules about what histories write; those about the schema are held once for the stage."""

_LIVING = """
SELECT c.external_name, c.state = 'suspended',
       array_agg(m.name ORDER BY a.ordinal) FILTER (WHERE m.id IS NOT NULL),
       array_agg(h.name ORDER BY a.ordinal) FILTER (WHERE h.id IS NOT NULL)
  FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.freed_at IS NULL
  LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
 GROUP BY c.id
"""
_WIDTHS = """
SELECT a.cluster_id::text, count(*), (SELECT count(*) FROM operations o WHERE o.cluster_id = a.cluster_id),
       (SELECT count(*) FROM operations o JOIN operation_steps s ON s.operation_id = o.id
         WHERE o.cluster_id = a.cluster_id AND o.kind IN ('cluster.suspend', 'cluster.resume'))
  FROM allocations a GROUP BY a.cluster_id
"""
_DIVIDED = """
SELECT p.external_name, p.state FROM partitions p JOIN clusters c ON c.id = p.cluster_id
 WHERE c.external_name = %s AND p.removed_at IS NULL AND p.origin <> 'customer'
"""
_CLUSTER = 26
"""Characters of a name that are the cluster's; its incarnation follows."""
_STEPS = len(CREATE.steps) + len(TEARDOWN)
_LIVES = """
SELECT c.id, c.project_id, c.external_name,
       array_agg(e.created_at ORDER BY e.created_at, e.id) FILTER (WHERE e.type = 'cluster.active'),
       array_agg(e.created_at ORDER BY e.created_at, e.id) FILTER (WHERE e.type <> 'cluster.active')
  FROM clusters c
  LEFT JOIN events e ON e.subject_id = c.id
        AND e.type IN ('cluster.active', 'cluster.suspending', 'cluster.deleting')
 GROUP BY c.id
"""


@dataclass(frozen=True)
class Rest:
    """A history at rest. `tolerance`: seconds that its longest transaction took, for those of whose statements the
    times differ. `own_partitions`: those that customers made instead of ours, by cluster. `cancelled`: operations
    whose cancellation was accepted. `changes`: how many requests to change something were sent, by cluster id.
    """

    control: psycopg.Connection[Any]
    plain: Plain
    hardware: Hardware
    now: datetime
    tolerance: timedelta
    own_partitions: Mapping[str, Collection[str]]
    cancelled: Collection[UUID]
    changes: Mapping[str, int]
    disruptions: int


async def all_that_is_wrong(rest: Rest) -> list[str]:
    """One sentence for each fault."""
    wrong = [*_site(rest), *_cancelled(rest), *_calls(rest), *await _minutes(rest)]
    connection = cast("AsyncConnection", rest.plain)
    for rule in RULES:
        wrong += [f"{rule.name}: {found.object_id}: {found.detail}" for found in await violations(connection, rule)]
    return wrong


def _site(rest: Rest) -> Iterator[str]:
    """X2, X3: at the site is what the living clusters hold, and nothing else."""
    state = rest.hardware.state
    allocations: dict[str, object] = {}
    networks: dict[str, object] = {}
    servers: dict[str, object] = {}
    living: dict[str, object] = {}
    working: set[str] = set()
    resting: dict[str, object] = {}
    for name, rests, machines_held, hosts_held in rest.control.execute(_LIVING).fetchall():
        if rests:
            resting |= dict.fromkeys(hosts_held, name[:_CLUSTER])
            continue
        working.update(machines_held)
        allocations[name] = sorted(machines_held)
        networks[name] = (sorted(machines_held), sorted(hosts_held))
        servers |= dict.fromkeys(hosts_held, name)
        living |= dict(_partitions(rest, name))
    users = {each.id: (sorted(each.allocations), len(each.keys)) for each in state.users.values()}
    yield from _compare("users", {name: ([name], 1) for name in allocations}, users)
    yield from _compare("allocations", allocations, {a.id: sorted(a.agent_ids) for a in state.allocations.values()})
    yield from _compare(
        "networks", networks, {n: (sorted(f.spec.machines), sorted(f.spec.hosts)) for n, f in state.networks.items()}
    )
    yield from _compare("partitions", living, {name: found.state for name, found in state.partitions.items()})
    # A server that rests may be of an earlier life of its cluster, and so of another network.
    of_network = {
        name: host.server.name[:_CLUSTER] if name in resting else host.server.network
        for name, host in state.hosts.items()
        if host.server
    }
    yield from _compare("servers", servers | resting, of_network)
    yield from _compare(
        "hosts",
        {name: _wanted(name, servers, resting) for name in state.hosts},
        {name: HostState.OFF if _broken(name, resting, host) else host.state for name, host in state.hosts.items()},
    )
    yield from _compare(
        "power",
        {name: "On" if name in working else "Off" for name in state.machines},
        {name: machine.power for name, machine in state.machines.items()},
    )


def _wanted(host: str, servers: Collection[str], resting: Collection[str]) -> HostState:
    return HostState.RUNNING if host in servers else HostState.OFF if host in resting else HostState.CLEAN


def _broken(name: str, resting: Collection[str], host: Host) -> bool:
    """A host that did not come up for a resume is as good as off until somebody mends it."""
    return name in resting and host.state is HostState.FAILED


def _partitions(rest: Rest, name: str) -> Iterator[tuple[str, object]]:
    """What a living cluster has: what is on record, in use; or what its customer made instead, however that fares.

    Where a customer took ours away, a late request to make it may have brought it back: both are right.
    """
    found = rest.hardware.state.partitions
    own = rest.own_partitions.get(name)
    for recorded, state in rest.control.execute(_DIVIDED, (name,)).fetchall():
        if own is None or recorded != name:
            yield recorded, PartitionState.ACTIVE if state == "active" else state
    for made in own or ():
        yield made, found[made].state if made in found else "there"
    if own is not None and name in found:
        yield name, found[name].state


def _compare(what: str, wanted: Mapping[str, object], found: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            yield f"X3: {what}: {name} is {found.get(name)} at the site and should be {wanted.get(name)}"


def _cancelled(rest: Rest) -> Iterator[str]:
    """Whoever was told that his operation is being cancelled does not find a cluster, nor a bill, instead."""
    found = rest.control.execute("SELECT id, state FROM operations WHERE id = ANY (%s)", (list(rest.cancelled),))
    for operation, state in found.fetchall():
        if state not in {"cancelled", "failed"}:
            yield f"operation {operation} was being cancelled and {state}"


def _calls(rest: Rest) -> Iterator[str]:
    """X8: three requests for each step and object, and as many more as were lost or made by workers that died."""
    for cluster, width, promises, rests in rest.control.execute(_WIDTHS).fetchall():
        most = (3 * (_STEPS + rests) + 6 * promises) * width + 2 * width * rest.disruptions
        if rest.changes.get(cluster, 0) > most:
            yield f"X8: {rest.changes[cluster]} requests to change something for {cluster}; {most} is enough"


async def _minutes(rest: Rest) -> list[str]:
    """X4: what is billed is what the rule says."""
    wrong = []
    for cluster, project, name, begun, ended in rest.control.execute(_LIVES).fetchall():
        usage = await cluster_usage(cast("AsyncConnection", rest.plain), project_id=project, cluster_id=cluster)
        uses = [(start, next((end for end in ended or () if end >= start), None)) for start in begun or ()]
        least, most = within(uses, rest.now, rest.tolerance)
        if not least <= usage.minutes <= most:
            wrong.append(f"X4: {name} is billed {usage.minutes} minutes and used {least} to {most}")
    return wrong
