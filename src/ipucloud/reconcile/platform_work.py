"""Work items that no request creates: those of periodic tasks and of reading the event log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.wake import PLATFORM

PlatformWork: TypeAlias = Mapping[str, Mapping[str, float]]
"""Kind → key → the longest pause between two reconcile passes, in seconds."""

_ENSURE = sa.text(
    """
    INSERT INTO work (kind, key, project_id, run_at) VALUES (:kind, :key, :project_id, app_now())
    ON CONFLICT (kind, key) DO NOTHING
    """
)
_AHEAD = Query(
    """
    SELECT EXISTS (
      SELECT FROM work
        JOIN unnest(CAST(:kinds AS text[]), CAST(:keys AS text[]), CAST(:pauses AS double precision[]))
             AS own (kind, key, pause) USING (kind, key)
       WHERE lease_owner IS NULL AND run_at > app_now() + make_interval(secs => pause + 1)) AS ahead
    """,
    bool,
)


async def ensure(database: Database, work_items: PlatformWork) -> bool:
    """Create those that do not exist.

    True if the database's clock was set back while no worker ran: one of them then waits longer than it ever should.
    """
    if not work_items:
        return False
    async with database.begin() as connection:
        for kind, pauses in work_items.items():
            for key in sorted(pauses):
                await connection.execute(_ENSURE, {"kind": kind, "key": key, "project_id": PLATFORM})
    failpoint("engine.work_ensured")
    rows = [(kind, key, pause) for kind, pauses in work_items.items() for key, pause in pauses.items()]
    kinds, keys, longest = ([row[place] for row in rows] for place in range(3))
    async with database.read() as connection:
        return await _AHEAD.one(connection, {"kinds": kinds, "keys": keys, "pauses": longest})
