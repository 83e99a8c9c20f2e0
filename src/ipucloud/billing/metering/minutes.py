"""The minutes of a cluster's life.

Minutes count from the cluster's own start (`origin`, its first `active`): minute n starts at origin + n x 60 s.
`minutes_before(origin, t)` is the number of minutes that started in [origin, t), so a slice [a, b) holds the
difference of its ends, and any cuts of a lifetime hold together exactly ceil(lifetime / 60 s) minutes.
Instants are truncated to the second and compared in UTC.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)


def utc_second(instant: datetime) -> datetime:
    """`instant` in UTC, truncated to the second. Raises ValueError when it has no time zone."""
    if instant.tzinfo is None:
        raise ValueError("an instant without a time zone cannot be billed")
    return instant.astimezone(UTC).replace(microsecond=0)


def minutes_before(origin: datetime, instant: datetime) -> int:
    """How many minutes of a life that began at `origin` started before `instant`; 0 up to and at `origin`."""
    elapsed = utc_second(instant) - utc_second(origin)
    return max(0, -(-elapsed // MINUTE))


def minutes_between(origin: datetime, start: datetime, end: datetime) -> int:
    """How many minutes of a life that began at `origin` started in [start, end)."""
    return max(0, minutes_before(origin, end) - minutes_before(origin, start))
