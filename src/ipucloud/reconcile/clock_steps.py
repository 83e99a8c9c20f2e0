"""When the database's clock is set back, instants in its future no longer say how long to wait.

A snapshot that was restored, a machine that was moved, a clock that somebody corrected: `run_at` may lie a day ahead of
an item that is to be looked at every minute. Whatever waits is then looked at now, which is always allowed, and works
out anew how long it has to wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from ipucloud.db.engine import Database

_DUE_NOW = sa.text(
    """
    WITH waiting AS (
      SELECT kind, key FROM work
       WHERE kind = ANY (CAST(:kinds AS text[])) AND lease_owner IS NULL AND run_at > app_now()
         FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE work SET run_at = app_now() FROM waiting WHERE work.kind = waiting.kind AND work.key = waiting.key
    """
)
# Its owner, if it lives, renews the lease long before; one that is frozen loses it as late as any other.
_SHORTEN_LEASES = sa.text(
    """
    WITH leased AS (
      SELECT kind, key FROM work
       WHERE kind = ANY (CAST(:kinds AS text[])) AND lease_until > app_now() + 2 * make_interval(secs => :lease)
         FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE work SET lease_until = app_now() + make_interval(secs => :lease)
      FROM leased WHERE work.kind = leased.kind AND work.key = leased.key
    """
)


async def begin_anew(
    database: Database, kinds: Iterable[str], lease: float, also: Sequence[sa.TextClause]
) -> tuple[int, int]:
    """Make due what waits, and shorten leases that end later than a lease can; how many of each.

    `also`: what the kinds keep of instants from which they count, and must count anew. Every statement stands alone:
    each may be repeated, and none waits for rows while it holds others.
    """
    mine = {"kinds": sorted(kinds), "lease": lease}
    async with database.read() as connection:
        for statement in also:
            await connection.execute(statement)
        shortened = await connection.execute(_SHORTEN_LEASES, mine)
        due = await connection.execute(_DUE_NOW, mine)
        return due.rowcount, shortened.rowcount
