"""What has to be repaired, by the live health reports, and when a customer's repair window is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import takewhile
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from pydantic import ValidationError

from ipucloud.clusters.states import BILLABLE
from ipucloud.config import Settings
from ipucloud.contract.repairs import RepairReason, RepairWindow
from ipucloud.contract.schedules import Weekday
from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import REPAIRED_BY_REPLACEMENT, Code

log = structlog.get_logger(__name__)

_DAYS = list(Weekday)


def begins(window: RepairWindow | None, moment: datetime) -> datetime:
    """The first time from `moment` on at which the window is open: `moment` itself if it is, or if there is none."""
    return moment if window is None else max(moment, next(_openings(window, moment)))


def last_begin(window: RepairWindow | None, earliest: datetime, latest: datetime) -> datetime:
    """The beginning of the last window between two times; `latest` if none begins there."""
    if window is None:
        return latest
    between = takewhile(lambda opening: opening <= latest, _openings(window, earliest))
    return max((opening for opening in between if opening >= earliest), default=latest)


def _openings(window: RepairWindow, moment: datetime) -> Iterator[datetime]:
    """Without end: the beginnings of the windows that end after `moment`, in UTC."""
    zone, length = ZoneInfo(window.time_zone), timedelta(minutes=window.minutes)
    hour = time.fromisoformat(window.starts_at)
    day = (moment - length).astimezone(zone).date() - timedelta(days=1)
    while True:
        opening = datetime.combine(day, hour, zone).astimezone(UTC)
        if _DAYS[day.weekday()] in window.days and opening + length > moment:
            yield opening
        day += timedelta(days=1)


PAUSE = timedelta(hours=1)
"""After a repair that was cancelled or failed, until the next one."""


class Need(NamedTuple):
    """A cluster in use that needs other hardware in place of `replaced`, or holds hardware that will be maintained.

    `hosts`: those of `replaced` that are hosts of Poplar servers, whose disks are lost with them.
    `maintained`: what is maintained where it is. A host is, because its disk would be lost; so is what its customer
    wants to keep, and a server with IPUs of its own. `faulty_since`: the first sighting of a fault that is repaired
    without a request; `hosts_faulty_since`: of one of `hosts`. `maintenance_at`: the earliest planned maintenance. Of
    `faulty_since` and this, one is set. `unrepaired_at`: when a repair of it last ended without success.
    """

    project_id: UUID
    cluster_id: UUID
    region: str
    repair_window: dict[str, object] | None
    replaced: list[str]
    hosts: list[str]
    maintained: list[str]
    faulty_since: datetime | None
    maintenance_at: datetime | None
    unrepaired_at: datetime | None
    now: datetime
    hosts_faulty_since: datetime | None = None

    @property
    def window(self) -> RepairWindow | None:
        """The customer's window; none if this version does not know its time zone: a repair is not put off for ever."""
        try:
            return None if self.repair_window is None else RepairWindow.model_validate(self.repair_window)
        except ValidationError as error:
            log.warning("repair_window_unusable", cluster=str(self.cluster_id), why=error.errors()[0]["msg"])
            return None

    @property
    def hardware(self) -> list[str]:
        """What the repair is about, by name."""
        return self.replaced if self.faulty_since is not None else sorted(self.replaced + self.maintained)

    @property
    def reason(self) -> RepairReason:
        return "maintenance" if self.faulty_since is None else "fault"


@dataclass(frozen=True, slots=True)
class Plan:
    """When a repair begins, and until when it can be put off."""

    starts_at: datetime
    latest_at: datetime


def _listed(codes: Iterable[Code]) -> str:
    return ", ".join(f"'{code}'" for code in sorted(codes) if code is not Code.MAINTENANCE)


