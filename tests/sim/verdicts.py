"""What must hold when a history has come to rest: database, site and bill agree, and the product's own rules hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.usage import cluster_usage
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import TEARDOWN
from ipucloud.config import Settings
from ipucloud.invariants import billing_credits, billing_invoices, billing_ledger, billing_live, guards, storage
from ipucloud.invariants.registry import INVARIANTS
from ipucloud.invariants.rules import violations
from ipucloud.site.vipu_ports import PartitionState
from ipucloud.wire.site import HostState
from tests.sim.changing import SIZES
from tests.sim.database import Plain
from tests.sim.oracle import Span, within
from tests.sim.scheduled import wrong_repairs
from tests.sim.site.hardware import Hardware
from tests.sim.site.state import Host

_OTHER_RULES = (
    *(*storage.ADDRESS_RULES, *storage.RULES, *guards.RULES, *billing_credits.RULES, *billing_live.RULES),
    *(*billing_ledger.RULES, *billing_ledger.ROLL_UP_RULES, *billing_invoices.RULES),
)
RULES = tuple(rule for rule in INVARIANTS if rule not in _OTHER_RULES)
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
         WHERE o.cluster_id = a.cluster_id
           AND o.kind IN ('cluster.suspend', 'cluster.resume', 'cluster.replace-hardware', 'cluster.resize'))
  FROM allocations a GROUP BY a.cluster_id
"""
_DIVIDED = """
SELECT p.external_name, p.state, p.origin,
       EXISTS (SELECT FROM operations o
                WHERE o.cluster_id = c.id AND o.kind = 'cluster.resize' AND o.state = 'succeeded') AS resized
  FROM partitions p JOIN clusters c ON c.id = p.cluster_id
 WHERE c.external_name = %s AND p.removed_at IS NULL
"""
_BILLED = """
SELECT c.external_name, u.quantity, u.started_at,
       (SELECT data ->> 'flavor' FROM events e WHERE e.subject_id = c.id AND e.type = 'cluster.created'),
       (SELECT array_agg(data ->> 'to_flavor' ORDER BY e.created_at, e.id) FROM events e
         WHERE e.subject_id = c.id AND e.type = 'cluster.resized' AND e.created_at <= u.started_at + %s)
  FROM usage_intervals u JOIN clusters c ON c.id = u.resource_id
 ORDER BY c.id, u.started_at
"""
_CLUSTER = 26
"""Characters of a name that are the cluster's; its incarnation follows."""
_STEPS = len(CREATE.steps) + len(TEARDOWN)
_LIVES = """
SELECT c.id, c.project_id, c.external_name, c.created_at, c.billing_starts,
       array_agg(e.created_at ORDER BY e.created_at, e.id) FILTER (WHERE e.type = 'cluster.active'),
       array_agg(e.created_at ORDER BY e.created_at, e.id) FILTER (WHERE e.type <> 'cluster.active')
  FROM clusters c
  LEFT JOIN events e ON e.subject_id = c.id
        AND e.type IN ('cluster.active', 'cluster.suspending', 'cluster.rebuilding', 'cluster.resizing',
                       'cluster.deleting')
 GROUP BY c.id
"""


_RESERVED = """
SELECT DISTINCT a.cluster_id, CASE WHEN r.state = 'ended' THEN r.ends_at END,
       (SELECT min(e.created_at) FROM events e
         WHERE e.subject_id = a.cluster_id AND e.type = 'cluster.suspending')
  FROM allocations a JOIN reservations r ON r.id = a.reservation_id WHERE a.cluster_id IS NOT NULL
"""


