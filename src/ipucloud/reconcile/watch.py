"""What a worker keeps an eye on: whether the database's schema is one it works with, and whether the clocks agree."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
import structlog

from ipucloud.db import schema_check
from ipucloud.db.engine import Database
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem
from ipucloud.reconcile import metrics

CHECK_SECONDS = 2.0
UNCHECKED = "The database's schema has not been checked yet."

log = structlog.get_logger(__name__)


class DatabaseWatch:
    """Checks every `CHECK_SECONDS`, and when somebody asks. One for all engines of a process.

    `fault`: why nothing may be claimed, and what to do; None while the schema is one this version works with. A
    database that does not answer changes nothing about it.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._unfit: str | None = None
        self._told: list[Callable[[], None]] = []
        self.fault: str | None = UNCHECKED

    def tell(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the fault is another one."""
        self._told.append(changed)

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
            try:
                await self.check()
            except (Problem, sa.exc.DBAPIError) as error:
                log.warning("database_not_checked", error=str(error))
            await self._clock.sleep(CHECK_SECONDS)

    async def check(self, *, lacks: bool = False) -> str | None:
        """Read the schema's revision now, and answer with the fault. Raises `Problem` unavailable.

        `lacks`: a statement has just met a missing table or column. A schema newer than this version is then taken to
        have dropped it, until it is another one.
        """
        revision = await schema_check.revision_of(self._revision())
        if lacks and schema_check.is_newer(revision):
            self._unfit = revision
        self._judged(revision, schema_check.NEWER if revision == self._unfit else schema_check.fault_of(revision))
        return self.fault

    async def _revision(self) -> str | None:
        async with self._database.read() as connection:
            found: str | None = (await connection.execute(schema_check.REVISION)).scalar_one_or_none()
            return found

    def _judged(self, revision: str, fault: str | None) -> None:
        metrics.SCHEMA_UNUSABLE.set(fault is not None)
        if fault == self.fault:
            return
        self.fault = fault
        if fault is None:
            log.info("schema_usable", revision=revision)
        else:
            log.error("schema_unusable", revision=revision, fault=fault)
        for changed in self._told:
            changed()
