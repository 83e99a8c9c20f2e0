"""What must be true of the repairs that workers schedule and begin by themselves: their faults, windows and budget."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import psycopg

from ipucloud.config import Settings

_HOUR = timedelta(hours=1)
_BEGUN = """
SELECT c.external_name, r.started_at, r.latest_at, r.hardware, c.repair_window,
       EXISTS (SELECT FROM health_reports f JOIN allocations a ON a.machine_id = f.machine_id OR a.host_id = f.host_id
                WHERE a.cluster_id = r.cluster_id
                  AND f.first_seen_at + make_interval(secs => CASE WHEN f.host_id IS NULL THEN %s ELSE %s END)
                      <= r.started_at + %s) AS lasted,
       EXISTS (SELECT FROM health_reports f LEFT JOIN machines m ON m.id = f.machine_id
                 LEFT JOIN hosts h ON h.id = f.host_id
                WHERE coalesce(m.name, h.name) = ANY (r.hardware)
                  AND (f.cleared_at IS NULL OR f.cleared_at >= r.started_at - %s)) AS live
  FROM scheduled_repairs r
  JOIN clusters c ON c.id = r.cluster_id
  JOIN operations o ON o.id = r.operation_id
 WHERE r.reason = 'fault' AND starts_with(o.request_id, 'repair-')
 ORDER BY r.started_at, r.id
"""
_TWICE = """
SELECT c.external_name, later.what, later.since
  FROM (SELECT cluster_id, 'operation' AS what, created_at AS since, lag(coalesce(finished_at, 'infinity'))
               OVER (PARTITION BY cluster_id ORDER BY created_at, id) AS before
          FROM operations WHERE kind = 'cluster.replace-hardware'
         UNION ALL
        SELECT cluster_id, 'schedule', announced_at, lag(coalesce(ended_at, 'infinity'))
               OVER (PARTITION BY cluster_id ORDER BY announced_at, id)
          FROM scheduled_repairs) AS later
  JOIN clusters c ON c.id = later.cluster_id
 WHERE later.before > later.since
"""

_OPEN = """
SELECT c.external_name, r.hardware, r.starts_at, r.waits_for, r.operation_id IS NOT NULL AS begun,
       EXISTS (SELECT FROM allocations a JOIN health_reports f ON f.machine_id = a.machine_id OR f.host_id = a.host_id
                WHERE a.cluster_id = c.id AND a.released_at IS NULL
                  AND f.cleared_at IS NULL AND f.confirmed_at IS NOT NULL) AS needed
  FROM scheduled_repairs r JOIN clusters c ON c.id = r.cluster_id
 WHERE r.ended_at IS NULL ORDER BY r.starts_at, r.id
"""
_UNPLANNED = """
SELECT DISTINCT c.external_name, coalesce(m.name, h.name)
  FROM clusters c JOIN allocations a ON a.cluster_id = c.id AND a.released_at IS NULL
  LEFT JOIN machines m ON m.id = a.machine_id LEFT JOIN hosts h ON h.id = a.host_id
  JOIN health_reports f ON f.machine_id = m.id OR f.host_id = h.id
 WHERE c.state IN ('active', 'degraded') AND c.auto_repair
   AND f.cleared_at IS NULL AND f.confirmed_at IS NOT NULL AND f.code IN ('bmc_critical', 'host_failed')
   AND NOT EXISTS (SELECT FROM scheduled_repairs r WHERE r.cluster_id = c.id AND r.ended_at IS NULL)
 ORDER BY 1, 2
"""
SOON = timedelta(minutes=5)
"""A repair that is scheduled for later than this is not waited for."""
_LATE = timedelta(seconds=60)
"""How long after its time a repair begins at the latest: the task that begins it runs every five seconds."""


class _Open(NamedTuple):
    cluster: str
    hardware: list[str]
    starts_at: datetime
    waits_for: str | None
    begun: bool
    needed: bool


class _Begun(NamedTuple):
    cluster: str
    at: datetime
    latest: datetime
    hardware: list[str]
    window: dict[str, Any] | None
    lasted: bool
    live: bool


def wrong_repairs(control: psycopg.Connection[Any], settings: Settings, tolerance: timedelta) -> Iterator[str]:
    """R1 to R4, one sentence each. `tolerance`: how far the times of one transaction may differ."""
    times = (settings.repair_after, settings.repair_host_after, tolerance, tolerance)
    begun = [_Begun(*row) for row in control.execute(_BEGUN, times).fetchall()]
    for repair in begun:
        if not repair.lasted or not repair.live:
            over = "too new" if repair.live else "over"
            yield f"R1: {repair.cluster} is repaired at {repair.at} for a fault of {repair.hardware} that is {over}"
        if not _open(repair.window, repair.at - tolerance, repair.at) and repair.at + tolerance < repair.latest:
            yield f"R2: {repair.cluster} is repaired at {repair.at}, outside of its window {repair.window}"
        together = [other for other in begun if repair.at <= other.at < repair.at + _HOUR]
        if len(together) > settings.repair_limit:
            yield f"R3: {len(together)} repairs began within an hour from {repair.at}; {settings.repair_limit} may"
    for cluster, what, since in control.execute(_TWICE).fetchall():
        yield f"R4: {cluster} has two repairs at once, by {what}, since {since}"


def under_way(control: psycopg.Connection[Any], now: datetime) -> bool:
    """Whether a repair is carried out, or begins soon unless something keeps it from that."""
    return any(each.begun or (each.waits_for is None and each.starts_at < now + SOON) for each in _opened(control))


def not_begun(control: psycopg.Connection[Any], now: datetime) -> list[str]:
    """R5: faults for which no repair is scheduled, and repairs that nothing keeps from beginning, and that have not."""
    unplanned = control.execute(_UNPLANNED).fetchall()
    waiting = [each for each in _opened(control) if not each.begun and each.waits_for is None]
    late = [each for each in waiting if each.starts_at + _LATE < now]
    return [
        *(f"R5: {name} has failed in {cluster}, and no repair is scheduled" for cluster, name in unplanned),
        *(f"R5: {each.cluster} was to be repaired at {each.starts_at}" for each in late),
    ]


def forgotten(control: psycopg.Connection[Any]) -> list[str]:
    """R6: repairs that are still scheduled although nothing of their cluster is reported any more."""
    return [
        f"R6: {each.cluster} is to be repaired at {each.starts_at}, and nothing of it is reported"
        for each in _opened(control)
        if not each.begun and not each.needed
    ]


def _opened(control: psycopg.Connection[Any]) -> list[_Open]:
    return [_Open(*row) for row in control.execute(_OPEN).fetchall()]


def _open(window: dict[str, Any] | None, earliest: datetime, latest: datetime) -> bool:
    """Whether a window in UTC on every day of the week, as histories have them, is open between these times."""
    if window is None:
        return True
    hour, minute = map(int, window["starts_at"].split(":"))
    for day in (latest - timedelta(days=1), latest):
        opening = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if opening <= latest and earliest < opening + timedelta(minutes=window["minutes"]):
            return True
    return False
