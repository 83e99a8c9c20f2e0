"""What happens when the database's clock is set back: nothing waits for an instant that is now in the far future.

A restored snapshot, a migrated virtual machine or a corrected clock can leave `run_at` a day ahead of an item that is
due every minute. Every waiting item is then made due, which is always safe: its reconcile pass computes its next wait
again.
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
# A live owner renews the lease long before that; a frozen one loses it no later than any other.
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


async def make_all_due(
    database: Database, kinds: Iterable[str], lease: float, also: Sequence[sa.TextClause]
) -> tuple[int, int]:
    """Make waiting items due and shorten leases that end too late; returns how many of each.

    `also`: statements that correct other instants from which the kinds measure time. Every statement stands alone: each
    can be repeated, and none waits for rows while it holds others.
    """
    values = {"kinds": sorted(kinds), "lease": lease}
    async with database.read() as connection:
        for statement in also:
            await connection.execute(statement)
        shortened = await connection.execute(_SHORTEN_LEASES, values)
        due = await connection.execute(_DUE_NOW, values)
        return due.rowcount, shortened.rowcount
