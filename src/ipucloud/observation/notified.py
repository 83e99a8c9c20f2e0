"""Regions whose site notifies of changes are observed at once; nothing depends on it, since all are read anyway."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import structlog

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.kernel.clock import Clock
from ipucloud.observation.work import OBSERVATION, SOON_SECONDS
from ipucloud.reconcile.wake import wake
from ipucloud.site.ports import SiteError

log = structlog.get_logger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds before a stream that broke, or is not offered, is asked for again."""
_REGIONS = Query(
    """
    WITH named AS (
      SELECT m.name, p.region FROM machines AS m JOIN pods AS p ON p.id = m.pod_id
       WHERE m.name = ANY (CAST(:names AS text[]))
      UNION SELECT name, region FROM hosts WHERE name = ANY (CAST(:names AS text[]))
    )
    SELECT region FROM site_regions
     WHERE (region IN (SELECT region FROM named) OR EXISTS (
              SELECT FROM unnest(CAST(:names AS text[])) AS notice (name)
               WHERE notice.name NOT IN (SELECT name FROM named)))
       AND region NOT IN (SELECT key FROM work WHERE kind = 'observation' AND parked_at IS NOT NULL)
     ORDER BY region
    """,
    str,
)


class Notified:
    """Listens to the site's events, and makes the observation of the regions that they are about due.

    An event about what is not known makes every region due, none makes one that is parked. All events of a second are
    one wake. `listening` is set while there is a stream. Whatever fails here leaves the regions to their interval.
    """

    def __init__(self, database: Database, events: Callable[[], AsyncGenerator[str]], clock: Clock) -> None:
        self.listening = asyncio.Event()
        self._database = database
        self._events = events
        self._clock = clock
        self._pending = asyncio.Event()
        self._names: set[str] = set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._wake())

    async def _listen(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                async with contextlib.aclosing(self._events()) as names:
                    async for name in names:
                        if not self.listening.is_set():
                            log.info("site_notifies")
                            self.listening.set()
                        if name:
                            pause = FIRST_PAUSE
                        self._names.add(name)
                        self._pending.set()
            except SiteError as error:
                if self.listening.is_set():
                    log.info("site_notifies_no_more", why=str(error))
                self.listening.clear()
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _wake(self) -> None:
        while True:
            await self._pending.wait()
            self._pending.clear()
            names, self._names = self._names, set()
            try:
                async with self._database.begin() as connection:
                    for region in await _REGIONS.all(connection, {"names": sorted(names)}):
                        await wake(connection, kind=OBSERVATION, key=region)
            except Exception:  # the database does not answer, or was migrated: regions are read all the same
                log.warning("notification_lost", exc_info=True)
            await self._clock.sleep(SOON_SECONDS)
