"""How far the database's clock and a process's are apart. Nothing is decided by it; operators are told."""

from __future__ import annotations

from datetime import datetime

import structlog
from prometheus_client import Gauge

ALARM_SECONDS = 60.0

log = structlog.get_logger(__name__)


class ClockSkew:
    """Shows the difference as `gauge`; one warning when it grows beyond a minute, and a line when it is small again."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._apart = False

    def saw(self, ours: datetime, theirs: datetime) -> None:
        """The database's clock showed `theirs` when this process's showed `ours`."""
        skew = (theirs - ours).total_seconds()
        self._gauge.set(skew)
        apart = abs(skew) > ALARM_SECONDS
        if apart and not self._apart:
            log.warning("clocks_apart", database_ahead_seconds=round(skew))
        elif self._apart and not apart:
            log.info("clocks_together", database_ahead_seconds=round(skew))
        self._apart = apart
