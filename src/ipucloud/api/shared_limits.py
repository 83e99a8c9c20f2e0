"""Limits that the API's processes share: each tells the others, through the database, what its callers took.

Only callers who took more than an eighth of their burst are shared, twice a second, so that most requests cost no
statement. A process that has not met a caller lately does not know what others gave them before: at first contact, each
gives up to a whole burst. From then on, all together give the sustained rate.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable

import structlog
from sqlalchemy.exc import SQLAlchemyError

from ipucloud.api.limits import RateLimiter
from ipucloud.db.engine import Database
from ipucloud.identity.limits import add_taken
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem

SHARE_SECONDS = 0.5

log = structlog.get_logger(__name__)


class SharedLimits:
    """The limits of one process that other processes have as well."""

    def __init__(self, limiters: Iterable[RateLimiter]) -> None:
        self._limiters = [*limiters]

    async def keep(self, database: Database, clock: Clock) -> None:
        """Share until cancelled."""
        while True:
            await clock.sleep(SHARE_SECONDS)
            await self.share(database)

    async def share(self, database: Database) -> None:
        """Tell what was taken here, and count what was taken elsewhere. Without a database each counts for itself."""
        busy = {
            _key(limiter, caller): (limiter, bucket)
            for limiter in self._limiters
            for caller, bucket in limiter.busy().items()
        }
        if not busy:
            return
        amounts = [math.floor(bucket.consumed) for _, bucket in busy.values()]
        try:
            async with database.read() as connection:
                totals = await add_taken(connection, [*busy], amounts)
        except (Problem, SQLAlchemyError) as error:
            log.warning("limits_not_shared", error=type(error).__name__, callers=len(busy))
            return
        for (limiter, bucket), own, total in zip(busy.values(), amounts, totals, strict=True):
            limiter.count_others(bucket, own, total)


def _key(limiter: RateLimiter, caller: object) -> bytes:
    """A digest: no token's hash, address or e-mail is stored."""
    return hashlib.sha256(repr((limiter.policy, caller)).encode()).digest()
