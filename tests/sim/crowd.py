"""What must be true where capacity runs out: of the queue, of reservations, and of preemptible clusters.

The room and the order of the queue are reckoned here once more, from the rows of machines and waits alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import psycopg

from ipucloud.config import Settings
from tests.sim.swarm import MACHINES

STARVED = 8
"""Passes of 15 seconds for which the first in the queue may be left waiting although it fits."""
_LATE = timedelta(seconds=90)
_WAITED = timedelta(seconds=60)
_WAITS = """
SELECT w.operation_id, w.cluster_id, w.project_id, w.preemptible, w.since, w.until, w.machines, w.held_up_by, w.kind,
       CASE WHEN w.kind = 'cluster.create'
            THEN (SELECT count(*) FROM poplar_servers s WHERE s.cluster_id = w.cluster_id) ELSE 0 END AS hosts,
       (SELECT max(granted_at) FROM capacity_waits s WHERE s.project_id = w.project_id) AS served_at
  FROM capacity_waits w JOIN operations o ON o.id = w.operation_id
 WHERE w.granted_at IS NULL AND o.finished_at IS NULL AND NOT o.undoing AND o.state <> 'cancelling'
"""
_REACHED = """
JOIN pods p ON p.id = m.pod_id LEFT JOIN vipu_controllers v ON v.region = p.region AND v.name = p.controller
"""
_SLOTS = f"""
SELECT m.slot, a.cluster_id FROM machines m {_REACHED}
  LEFT JOIN allocations a ON a.machine_id = m.id AND a.freed_at IS NULL
 WHERE m.allocatable AND NOT coalesce(v.withheld, false)
   AND (a.id IS NULL OR a.cluster_id IS NOT NULL AND a.released_at IS NULL)
   AND NOT EXISTS (SELECT FROM hardware_validations t WHERE t.machine_id = m.id AND t.ended_at IS NULL)
"""  # noqa: S608  # our own text
_LEAVING = f"""
SELECT m.slot FROM machines m {_REACHED}
  JOIN allocations a ON a.machine_id = m.id AND a.freed_at IS NULL AND a.reservation_id IS NULL
  JOIN clusters c ON c.id = a.cluster_id
 WHERE m.allocatable AND NOT coalesce(v.withheld, false) AND c.external_name <> %s
   AND (a.released_at IS NOT NULL OR c.state IN ('suspending', 'deleting'))
"""  # noqa: S608  # our own text
_HOSTS = """
SELECT count(*) FROM hosts h WHERE h.allocatable
   AND NOT EXISTS (SELECT FROM allocations a WHERE a.host_id = h.id AND a.freed_at IS NULL)
"""
_GRANTED = "SELECT operation_id, granted_at, until FROM capacity_waits WHERE granted_at IS NOT NULL"
_HELD = """
SELECT r.name, r.state, r.blocks, r.blocks * r.machines,
       (SELECT count(a.machine_id) FROM allocations a WHERE a.reservation_id = r.id AND a.freed_at IS NULL),
       (SELECT count(*) FROM allocations a
         WHERE a.reservation_id = r.id AND a.freed_at IS NULL AND a.cluster_id IS NULL),
       (SELECT count(DISTINCT a.cluster_id) FROM allocations a WHERE a.reservation_id = r.id AND a.freed_at IS NULL)
  FROM reservations r
"""
_DUE = """
SELECT name, state, starts_at, ends_at FROM reservations
 WHERE state = 'scheduled' AND starts_at < %(late)s OR state = 'active' AND ends_at < %(late)s
"""
_NOTICES = """
SELECT p.id, c.external_name, c.preemptible, p.noticed_at, p.preempt_at, p.ended_at, p.outcome, o.kind, o.created_at
  FROM preemptions p JOIN clusters c ON c.id = p.cluster_id LEFT JOIN operations o ON o.id = p.operation_id
"""
_UNUSABLE = """
SELECT FROM allocations a LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
 WHERE a.reservation_id = %s AND a.freed_at IS NULL
   AND (NOT coalesce(m.allocatable, h.allocatable) OR a.cluster_id IS NOT NULL)
