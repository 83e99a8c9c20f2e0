"""When a customer's repair window is open. Pure; the law of daylight saving is that of `RepairWindow`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from ipucloud.contract.calendars import Weekday
from ipucloud.contract.repairs import RepairWindow

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
