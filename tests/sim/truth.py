"""Hardware that fails while clusters live on it, and what must then be said of it, and not billed.

Judged at rest, when calls and workers no longer fail: first with the hardware still broken, then after its repair; and
after every commit, by what was read twice (`moments.py`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import psycopg

from ipucloud.observation.work import OBSERVATION
from ipucloud.reconcile.wake import PLATFORM
from ipucloud.wire.inventory import LinkState
from tests.sim.moments import shown_bad
from tests.sim.sessions import instant
from tests.sim.site.hardware import Hardware

LINKS = 0.2
"""How often it is a link that breaks, or works again."""
USED = 0.4
"""How often it is something that a cluster in use has."""
IMPAIRED = (LinkState.DOWN, LinkState.DEGRADED)
_OBSERVE = "INSERT INTO work (kind, key, project_id, run_at) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
_USED = """
SELECT c.external_name, c.state, c.machines, (SELECT credited FROM usage_intervals u
                                               WHERE u.resource_id = c.id AND u.ended_at IS NULL),
       coalesce(array_agg(m.name) FILTER (WHERE m.id IS NOT NULL), '{}'),
       coalesce(array_agg(h.name) FILTER (WHERE h.id IS NOT NULL), '{}')
  FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.released_at IS NULL
  LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
 WHERE c.state IN ('active', 'degraded') GROUP BY c.id
"""
"""`credited` is null for a cluster that uses a reservation, which is billed in its place."""
_OFFERED = "SELECT name FROM machines WHERE allocatable UNION ALL SELECT name FROM hosts WHERE allocatable"
_KEPT = """
SELECT coalesce(m.name, h.name) FROM health_reports r
  LEFT JOIN machines m ON m.id = r.machine_id LEFT JOIN hosts h ON h.id = r.host_id
 WHERE r.cleared_at IS NULL
"""
"""Also reports that came and went so often that they are kept for an hour."""
_LATE = """
SELECT c.external_name, i.started_at, seen.at
  FROM usage_intervals i JOIN clusters c ON c.id = i.resource_id
  JOIN usage_intervals before
    ON before.resource_id = i.resource_id AND before.ended_at = i.started_at AND before.id <> i.id
  JOIN LATERAL (
    SELECT min(first_seen_at) FILTER (WHERE believed_at = divided_at) AS at
      FROM (SELECT r.first_seen_at, coalesce(r.confirmed_at, r.first_seen_at) AS believed_at,
                   min(coalesce(r.confirmed_at, r.first_seen_at)) OVER () AS divided_at
              FROM usage_credits k JOIN health_reports r ON r.id = k.report_id
             WHERE k.interval_id = i.id
               AND NOT EXISTS (SELECT FROM usage_credits b WHERE b.interval_id = before.id AND b.report_id = r.id)
           ) AS reasons
  ) AS seen ON true
 WHERE i.credited > before.credited AND i.started_at > greatest(before.started_at, date_trunc('second', seen.at))