"""


class _Wait(NamedTuple):
    operation: UUID
    cluster: UUID
    project: UUID
    preemptible: bool
    since: datetime
    until: datetime
    machines: int
    held_up_by: str | None
    kind: str
    hosts: int
    served_at: datetime | None


@dataclass
class Crowd:
    """Follows one history. `exact`: nobody else acts inside of a transaction. `calm`: when faults ended."""

    control: psycopg.Connection[Any]
    settings: Settings
    exact: bool
    failures: list[str] = field(default_factory=list)
    calm: datetime | None = None
    _before: list[_Wait] = field(default_factory=list)
    _granted: set[UUID] = field(default_factory=set)
    _told: dict[UUID, datetime | None] = field(default_factory=dict)
    _left: dict[UUID, int] = field(default_factory=dict)

    def committed(self, labels: Sequence[str], now: datetime) -> None:
        """Judge what a transaction left."""
        if any("capacity_waits" in label for label in labels):
            self.failures += self._wrongly_served()
        if any("preemptions" in label for label in labels):
            self.failures += self._wrongly_preempted(now)
        if any("reservations" in label or "allocations" in label for label in labels):
            self.failures += self._wrongly_held()
        if any("operations" in label or "capacity_waits" in label for label in labels):
            self._before = self._waits(now)

    def passed(self, now: datetime) -> None:
        """Judge who was left waiting by a pass without faults."""
        if self.calm is None:
            return
        waits = self._waits(now)
        self._left = {each.operation: self._left.get(each.operation, 0) + 1 for each in self._servable(waits, now)}
        for wait, passes in self._left.items():
            if passes > STARVED:
                self.failures.append(f"W1: {wait} is the first in the queue, fits, and waits for {passes} passes")
        late = now - 2 * _LATE
        self.failures += [
            f"W3: {each.operation} waits, and was to give up at {each.until}"
            for each in waits
            if max(each.until, self.calm) < late
        ]
        if self.calm < now - _LATE:
            for name, state, starts, ends in self.control.execute(_DUE, {"late": now - _LATE}).fetchall():
                self.failures.append(f"V2: {name}, from {starts} to {ends}, is {state} at {now}")

    def refused(self, reservation: UUID) -> None:
        """A create from an active reservation was refused for lack of room."""
        if self.control.execute(_UNUSABLE, (reservation,)).fetchone() is None:
            self.failures.append(f"V3: reservation {reservation} has unused machines that work, and gives none")

    def _waits(self, now: datetime) -> list[_Wait]:
        return _in_order([_Wait(*row) for row in self.control.execute(_WAITS).fetchall()], now)

    def _servable(self, waits: Sequence[_Wait], now: datetime) -> Iterator[_Wait]:
        first = next((each for each in waits if each.held_up_by is None and each.until > now), None)
        if first is not None and self._fits(first):
            yield first

    def _fits(self, wait: _Wait, *, besides: str | None = None) -> bool:
        """Whether it has room; `besides`: or will have, once those that leave are gone, without this cluster's."""
        own = wait.cluster if wait.kind == "cluster.resize" else None
        slots = {slot for slot, holder in self.control.execute(_SLOTS).fetchall() if holder in {None, own}}
        if besides is not None:
            slots |= {slot for (slot,) in self.control.execute(_LEAVING, (besides,)).fetchall()}
        [[hosts]] = self.control.execute(_HOSTS).fetchall()
        size = wait.machines
        return hosts >= wait.hosts and any(
            slots.issuperset(range(first, first + size)) for first in range(0, MACHINES, size)
        )

    def _wrongly_served(self) -> Iterator[str]:
        """W2: nobody is served before those who go first, once all see the same; W3: nor after its time."""
        for operation, at, until in self.control.execute(_GRANTED).fetchall():
            if operation in self._granted:
                continue
            self._granted.add(operation)
            if at > until:
                yield f"W3: {operation} is served at {at}, and was to give up at {until}"
            waiter = next((each for each in self._before if each.operation == operation), None)
            if waiter is None or self.calm is None or at < self.calm + _WAITED:
                continue
            ahead = self._before[: self._before.index(waiter)]
            for other in ahead:
                if other.held_up_by is None and other.since < at - _WAITED and other.until > at:
                    yield f"W2: {operation} is served at {at}, and {other.operation} goes first"

    def _wrongly_preempted(self, now: datetime) -> Iterator[str]:
        """P1: only preemptible clusters; P2: with the whole notice; P3: for somebody who has no other choice."""
        notice = timedelta(seconds=self.settings.preemption_notice)
        for row in self.control.execute(_NOTICES).fetchall():
            key, name, preemptible, noticed_at, preempt_at, ended_at, outcome, kind, begun_at = row
            new, ended = key not in self._told, ended_at is not None and self._told.get(key) is None
            self._told[key] = ended_at
            if not (new or ended):
                continue
            if not preemptible:
                yield f"P1: {name} is told to make room, and is not preemptible"
            if preempt_at < noticed_at + notice or (outcome == "suspended" and begun_at < preempt_at):
                yield f"P2: {name} is told at {noticed_at}, for {preempt_at}, and suspended at {begun_at}"
            if outcome == "suspended" and kind != "cluster.suspend":
                yield f"P1: {name} is preempted by {kind}"
            if self.exact and (new or outcome == "suspended"):
                yield from self._in_vain(name, now)

    def _in_vain(self, name: str, now: datetime) -> Iterator[str]:
        first = next((each for each in self._waits(now) if each.held_up_by is None and each.until > now), None)
        if first is None or first.preemptible:
            yield f"P3: {name} is to make room, and no ordinary cluster is the first in the queue"
        elif self._fits(first, besides=name):
            yield f"P3: {name} is to make room for {first.operation}, for which there is room, or soon will be"

    def _wrongly_held(self) -> Iterator[str]:
        """V1: what is reserved is held, exactly, until it ends."""
        for name, state, blocks, machines, held, unused, clusters in self.control.execute(_HELD).fetchall():
            if state in {"scheduled", "active"} and (held != machines or clusters > blocks):
                yield f"V1: {name} is {state} for {machines} machines, and has {held}, with {clusters} clusters"
            if state in {"ended", "cancelled"} and unused:
                yield f"V1: {name} is {state}, and holds {unused} machines and hosts"


def _in_order(waits: Sequence[_Wait], now: datetime) -> list[_Wait]:
    """Ordinary ones first; projects take turns, the oldest first, or who was served least recently."""
    turns: dict[tuple[UUID, bool], int] = {}
    placed = []
    for waiting in sorted(waits, key=lambda wait: (wait.since, wait.cluster)):
        if waiting.until <= now:
            placed.append(((True, 0, waiting.since, waiting.since, waiting.cluster), waiting))
            continue
        turn = turns[waiting.project, waiting.preemptible] = turns.get((waiting.project, waiting.preemptible), 0) + 1
        since = max(waiting.since, waiting.served_at or waiting.since)
        placed.append(((waiting.preemptible, turn, since, waiting.since, waiting.cluster), waiting))
    return [each for _, each in sorted(placed)]
