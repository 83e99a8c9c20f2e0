"""The work items of observation: one for each region, on one worker at a time."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.schema_check import lacks_table_or_column
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import Clock
from ipucloud.observation.findings import PowerWatch
from ipucloud.observation.observe import observe_region
from ipucloud.observation.servers import SshReader
from ipucloud.observation.work import OBSERVATION, SOON_SECONDS
from ipucloud.reconcile.outcomes import Outcome, Wait
from ipucloud.reconcile.platform_work import ensure
from ipucloud.reconcile.reconciler import LeaseLost, WorkItem
from ipucloud.site.ports import Sites

log = structlog.get_logger(__name__)

FAILED_SECONDS = 5.0

_REGIONS = Query("SELECT region FROM site_regions", str)
_LEASED = "SELECT lease_until > app_now() AS leased FROM work WHERE kind = :kind AND key = :key AND fence = :fence"
_HELD = Query(_LEASED, bool)
_KEPT = Query(f"{_LEASED} FOR SHARE", bool)


async def ensure_observation(database: Database, interval: float) -> None:
    """Have every registered region observed."""
    async with database.read() as connection:
        regions = await _REGIONS.all(connection)
    await ensure(database, {OBSERVATION: dict.fromkeys(regions, interval)})


class ObservationReconciler:
    """Observes one region. A failure is repeated without limit: no request would wake the work item."""

    kind = OBSERVATION

    def __init__(
        self,
        database: Database,
        sites: Sites,
        *,
        clock: Clock,
        interval: float,
        expires: float,
        limit: int | None,
        power_limit: float,
        validated: bool = False,
    ) -> None:
        self._database = database
        self._sites = sites
        self._clock = clock
        self._interval = interval
        self._expires = expires
        self._limit = limit
        self._validated = validated
        self._ssh: defaultdict[str, SshReader] = defaultdict(partial(SshReader, clock))
        self._power: defaultdict[str, PowerWatch] = defaultdict(partial(PowerWatch, clock, power_limit))

    async def load(self, connection: Statements, item: WorkItem) -> str | Outcome:
        await _check(connection, item, _HELD)
        return item.key

    async def act(self, item: WorkItem, inputs: str) -> Wait:
        try:
            observed = await observe_region(
                self._database,
                self._sites,
                inputs,
                budget=item.remaining,
                fence=lambda connection: _check(connection, item, _KEPT),
                clock=self._clock,
                ssh=self._ssh[inputs],
                power=self._power[inputs],
                expires=self._expires,
                limit=self._limit,
                validated=self._validated,
            )
        except LeaseLost:
            raise
        except Exception as error:  # any failure: the next reading may succeed
            if lacks_table_or_column(error):
                raise
            log.exception("observation_failed", region=inputs)
            return Wait(f"{type(error).__name__}: {error}"[:200], recheck=min(self._interval, FAILED_SECONDS))
        if observed is None:
            return Wait("the region is not registered", recheck=60.0)
        if observed.soon:
            return Wait("something is suspected", recheck=min(self._interval, SOON_SECONDS))
        return Wait("observed", recheck=self._interval)

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: str, result: Wait) -> Outcome:
        return result


async def _check(connection: Statements, item: WorkItem, lease: Query[bool]) -> None:
    """Raises LeaseLost when the item is another worker's, or soon may be."""
    if not await lease.one_or_none(connection, {"kind": item.kind, "key": item.key, "fence": item.fence}):
        raise LeaseLost(item.key)
