"""The event feed, in tests that share a server."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa

from ipucloud.db.engine import Database


async def settled(db: Database) -> None:
    """Wait for transactions of other tests on the same server, which hold every feed back; for ours only so long."""
    horizon = sa.text(
        "SELECT coalesce(max(transaction), 0) < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"
        " FROM events"
    )
    for _ in range(1000):
        async with db.read() as connection:
            if (await connection.execute(horizon)).scalar_one():
                return
        await asyncio.sleep(0.01)