@dataclass(frozen=True)
class Ending:
    """A history at rest. `tolerance`: seconds that its longest transaction took, for those of whose statements the
    times differ. `own_partitions`: those that customers made instead of ours, by cluster. `cancelled`: operations
    whose cancellation was accepted. `changes`: how many requests to change something were sent, by cluster id.
    `swept`: how many things came back or were lost, which kept machines from being used until a sweep had repaired
    that. `forgets`: how often the controller lost all that it had been told.
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
    swept: int
    forgets: int
    settings: Settings


async def all_that_is_wrong(ending: Ending) -> list[str]:
    """One sentence for each fault."""
    wrong = [*_site(ending), *_cancelled(ending), *_calls(ending), *await _minutes(ending)]
    wrong += _sizes(ending)
    wrong += wrong_repairs(ending.control, ending.settings, ending.tolerance)
    connection = cast("AsyncConnection", ending.plain)
    for rule in RULES:
        wrong += [
            f"{rule.name}: {violation.object_id}: {violation.detail}"
            for violation in await violations(connection, rule)
        ]
    return wrong


def _site(ending: Ending) -> Iterator[str]:
    """X2, X3: at the site is what the living clusters hold, and nothing else."""
    state = ending.hardware.state
    allocations: dict[str, object] = {}
    networks: dict[str, object] = {}
    servers: dict[str, object] = {}
    living: dict[str, object] = {}
    working: set[str] = set()
    suspended: dict[str, object] = {}
    for name, suspends, machines_held, hosts_held in ending.control.execute(_LIVING).fetchall():
        if suspends:
            suspended |= dict.fromkeys(hosts_held or (), name[:_CLUSTER])
            continue
        working.update(machines_held)
        allocations[name] = sorted(machines_held)
        networks[name] = (sorted(machines_held), sorted(hosts_held))
        servers |= dict.fromkeys(hosts_held, name)
        living |= {f"{name}/{partition}": state for partition, state in _partitions(ending, name)}
    users = {each.id: (sorted(each.allocations), len(each.keys)) for each in state.users.values()}
    yield from _compare("users", {name: ([name], 1) for name in allocations}, users)
    yield from _compare("allocations", allocations, {a.id: sorted(a.agent_ids) for a in state.allocations.values()})
    yield from _compare(
        "networks", networks, {n: (sorted(f.spec.machines), sorted(f.spec.hosts)) for n, f in state.networks.items()}
    )
    yield from _compare("partitions", living, {"/".join(key): entry.state for key, entry in state.partitions.items()})
    # A server that rests may be of an earlier life of its cluster, and so of another network.
    of_network = {
        name: host.server.name[:_CLUSTER] if name in suspended else host.server.network
        for name, host in state.hosts.items()
        if host.server
    }
    yield from _compare("servers", servers | suspended, of_network)
    yield from _compare(
        "hosts",
        {name: _expected_state(name, servers, suspended) for name in state.hosts},
        {name: HostState.OFF if _broken(name, suspended, host) else host.state for name, host in state.hosts.items()},
    )
    yield from _compare(
        "power",
        {name: "On" if name in working else "Off" for name in state.machines},
        {name: machine.power for name, machine in state.machines.items()},
    )


def _sizes(ending: Ending) -> Iterator[str]:
    """X12: what is billed in an interval is the size that the cluster had then. Instants count by their second."""
    tolerance = ending.tolerance + timedelta(seconds=1)
    for name, quantity, started_at, created, resized in ending.control.execute(_BILLED, (tolerance,)).fetchall():
        flavor = (resized or [created])[-1]
        if SIZES[flavor] != quantity:
            yield f"X12: {name} is billed for {quantity} machines from {started_at} on, and was a {flavor}"


def _expected_state(host: str, servers: Collection[str], suspended: Collection[str]) -> HostState:
    return HostState.RUNNING if host in servers else HostState.OFF if host in suspended else HostState.CLEAN


def _broken(name: str, suspended: Collection[str], host: Host) -> bool:
    """A host that did not come up for a resume is as good as off until somebody repairs it."""
    return name in suspended and host.state is HostState.FAILED


def _partitions(ending: Ending, name: str) -> Iterator[tuple[str, object]]:
    """What a living cluster has: what is on record, in use; or what its customer made instead, however that fares.

    Where a customer took ours away, a late request to make it may have brought it back: both are right.
    """
    at_site = {own: each for (owner, own), each in ending.hardware.state.partitions.items() if owner == name}
    own = ending.own_partitions.get(name)
    removed = any(each[:_CLUSTER] == name[:_CLUSTER] for each in ending.own_partitions)
    for recorded, state, origin, resized in ending.control.execute(_DIVIDED, (name,)).fetchall():
        if origin == "customer":
            if own is None:  # made in an earlier incarnation, and again by a repair
                yield recorded, at_site[recorded].state if recorded in at_site else "there"
        elif state == "missing" and (ending.forgets or resized) and recorded not in at_site:
            continue  # it was lost, and the controller refused to make it again; or no room was left for it
        elif not removed or recorded != name:
            yield recorded, PartitionState.ACTIVE if state == "active" else state
    for partition in own or ():
        yield partition, at_site[partition].state if partition in at_site else "there"
    if removed and name in at_site:
        yield name, at_site[name].state


def _compare(what: str, expected: Mapping[str, object], actual: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(expected.keys() | actual.keys()):
        if expected.get(name) != actual.get(name):
            yield f"X3: {what}: {name} is {actual.get(name)} at the site and should be {expected.get(name)}"


def _cancelled(ending: Ending) -> Iterator[str]:
    """A customer whose cancellation was accepted does not find a cluster, nor a bill, instead."""
    rows = ending.control.execute("SELECT id, state FROM operations WHERE id = ANY (%s)", (list(ending.cancelled),))
    for operation, state in rows.fetchall():
        if state not in {"cancelled", "failed"}:
            yield f"operation {operation} was being cancelled and {state}"


def _calls(ending: Ending) -> Iterator[str]:
    """X8: three requests for each step and object, and as many more as were lost or made by workers that died."""
    for cluster, width, requests, suspends in ending.control.execute(_WIDTHS).fetchall():
        maximum = (3 * (_STEPS + suspends) + 6 * requests) * width + 2 * width * (
            ending.disruptions + 20 * ending.swept
        )
        if ending.changes.get(cluster, 0) > maximum:
            yield f"X8: {ending.changes[cluster]} requests to change something for {cluster}; {maximum} is enough"


async def _minutes(ending: Ending) -> list[str]:
    """X4: what is billed is what the rule says."""
    wrong = []
    rows = ending.control.execute(_RESERVED).fetchall()
    reserved = {cluster: (ends_at, suspended_at) for cluster, ends_at, suspended_at in rows}
    for cluster, project, name, created_at, billed, begun, ended in ending.control.execute(_LIVES).fetchall():
        usage = await cluster_usage(cast("AsyncConnection", ending.plain), project_id=project, cluster_id=cluster)
        uses = [(start, next((end for end in ended or () if end >= start), None)) for start in begun or ()]
        uses = list(_outside(uses, reserved.get(cluster)))
        minimum, maximum = within(uses, ending.now, ending.tolerance)
        if uses and billed == "requested":
            # Minutes begin with the build, of which no more is billed than was announced, and nothing if it failed.
            minimum -= 1
            maximum = within([(min(created_at, uses[0][0]), uses[0][1]), *uses[1:]], ending.now, ending.tolerance)[1]
        if not minimum <= usage.minutes <= maximum:
            wrong.append(f"X4: {name} is billed {usage.minutes} minutes and used {minimum} to {maximum}")
    return wrong


def _outside(uses: Sequence[Span], reserved: tuple[datetime | None, datetime | None] | None) -> Iterator[Span]:
    """What is billed of a cluster's uses. `reserved`: the end of the reservation that it was created from, unless that
    is active, and when the cluster first was suspended, which ended its use of the reservation."""
    for start, end in uses:
        if reserved is None or (reserved[1] is not None and start > reserved[1]):
            yield start, end
        elif reserved[0] is not None and (end is None or end > reserved[0]):
            yield max(start, reserved[0]), end
