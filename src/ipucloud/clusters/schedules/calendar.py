"""When a schedule resumes and suspends its cluster. Pure; the law of daylight saving is that of `ClusterSchedule`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ipucloud.contract.schedules import MAX_HOLIDAYS, ClusterSchedule, ScheduledAction, Weekday

HORIZON = 2 * MAX_HOLIDAYS
"""Days ahead in which a moment is looked for: more than there can be holidays."""
_DAYS = list(Weekday)
_DAY = timedelta(days=1)


class Moment(NamedTuple):
    """A time at which the schedule acts, in UTC."""

    at: datetime
    action: ScheduledAction


def next_moment(schedule: ClusterSchedule, after: datetime) -> Moment | None:
    """The first moment later than `after`; None: there is none within `HORIZON` days."""
    return next(moments(schedule, after), None)


def moments(schedule: ClusterSchedule, after: datetime) -> Iterator[Moment]:
    """All moments later than `after` and within `HORIZON` days of it, in their order; the two actions alternate."""
    for starts, ends in _in_use(schedule, after):
        if starts > after:
            yield Moment(starts, ScheduledAction.RESUME)
        if ends is not None and ends > after:
            yield Moment(ends, ScheduledAction.SUSPEND)


def local_instant(day: date, minutes: int, zone: ZoneInfo) -> datetime:
    """When the clocks of the zone show this many minutes after the midnight of the day, in UTC.

    The first time if they show it twice, when they are put forward if they skip it: so a later time of the clock is
    never an earlier instant.
    """
    shown = datetime.combine(day, time()) + timedelta(minutes=minutes)
    early, late = (shown.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early <= late:
        return early
    # Skipped: the offset changes between the two, which are taken from the wrong sides of the change.
    before, after = late, early
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def _in_use(schedule: ClusterSchedule, after: datetime) -> Iterator[tuple[datetime, datetime | None]]:
    """Beginnings and ends of the times in use, from two days before; the end is None if it is beyond the horizon."""
    running: tuple[datetime, datetime] | None = None
    for starts, ends in _periods(schedule, after):
        if running is None:
            running = starts, ends
        elif starts <= running[1]:
            running = running[0], max(ends, running[1])
        else:
            yield running
            running = starts, ends
    if running is not None:
        yield running[0], None


def _periods(schedule: ClusterSchedule, after: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The periods that are not on a holiday, in their order. One that the clocks skip as a whole has no length."""
    zone, holidays = ZoneInfo(schedule.time_zone), frozenset(schedule.holidays)
    first = after.astimezone(zone).date() - 2 * _DAY
    for number in range(HORIZON):
        day = first + number * _DAY
        if day in holidays:
            continue
        today = (period.minutes for period in schedule.periods if _DAYS[day.weekday()] in period.days)
        for starts, ends in sorted(today):
            span = local_instant(day, starts, zone), local_instant(day, ends, zone)
            if span[0] < span[1]:
                yield span
