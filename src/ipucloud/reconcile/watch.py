"""What a worker monitors: whether this version can work with the database's schema, and whether the clocks agree."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa
import structlog

from ipucloud.db import schema_check
from ipucloud.db.clock_skew import ClockSkew
from ipucloud.db.engine import Database
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem
from ipucloud.reconcile import metrics

CHECK_SECONDS = 2.0
STEP_SECONDS = 1.0
"""The database's clock counts as set back when it fell behind the monotonic clock by this much between two checks."""
UNCHECKED = "The database's schema has not been checked yet."

log = structlog.get_logger(__name__)


class DatabaseWatch:
    """Checks every `CHECK_SECONDS` and on request; one for all engines of a process.

    `fault`: why nothing may be claimed, and what to do; None while the schema fits. A database that does not answer
    leaves it unchanged.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._skew = ClockSkew(metrics.CLOCK_SKEW)
        self._unfit: str | None = None
        self._subscribers: list[tuple[Callable[[], None], Callable[[], None]]] = []
        self._last: tuple[float, datetime] | None = None
        self.fault: str | None = UNCHECKED

    def subscribe(self, changed: Callable[[], None], *, clock_set_back: Callable[[], None]) -> None:
        """Call `changed` whenever the fault changes, and `clock_set_back` when the database's clock was set back."""
        self._subscribers.append((changed, clock_set_back))

    async def run(self) -> None:
        while True:
            try:
                await self.check()
            except (Problem, sa.exc.DBAPIError) as error:
                log.warning("database_not_checked", error=str(error))
            await self._clock.sleep(CHECK_SECONDS)

    async def check(self, *, lacks: bool = False) -> str | None:
        """Read the schema's revision now and return the fault. Raises `Problem` unavailable.

        `lacks`: a statement has just met a missing table or column. A schema newer than this version is then treated as
        unusable until its revision changes.
        """
        before = self._clock.monotonic()
        state = await schema_check.state_of(self._state())
        if state.now is not None:
            self._compare_clocks(before, state.now)
        revision = state.revision
        if lacks and schema_check.is_newer(revision):
            self._unfit = revision
        self._judged(revision, schema_check.NEWER if revision == self._unfit else schema_check.fault_of(revision))
        return self.fault

    async def _state(self) -> schema_check.State:
        async with self._database.read() as connection:
            return await schema_check.STATE.one(connection)

    def _compare_clocks(self, before: float, now: datetime) -> None:
        """Detect a step back. The database showed `now` after `before` on this process's monotonic clock."""
        after = self._clock.monotonic()
        self._skew.record(self._clock.now(), now)
        last, self._last = self._last, (after, now)
        if last is not None and (now - last[1]).total_seconds() < before - last[0] - STEP_SECONDS:
            log.warning("clock_set_back", now=now.isoformat(), before=last[1].isoformat())
            for _, clock_set_back in self._subscribers:
                clock_set_back()

    def _judged(self, revision: str, fault: str | None) -> None:
        metrics.SCHEMA_UNUSABLE.set(fault is not None)
        if fault == self.fault:
            return
        self.fault = fault
        if fault is None:
            log.info("schema_usable", revision=revision)
        else:
            log.error("schema_unusable", revision=revision, fault=fault)
        for changed, _ in self._subscribers:
            changed()
