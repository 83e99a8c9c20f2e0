"""What must hold at every moment: seen from outside, by whoever could see database and site at once.

Numbers X… are those of tests/sim/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from ipucloud.wire.site import HostState
from tests.sim.scheduler import Actor
from tests.sim.site.hardware import Hardware
from tests.sim.site.network import Network, Request

CUSTOMER = "customer"
"""The sender of what a customer does at the controller with his own hands."""

SWEEP = "sweep_leftovers"
"""The sender of what a sweep removes."""

RESTARTS = frozenset({"reboot", "power_cycle"})
REBUILDS = frozenset({"rebuild_keep", "rebuild_wipe"})
_OF_SERVERS = RESTARTS | REBUILDS | {"put_keys"}
CREATES = _OF_SERVERS | {
    "create_allocation",
    "create_partition",
    "put_network",
    "put_server",
    "start_test",
    "switch_on",
}
REMOVES = frozenset(
    {
        "remove_partition",
        "remove_partitions",
        "remove_user",
        "remove_allocation",
        "delete_network",
        "delete_server",
        "power_off",
        "switch_off",
    }
)

_HOLDERS = """
SELECT coalesce(m.name, h.name), a.cluster_id::text
  FROM allocations a LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
 WHERE a.freed_at IS NULL
 UNION ALL
SELECT m.name, m.pod_id::text FROM hardware_validations v JOIN machines m ON m.id = v.machine_id
 WHERE v.name IS NOT NULL AND v.ended_at IS NULL
"""
_LIVING = """
SELECT FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.freed_at IS NULL
 WHERE c.external_name = %(name)s AND c.state <> 'suspended'
"""
_VALIDATED = """
SELECT v.ended_at IS NOT NULL OR v.result IS NOT NULL AND %(sender)s <> 'sweep_leftovers'
  FROM hardware_validations v JOIN machines m ON m.id = v.machine_id
 WHERE v.name = %(name)s OR %(call)s = 'power_off' AND m.name = %(name)s AND m.pod_id::text = %(sender)s
 ORDER BY v.ended_at DESC NULLS FIRST LIMIT 1
"""
# What is removed of an earlier incarnation of a cluster hits nothing of the present one. A change of power does not
# tell its incarnation; whom it disturbs, is seen when it takes effect.
_CLUSTER = """
SELECT c.external_name,
       c.state IN ('deleting', 'deleted', 'error', 'suspending', 'suspended') OR EXISTS (
         SELECT FROM operations o WHERE o.cluster_id = c.id AND o.undoing)
       OR EXISTS (
         SELECT FROM operations o JOIN operation_steps s ON s.operation_id = o.id
          WHERE o.cluster_id = c.id AND o.finished_at IS NULL AND s.state IN ('pending', 'running')
            AND (s.name = 'take_other_hardware' OR o.kind = 'cluster.resize' AND s.name = 'verify_suspended'))
       OR (starts_with(%(name)s, left(c.external_name, 26)) AND NOT starts_with(%(name)s, c.external_name))
       OR (%(call)s = 'power_off' AND c.incarnation > 1)
  FROM clusters c WHERE c.id::text = %(sender)s OR starts_with(%(name)s, left(c.external_name, 26))
 ORDER BY c.id::text = %(sender)s DESC LIMIT 1
"""
_OWN = 26
"""Characters of a name that are the cluster's; its incarnation follows."""
_UNWANTED = """
SELECT 1 FROM partitions
 WHERE %(call)s = 'remove_partition' AND external_name = %(name)s AND desired_state = 'absent' AND origin <> 'customer'
 UNION ALL
SELECT 1 FROM health_reports r JOIN machines m ON m.id = r.machine_id
 WHERE %(call)s = 'power_off' AND m.name = %(name)s AND r.cleared_at IS NULL
   AND r.code IN ('not_clean', 'build_failed', 'replaced')
"""
_RESTARTS = """
SELECT c.external_name, c.state IN ('deleting', 'deleted') AS going, o.id::text AS operation_id
  FROM clusters c
  LEFT JOIN operations o ON o.cluster_id = c.id AND o.finished_at IS NULL
        AND o.kind = CASE %(call)s WHEN 'reboot' THEN 'cluster.reboot' ELSE 'cluster.power-cycle' END
 WHERE c.id::text = %(sender)s
"""
_REBUILDS = """
SELECT c.external_name, c.state IN ('deleting', 'deleted') AS going, o.id::text AS operation_id, 'rebuild_' || r.disk
  FROM clusters c
  LEFT JOIN operations o ON o.cluster_id = c.id AND o.finished_at IS NULL AND o.kind LIKE 'cluster.rebuild%%'
  LEFT JOIN cluster_rebuilds r ON r.operation_id = o.id
 WHERE c.id::text = %(sender)s
"""
_KEYS = """
SELECT c.external_name, h.name, ARRAY(SELECT key ->> 'public_key' FROM jsonb_array_elements(s.ssh_keys) AS k (key))
       || CASE WHEN s.ssh_authority IS NOT NULL
               THEN ARRAY['cert-authority,principals="' || c.id || '" ' || s.ssh_authority] ELSE '{}' END
  FROM poplar_servers s
  JOIN clusters c ON c.id = s.cluster_id
  JOIN allocations a ON a.cluster_id = s.cluster_id AND a.ordinal = s.ordinal AND a.freed_at IS NULL
  JOIN hosts h ON h.id = a.host_id
 WHERE s.ssh_keys = c.ssh_keys AND s.ssh_authority IS NOT DISTINCT FROM c.ssh_authority
   AND s.state = 'running' AND c.state IN ('active', 'degraded')
"""
_IMAGES = """
SELECT c.external_name, h.name, c.image
  FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.freed_at IS NULL JOIN hosts h ON h.id = a.host_id
 WHERE c.state IN ('active', 'degraded', 'suspended') AND NOT EXISTS (
         SELECT FROM operations o WHERE o.cluster_id = c.id AND o.finished_at IS NULL AND o.partition_id IS NULL)
"""
_REBUILT = "UPDATE poplar_servers SET state = 'running' WHERE"
_FREED = """
SELECT a.id, coalesce(m.name, h.name), m.id IS NOT NULL, c.external_name,
       EXISTS (SELECT FROM health_reports r
                WHERE r.code = 'not_clean' AND r.cleared_at IS NULL
                  AND (r.machine_id = a.machine_id OR r.host_id = a.host_id))
  FROM allocations a JOIN clusters c ON c.id = a.cluster_id
  LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
 WHERE a.freed_at IS NOT NULL AND NOT a.id = ANY (%s)
"""


