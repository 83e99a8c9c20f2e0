"""What callers took of limits that several processes share, by digest."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

KEPT_SECONDS = 3600
"""Longer than any limit takes to be restored."""

_ADD = Query(
    """
    WITH added AS (
      INSERT INTO rate_limits AS known (key, taken)
      SELECT key, taken FROM unnest(CAST(:keys AS bytea[]), CAST(:taken AS bigint[])) AS t (key, taken) ORDER BY key
          ON CONFLICT (key) DO UPDATE SET taken = known.taken + excluded.taken, at = app_now()
      RETURNING key, taken)
    SELECT added.taken FROM unnest(CAST(:keys AS bytea[])) WITH ORDINALITY AS caller (key, place) JOIN added USING (key)
     ORDER BY place
    """,
    int,
)
_SWEEP = sa.text("DELETE FROM rate_limits WHERE at < app_now() - make_interval(secs => :seconds)")


async def add_taken(connection: Statements, keys: Sequence[bytes], taken: Sequence[int]) -> list[int]:
    """Add what each caller took, at least 1; what each took of all processes. The keys are distinct."""
    return await _ADD.all(connection, {"keys": [*keys], "taken": [*taken]})


async def sweep(database: Database) -> None:
    """Forget callers who took nothing for so long that every bucket is full again."""
    async with database.read() as connection:
        await connection.execute(_SWEEP, {"seconds": KEPT_SECONDS})
