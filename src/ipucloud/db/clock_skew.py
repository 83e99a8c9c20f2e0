"""How far the database's clock and a process's clock differ. Only reported to operators; no decision depends on it."""

from __future__ import annotations

from datetime import datetime

import structlog
from prometheus_client import Gauge

ALARM_SECONDS = 60.0

log = structlog.get_logger(__name__)


class ClockSkew:
    """Exports the difference as `gauge`; logs a warning when it exceeds a minute, and when it is small again."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._apart = False

    def record(self, own_now: datetime, database_now: datetime) -> None:
        """Record that the database's clock showed `database_now` when this process's showed `own_now`."""
        skew = (database_now - own_now).total_seconds()
        self._gauge.set(skew)
        apart = abs(skew) > ALARM_SECONDS
        if apart and not self._apart:
            log.warning("clocks_apart", database_ahead_seconds=round(skew))
        elif self._apart and not apart:
            log.info("clocks_together", database_ahead_seconds=round(skew))
        self._apart = apart
