"""Time as an argument.

Durable instants (leases, intervals, tokens) are the database's (`app_now()`); this clock measures waits and time-outs
inside a process, so that tests own it.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Time inside a process."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC. For display and logs only, never for a decision that two processes share."""

    def monotonic(self) -> float:
        """Seconds that never go backwards; only differences mean anything."""

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run for `seconds` of this clock."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
