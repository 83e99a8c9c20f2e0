"""Requests to services, counted by this process and written every few seconds.

A process that is killed takes those of its last seconds with it: they are a measurement, and nothing is billed by them.
"""

from __future__ import annotations

from uuid import UUID

import structlog

from ipucloud.db.engine import Database
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem
from ipucloud.programs.services.requests import Counts, add_counts

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 5.0


class ServiceCounts:
    """Requests since the last write, by project and service."""

    def __init__(self) -> None:
        self._counts: dict[tuple[UUID, UUID], Counts] = {}

    def add(self, project_id: UUID, service_id: UUID, seconds: float, *, failed: bool) -> None:
        self._counts.setdefault((project_id, service_id), Counts()).add(seconds, failed=failed)

    async def keep(self, database: Database, clock: Clock) -> None:
        """Write periodically until cancelled."""
        while True:
            await clock.sleep(FLUSH_SECONDS)
            await self.flush(database)

    async def flush(self, database: Database) -> None:
        counts, self._counts = self._counts, {}
        if not counts:
            return
        try:
            await database.transact(lambda connection: add_counts(connection, counts))
        except Problem as problem:
            log.warning("service_requests_not_kept", error=problem.kind.code, services=len(counts))
