"""When tokens and browser sessions were last used: noted in memory, written in batches, so no request waits."""

from __future__ import annotations

import structlog

from ipucloud.db.engine import Database
from ipucloud.identity.token_store import touch
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem

FLUSH_SECONDS = 60.0
MOST = 10_000
"""Maximum number of hashes between two writes; others are noted at the token's next use."""

log = structlog.get_logger(__name__)


class UsedTokens:
    """Tokens and browser sessions used since the last write; sessions end after `idle` seconds without use."""

    def __init__(self, idle: float) -> None:
        self._idle = idle
        self._hashes: set[bytes] = set()

    def note(self, token_hash: bytes) -> None:
        if len(self._hashes) < MOST:
            self._hashes.add(token_hash)

    async def keep(self, database: Database, clock: Clock) -> None:
        """Write periodically until cancelled."""
        while True:
            await clock.sleep(FLUSH_SECONDS)
            await self.flush(database)

    async def flush(self, database: Database) -> None:
        hashes, self._hashes = sorted(self._hashes), set()
        if not hashes:
            return
        try:
            await database.transact(lambda connection: touch(connection, hashes, self._idle))
        except Problem as problem:
            log.warning("last_use_not_kept", error=problem.kind.code, tokens=len(hashes))
