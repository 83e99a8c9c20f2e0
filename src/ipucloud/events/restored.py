"""Events that were restored into another server, whose transactions have lower numbers.

The log is ordered by these numbers: what the new server wrote would come before what it restored.
"""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.engine import sqlalchemy_url

_BEHIND = """
SELECT greatest(0, coalesce(max(transaction), 0) + 1 - (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint)
  FROM events
"""
_USE_UP = """
DO $$ BEGIN
  WHILE pg_current_xact_id()::text::bigint <= (SELECT coalesce(max(transaction), 0) FROM events) LOOP COMMIT; END LOOP;
END $$
"""


def _engine(url: str) -> sa.Engine:
    return sa.create_engine(sqlalchemy_url(url), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)


def transactions_behind(url: str) -> int:
    """How many transactions the server has to begin until its numbers are above those of every event."""
    with _engine(url).connect() as connection:
        return int(connection.exec_driver_sql(_BEHIND).scalar_one())


def use_up_transactions(url: str) -> None:
    """Begin so many transactions, about ten thousand a second. Nothing else may write meanwhile."""
    with _engine(url).connect() as connection:
        connection.exec_driver_sql(_USE_UP)