"""


class Truth:
    """The hardware of one history against what the database says of it."""

    def __init__(self, control: psycopg.Connection[Any], hardware: Hardware, draw: random.Random) -> None:
        self._control = control
        self._hardware = hardware
        self._draw = draw

    def begin(self, region: str) -> None:
        """Have workers observe the region from the start."""
        self._control.execute(_OBSERVE, (OBSERVATION, region, PLATFORM, instant(0.0)))

    def strike_used(self) -> str:
        """Break a machine, a host or a link of a cluster in use, if there is one: something must be said of it."""
        used = [name for *_, machines, hosts in self._control.execute(_USED).fetchall() for name in machines + hosts]
        state = self._hardware.state
        links = [ends[0] for ends in state.chain() if ends[0] in used and all(map(state.answers, ends))]
        if links and self._draw.random() < LINKS:
            first, state_of_it = self._draw.choice(links), self._draw.choice(IMPAIRED)
            self._hardware.impair(first, state_of_it)
            return f"the link of {first} is {state_of_it}"
        if used:
            name = self._draw.choice(sorted(used))
            self._hardware.strike(name)
            return f"strike {name}, which is used"
        return "nothing is used"

    def strike(self) -> str:
        """Break or repair a machine, a host or a link; what happened."""
        if self._draw.random() < USED:
            return self.strike_used()
        state = self._hardware.state
        if self._draw.random() < LINKS:
            return self._strike_link(self._draw.choice([first for first, _ in state.chain()]))
        name = self._draw.choice(sorted({*state.machines, *state.hosts}))
        act: Callable[[str], None] = self._hardware.restore if name in self._dead() else self._hardware.strike
        act(name)
        return f"{act.__name__} {name}"

    def _strike_link(self, first: str) -> str:
        if first in self._hardware.state.links:
            self._hardware.restore_link(first)
            return f"the link of {first} works again"
        state = self._draw.choice(IMPAIRED)
        self._hardware.impair(first, state)
        return f"the link of {first} is {state}"

    def _dead(self) -> set[str]:
        """Machines and hosts that failed."""
        return {bad.name for bad in shown_bad(self._hardware) if bad.source != "v-ipu"}

    def _linked(self, *, credited: bool) -> set[str]:
        """Machines whose link is down, or if not `credited` has errors."""
        return {bad.name for bad in shown_bad(self._hardware) if bad.source == "v-ipu" and bad.credited is credited}

    def lies(self) -> list[str]:
        """T1, T2, T3: what does not agree with the hardware as it is now; nothing, once it was observed."""
        return [*self._of_clusters(), *self._of_offers()]

    def _of_clusters(self) -> Iterator[str]:
        dead, erring = self._dead() | self._linked(credited=True), self._linked(credited=False)
        for name, state, size, credited, machines, hosts in self._control.execute(_USED).fetchall():
            lost = set(machines) if name in self._hardware.controller.forgotten else dead & set(machines)
            servers = dead & set(hosts)
            expected = min(size, len(lost) + math.ceil(size * len(servers) / max(1, len(hosts))))
            kept = {*machines, *hosts} & self._reported()
            bad = lost | servers | erring & set(machines)
            if (state == "degraded") != bool(bad) and not kept - dead - erring:
                yield f"T1: {name} is {state}, and bad are {sorted(bad)}"
            if credited not in (None, expected) and not kept - dead:
                yield f"T3: {name} has {credited} machines credited, and should have {expected}"

    def _of_offers(self) -> Iterator[str]:
        offered = {name for (name,) in self._control.execute(_OFFERED).fetchall()}
        for name in sorted(offered & self._dead()):
            yield f"T2: {name} is offered, and dead"
        used = {name for *_, machines, _ in self._control.execute(_USED).fetchall() for name in machines}
        for name in sorted(offered & self._linked(credited=True) & used):
            yield f"T2: {name} is offered, and its link is down"
        for name in sorted(self._hardware.state.machines.keys() - self._dead() - offered - self._reported()):
            yield f"T2: {name} works, and is not offered"

    def _reported(self) -> set[str]:
        return {name for (name,) in self._control.execute(_KEPT).fetchall()}

    def stuck(self) -> list[str]:
        """T4: reports that do not end although their hardware works, except those that come and go."""
        often = """
        SELECT coalesce(m.name, h.name), r.code FROM health_reports r
          LEFT JOIN machines m ON m.id = r.machine_id LEFT JOIN hosts h ON h.id = r.host_id
         WHERE r.cleared_at IS NULL AND r.source IN ('bmc', 'v-ipu', 'host')
           AND (SELECT count(*) FROM health_reports o WHERE o.code = r.code AND o.confirmed_at IS NOT NULL
                   AND o.machine_id IS NOT DISTINCT FROM r.machine_id AND o.host_id IS NOT DISTINCT FROM r.host_id) < 3
        """
        dead = self._dead()
        rows = self._control.execute(often).fetchall()
        return [f"T4: {name} works, and is still reported as {code}" for name, code in rows if name not in dead]

    def late_credits(self) -> list[str]:
        """T5: credits that begin later than the first reading of the fault that they were given for.

        A fault that is confirmed after the interval was divided counts from that division (ADR 11).
        """
        rows = self._control.execute(_LATE).fetchall()
        return [f"T5: {name} is credited since {since}; the fault was seen at {at}" for name, since, at in rows]