_MOVES = "(c.auto_repair AND c.allocated_through = 'v-ipu')"
_FAULTY = f"""
({_MOVES} AND (report.machine_id IS NOT NULL AND report.code IN ({_listed(REPAIRED_BY_REPLACEMENT["machine"])})
                    OR report.host_id IS NOT NULL AND report.code IN ({_listed(REPAIRED_BY_REPLACEMENT["host"])})))
"""
_MOVED = f"(report.maintenance_at IS NOT NULL AND report.machine_id IS NOT NULL AND {_MOVES})"
# That the maintenance has begun where the hardware is says a report of its own.
_IN_PLACE = f"""
(report.maintenance_at IS NOT NULL AND NOT (report.machine_id IS NOT NULL AND {_MOVES})
 AND NOT EXISTS (SELECT FROM health_reports AS begun
                  WHERE begun.machine_id IS NOT DISTINCT FROM report.machine_id
                    AND begun.host_id IS NOT DISTINCT FROM report.host_id
                    AND begun.code = 'maintenance' AND begun.cleared_at IS NULL))
"""  # noqa: S608  # our own text


def _names(condition: str) -> str:
    name = "coalesce(m.name, h.name)"
    return f"coalesce(array_agg(DISTINCT {name} ORDER BY {name}) FILTER (WHERE {condition}), '{{}}')"


NEEDS = Query(
    f"""
    SELECT c.project_id, c.id AS cluster_id, c.region, c.repair_window,
           {_names(f"{_FAULTY} OR {_MOVED}")} AS replaced,
           {_names(f"{_FAULTY} AND report.host_id IS NOT NULL")} AS hosts, {_names(_IN_PLACE)} AS maintained,
           min(report.first_seen_at) FILTER (WHERE {_FAULTY}) AS faulty_since,
           min(report.maintenance_at) FILTER (WHERE {_MOVED} OR {_IN_PLACE}) AS maintenance_at,
           (SELECT max(past.ended_at) FROM scheduled_repairs AS past
             WHERE past.project_id = c.project_id AND past.cluster_id = c.id
               AND past.outcome IN ('cancelled', 'failed')) AS unrepaired_at,
           app_now() AS now,
           min(report.first_seen_at) FILTER (WHERE {_FAULTY} AND report.host_id IS NOT NULL) AS hosts_faulty_since
      FROM health_reports AS report
      JOIN allocations AS held
        ON held.released_at IS NULL AND (held.machine_id = report.machine_id OR held.host_id = report.host_id)
      JOIN clusters AS c ON (c.project_id, c.id) = (held.project_id, held.cluster_id)
      LEFT JOIN machines AS m ON m.id = report.machine_id
      LEFT JOIN hosts AS h ON h.id = report.host_id
     WHERE report.cleared_at IS NULL AND report.confirmed_at IS NOT NULL
       AND c.state IN ({", ".join(f"'{state}'" for state in sorted(BILLABLE))})
       AND ({_FAULTY} OR {_MOVED} OR {_IN_PLACE})
       AND (CAST(:cluster_id AS uuid) IS NULL OR c.id = CAST(:cluster_id AS uuid))
     GROUP BY c.project_id, c.id
     ORDER BY faulty_since, c.id
    """,  # noqa: S608  # our own text
    Need,
)
"""The clusters that need a repair; `:cluster_id`: only this one, unless NULL."""


def plan(need: Need, settings: Settings) -> Plan:
    """When the repair begins: in the customer's window, and not after a planned maintenance.

    A fault is repaired once it has lasted `repair_after` seconds, that of a host `repair_host_after`. It can be put off
    for `repair_postponement`.
    """
    if need.faulty_since is None:
        latest = need.maintenance_at or need.now
        return Plan(last_begin(need.window if need.replaced else None, need.now, latest), latest)
    due = [need.now, need.faulty_since + timedelta(seconds=settings.repair_after)]
    if need.hosts_faulty_since is not None:  # also where a machine has been faulty for longer: its disk would be lost
        due.append(need.hosts_faulty_since + timedelta(seconds=settings.repair_host_after))
    if need.unrepaired_at is not None:
        due.append(need.unrepaired_at + PAUSE)
    starts_at = begins(need.window, max(due))
    return Plan(starts_at, max(starts_at, need.now + timedelta(seconds=settings.repair_postponement)))
