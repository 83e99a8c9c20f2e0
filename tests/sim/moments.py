"""What must be true of the hardware after every commit, not only at rest.

A reading counts when it is on record as complete. What the site showed as bad from before the second last reading of a
source until now was in two of them: no new cluster may be offered it, and a cluster in use that has it is degraded and
not billed for it. Every other moment is a matter of what was read when, and proves nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import psycopg

from ipucloud.wire.inventory import LinkState
from ipucloud.wire.site import HostState
from tests.sim.sessions import instant
from tests.sim.site.hardware import STALE_SECONDS, Hardware
from tests.sim.site.observations import impaired_links

STALE = timedelta(seconds=STALE_SECONDS)
_CHANGES = ("observations", "machines", "hosts", "health_reports", "clusters", "allocations", "usage_intervals")
"""Tables of what is judged; who commits to another one changes nothing of it."""
_CONTROLLER = "v-ipu"
_READ = "SELECT source, started_at FROM observations WHERE finished_at IS NOT NULL"
_SAID = """
SELECT o.name, o.allocatable, c.id, c.external_name, c.state, c.machines, c.state_entered_at,
       (SELECT count(*) FROM poplar_servers s WHERE s.cluster_id = c.id),
       (SELECT credited FROM usage_intervals u WHERE u.resource_id = c.id AND u.ended_at IS NULL),
       (SELECT max(greatest(h.created_at, h.freed_at)) FROM allocations h
         WHERE h.machine_id = o.machine_id OR h.host_id = o.host_id)
  FROM (SELECT name, allocatable, id AS machine_id, NULL::uuid AS host_id FROM machines
         UNION ALL SELECT name, allocatable, NULL, id FROM hosts) AS o
  LEFT JOIN allocations a
         ON (a.machine_id = o.machine_id OR a.host_id = o.host_id) AND a.freed_at IS NULL
  LEFT JOIN clusters c ON c.id = a.cluster_id
 WHERE o.name = ANY (%s)
"""


_FORGOTTEN = """
SELECT c.external_name, c.state, c.machines, c.state_entered_at,
       (SELECT credited FROM usage_intervals u WHERE u.resource_id = c.id AND u.ended_at IS NULL)
  FROM clusters c WHERE c.external_name = ANY (%s) AND c.state IN ('active', 'degraded')
"""


class Bad(NamedTuple):
    """What the site shows to be wrong. `credited`: minutes with it are not billed, and no new cluster may get it."""

    name: str
    source: str
    credited: bool = True


class _Said(NamedTuple):
    name: str
    allocatable: bool
    cluster: Any
    external_name: str
    state: str
    machines: int
    entered_at: datetime
    servers: int
    credited: int | None
    changed_at: datetime | None

    @property
    def in_use(self) -> bool:
        return self.state in {"active", "degraded"}


def shown_bad(hardware: Hardware) -> set[Bad]:
    """What the site shows as bad at this instant."""
    state = hardware.state
    return {
        *(Bad(name, "bmc") for name, machine in state.machines.items() if machine.broken),
        *(Bad(name, "host") for name, host in state.hosts.items() if host.state is HostState.FAILED),
        *(Bad(link.ends[0], "v-ipu", link.state is LinkState.DOWN) for link in impaired_links(state)),
    }


@dataclass
class Moments:
    """Follows one history. `failures`: what was false, and when."""

    control: psycopg.Connection[Any]
    hardware: Hardware
    failures: list[str] = field(default_factory=list)
    _since: dict[Bad, datetime] = field(default_factory=dict)
    _readings: dict[str, tuple[datetime, datetime | None]] = field(default_factory=dict)
    """When the last reading of each source began, and the one before."""

    def look(self, now: float) -> None:
        """Note what is bad now. Called after everything that may change it."""
        bad = shown_bad(self.hardware)
        self._since = {each: self._since.get(each, instant(now)) for each in bad}

    def committed(self, labels: Sequence[str], now: float) -> None:
        """Judge what a transaction left."""
        self.look(now)
        if any("observations" in label for label in labels):
            self._note_readings()
        if any(table in label for label in labels for table in _CHANGES):
            self.failures += [f"T6: {sentence}" for sentence in (*self._false(), *self._unseen())]

    def _note_readings(self) -> None:
        for source, started in self.control.execute(_READ).fetchall():
            last, _ = self._readings.get(source, (None, None))
            if started != last:
                self._readings[source] = (started, last)

    def _known(self, source: str, since: datetime) -> bool:
        """Whether two readings of the source showed what has been so since then."""
        _, before = self._readings.get(source, (None, None))
        return before is not None and since + STALE < before

    def _false(self) -> Iterator[str]:
        old = {bad: since for bad, since in self._since.items() if self._known(bad.source, since)}
        if not old:
            return
        rows = [_Said(*row) for row in self.control.execute(_SAID, ([bad.name for bad in old],)).fetchall()]
        said = {row.name: row for row in rows}
        used: defaultdict[Any, list[tuple[_Said, Bad]]] = defaultdict(list)
        for bad, since in old.items():
            row = said[bad.name]
            # Who held it when the site was read has to hold it still; a link counts only while its machine is used.
            times = [since, row.changed_at, row.entered_at if bad.source == "v-ipu" else None]
            if not self._known(bad.source, max(time for time in times if time is not None)):
                continue
            if bad.credited and row.allocatable and (bad.source != "v-ipu" or row.cluster is None or row.in_use):
                yield f"{bad.name} is offered, and {bad.source} shows it as bad since {since}"
            if row.cluster is not None and row.in_use:
                used[row.cluster].append((row, bad))
        for bad_of_cluster in used.values():
            yield from self._of_cluster(bad_of_cluster[0][0], [bad for _, bad in bad_of_cluster])

    def _unseen(self) -> Iterator[str]:
        """Clusters in use whose allocation the controller has lost: nobody can use any of their IPUs."""
        lost = {name: instant(since) for name, since in self.hardware.controller.forgotten.items()}
        old = [name for name, since in lost.items() if self._known(_CONTROLLER, since)]
        if not old:
            return
        for name, state, machines, entered_at, credited in self.control.execute(_FORGOTTEN, (old,)).fetchall():
            if self._known(_CONTROLLER, max(lost[name], entered_at)) and (
                state == "active" or credited not in (None, machines)  # None: its reservation is billed in its place
            ):
                yield f"{name} is {state} with {credited} machines credited; its allocation is lost since {lost[name]}"

    def _of_cluster(self, row: _Said, bad: Iterable[Bad]) -> Iterator[str]:
        if row.state == "active":
            yield f"{row.external_name} is active, and {sorted(each.name for each in bad)} are bad"
        machines = {each.name for each in bad if each.credited and each.source != "host"}
        servers = {each.name for each in bad if each.source == "host"}
        least = min(row.machines, len(machines) + math.ceil(row.machines * len(servers) / max(1, row.servers)))
        if row.credited is not None and row.credited < least:
            yield f"{row.external_name} has {row.credited} machines credited, and {least} do not work"