class Watcher:
    """Holds the site against the committed database at every arrival and after every commit that frees machines.

    `slack`: seconds between the first and the last statement of a transaction that began or ended billing; `longest`:
    of any transaction.
    """

    def __init__(self, control: psycopg.Connection[Any]) -> None:
        self.failures: list[str] = []
        self.slack = 0.0
        self.longest = 0.0
        self._control = control
        self._freed: list[Any] = []
        self._restarted: set[tuple[str, str]] = set()
        self._rebuilt: dict[tuple[str, str], tuple[int, str | None]] = {}
        self._hardware: Hardware
        self._network: Network

    def observe(self, network: Network) -> None:
        self._network = network
        self._hardware = network.hardware

    def arrives(self, request: Request) -> None:
        if request.sender == CUSTOMER:
            return
        if request.call in CREATES:
            self._must_hold(request)
        if request.call in REMOVES:
            self._must_mean_it(request)

    def took_effect(self, request: Request) -> None:
        if request.call in RESTARTS:
            self._must_be_asked_for(request)
        elif request.call in REBUILDS:
            self._must_be_rebuilt_once(request)
        elif request.call == "put_keys":
            self._must_have_seen_keys()
        elif request.call.startswith("power_"):
            self._must_not_disturb(request)

    def committed(self, actor: Actor, labels: Sequence[str], seconds: float) -> None:
        self.longest = max(self.longest, seconds)
        if seconds and any("usage_intervals" in label for label in labels):
            self.slack = max(self.slack, seconds)
        if any("freed_at" in label for label in labels):
            self._must_be_clean()
        if any("SET ssh_keys = c.ssh_keys" in label for label in labels):
            self._must_have_seen_keys()
        if any(label.startswith(_REBUILT) for label in labels):
            self.failures += self.wrong_images()

    def wrong_images(self) -> list[str]:
        """X11: what a cluster says of its image is what its servers were written with."""
        images = [
            (name, host, image, self._hardware.state.hosts[host].server)
            for name, host, image in self._control.execute(_IMAGES).fetchall()
        ]
        return [
            f"X11: {name} has image {image}, and its server on {host} {server.image}"
            for name, host, image, server in images
            if server is not None and server.image != image
        ]

    def _fail(self, sentence: str) -> None:
        self.failures.append(sentence)

    def _must_hold(self, request: Request) -> None:
        """X5: nothing is ever asked of a machine but for the cluster that holds it."""
        holders = self._holders()
        for name in request.touches:
            if holders.get(name) != request.sender:
                held = f"{holders[name]} holds it" if name in holders else "nobody holds it"
                self._fail(f"X5: {request.call} {request.name} arrives for {name}, and {held}")

    def _must_mean_it(self, request: Request) -> None:
        """X6: what is removed belongs to a cluster that is to be taken down, or is a partition that was to go."""
        parameters = {"call": request.call, "name": request.name, "sender": request.sender}
        if self._control.execute(_UNWANTED, parameters).fetchone():
            return
        if (ended := self._control.execute(_VALIDATED, parameters).fetchone()) is not None:
            if not ended[0]:
                self._fail(f"X6: {request.call} {request.name} arrives for a validation that goes on")
            return
        if request.sender == SWEEP and self._control.execute(_LIVING, parameters).fetchone():
            self._fail(f"X6: a sweep asks for {request.call} {request.name}, of a cluster that holds its machines")
        name, going = self._cluster(request)
        if not going:
            self._fail(f"X6: {request.call} {request.name} arrives for {name}, which is to stay")
        owner = self._hardware.controller.allocation_of.get(request.name, request.name)
        if request.call != "power_off" and not owner.startswith(name[:_OWN]):
            self._fail(f"X6: {request.call} {request.name} arrives for {name}, and it is of {owner}")

    def _must_not_disturb(self, request: Request) -> None:
        """X5, for what machines have instead of names: power changes only on behalf of the tenant of the network."""
        name, _ = self._cluster(request)
        for network, other in self._hardware.state.networks.items():
            if request.name in other.spec.machines and network != name:
                self._fail(f"X5: {request.call} for {name} took effect on {request.name}, which is in {network}")

    def _must_be_asked_for(self, request: Request) -> None:
        """X9: a server restarts only while its cluster has an operation for that, and at most once for each.

        A request that is still under way when a delete pre-empts its operation disturbs nobody.
        """
        row = self._control.execute(_RESTARTS, {"call": request.call, "sender": request.sender}).fetchone()
        name, going, operation = row or ("no cluster", False, None)
        if going:
            return
        for host in request.touches:
            if operation is None:
                self._fail(f"X9: {request.call} of {host} took effect for {name}, which has no such operation")
            elif (operation, host) in self._restarted:
                self._fail(f"X9: {request.call} of {host} took effect twice for {name} in one operation")
            else:
                self._restarted.add((operation, host))

    def _must_be_rebuilt_once(self, request: Request) -> None:
        """X11: a server is rebuilt only while its cluster has an operation for that, once, and its disk as asked.

        A request that is still under way when a delete pre-empts its operation disturbs nobody.
        """
        for host in request.touches:
            rebuilds = self._hardware.state.hosts[host].rebuilds
            before, last = self._rebuilt.get((request.sender, host), (0, None))
            if rebuilds == before:
                continue  # it repeated what was done
            row = self._control.execute(_REBUILDS, {"sender": request.sender}).fetchone()
            name, going, operation, call = row or ("no cluster", False, None, None)
            self._rebuilt[request.sender, host] = (rebuilds, operation)
            if going:
                continue
            if operation is None:
                self._fail(f"X11: {request.call} of {host} took effect for {name}, which has no such operation")
            elif operation == last:
                self._fail(f"X11: {request.call} of {host} took effect twice for {name} in one operation")
            elif call != request.call:
                self._fail(f"X11: {request.call} of {host} took effect for {name}, which asked for {call}")

    def _must_have_seen_keys(self) -> None:
        """X10: a server that is said to accept exactly the cluster's keys does so, whatever arrives late."""
        for name, host, keys in self._control.execute(_KEYS).fetchall():
            server = self._hardware.state.hosts[host].server
            if server is not None and server.ssh_authorized_keys != keys:
                self._fail(f"X10: {host} of {name} is said to accept {len(keys)} keys, and accepts others")

    def _must_be_clean(self) -> None:
        """X7: when a machine is freed nothing of its tenant is left on it, and nothing is on its way to it.

        Hardware that was isolated is kept from everybody by its report, until it was observed clean.
        """
        state = self._hardware.state
        self._hardware.advance(self._hardware.now)
        for key, name, is_machine, owner, isolated in self._control.execute(_FREED, (self._freed,)).fetchall():
            self._freed.append(key)
            if isolated:
                continue
            remains = [
                f"allocation {each.id}"
                for each in state.allocations.values()
                if name in each.agent_ids and each.id not in self._hardware.leftovers
            ]
            remains += [
                f"partition {each}" for (_, each), partition in state.partitions.items() if name in partition.agents
            ]
            remains += [
                f"network {each}"
                for each, network in state.networks.items()
                if (name in network.spec.machines or name in network.spec.hosts)
                and each not in self._hardware.leftovers
            ]
            remains += [
                f"{late.request.call} {late.request.name} under way"
                for late in self._network.late
                if late.request.call in CREATES and name in late.request.touches
            ]
            if is_machine and state.machines[name].power != "Off":
                remains.append(f"power {state.machines[name].power}")
            if not is_machine and state.hosts[name].state is not HostState.CLEAN:
                remains.append(f"a host that is {state.hosts[name].state}")
            if remains:
                self._fail(f"X7: {name} of {owner} was freed with {', '.join(remains)}")

    def _holders(self) -> dict[str, str]:
        return dict(self._control.execute(_HOLDERS).fetchall())

    def _cluster(self, request: Request) -> tuple[str, bool]:
        """The cluster for which a request is sent: its sender's, or when a periodic task sends it, that of the name."""
        parameters = {"sender": request.sender, "name": request.name, "call": request.call}
        row = self._control.execute(_CLUSTER, parameters).fetchone()
        return ("no cluster", False) if row is None else (row[0], row[1])
