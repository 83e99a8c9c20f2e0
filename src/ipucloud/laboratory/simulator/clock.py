"""The site's own time."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since the epoch. Deadlines are kept in wall-clock time, so that they outlive the process."""

    def now(self) -> float: ...


class WallClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()
