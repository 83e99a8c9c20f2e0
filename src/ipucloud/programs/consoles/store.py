"""Which consoles are read, and what was read of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query

KEPT_BOOTS = 10
"""Of each server."""
MOST_REMOVED = 1_000


class Server(NamedTuple):
    """A Poplar server on a host. `written`: what its site had written to its console when it was read last."""

    id: UUID
    project_id: UUID
    name: str
    host: str
    network: str
    written: int


class Boot(NamedTuple):
    """The console of one boot; fields: those of the table."""

    project_id: UUID
    server_id: UUID
    boot_id: str
    number: int
    started_at: datetime
    ended_at: datetime | None
    text: str
    dropped: int
    written: int


SERVERS = Query(
    """
    SELECT s.id, s.project_id, s.name, h.name AS host, c.external_name AS network,
           coalesce((SELECT max(read.written) FROM console_boots AS read
                      WHERE read.project_id = s.project_id AND read.server_id = s.id), 0) AS written
      FROM clusters AS c
      JOIN poplar_servers AS s ON s.project_id = c.project_id AND s.cluster_id = c.id
      JOIN allocations AS held
        ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
       AND held.host_id IS NOT NULL AND held.released_at IS NULL
      JOIN hosts AS h ON h.id = held.host_id
     WHERE c.region = :region AND c.deleted_at IS NULL
     ORDER BY s.id
    """,
    Server,
)
"""The servers of a region that have a host."""
_RECORD = sa.text(
    """
    INSERT INTO console_boots AS kept (
      project_id, server_id, boot_id, number, started_at, ended_at, text, dropped, written, observed_at)
    SELECT boots.*, app_now()
      FROM unnest(CAST(:project_id AS uuid[]), CAST(:server_id AS uuid[]), CAST(:boot_id AS text[]),
                  CAST(:number AS integer[]), CAST(:started_at AS timestamptz[]), CAST(:ended_at AS timestamptz[]),
                  CAST(:text AS text[]), CAST(:dropped AS bigint[]), CAST(:written AS bigint[])) AS boots
        ON CONFLICT (project_id, server_id, boot_id) DO UPDATE
       SET ended_at = excluded.ended_at, text = excluded.text, dropped = excluded.dropped, written = excluded.written,
           observed_at = excluded.observed_at
     WHERE kept.written < excluded.written
    """
)
_TRIM = sa.text(
    f"""
    DELETE FROM console_boots AS boot
     WHERE boot.server_id = ANY(CAST(:servers AS uuid[]))
       AND boot.number <= (SELECT max(number) - {KEPT_BOOTS} FROM console_boots AS newer
                            WHERE newer.project_id = boot.project_id AND newer.server_id = boot.server_id)
    """  # noqa: S608  # our own text
)
_FORGET = Query(
    f"""
    WITH old AS (
      SELECT project_id, server_id, boot_id FROM console_boots
       WHERE observed_at < app_now() - make_interval(secs => :kept) ORDER BY observed_at LIMIT {MOST_REMOVED}
    ), removed AS (
      DELETE FROM console_boots AS boot USING old
       WHERE (boot.project_id, boot.server_id, boot.boot_id) = (old.project_id, old.server_id, old.boot_id)
         AND (boot.ended_at IS NOT NULL OR NOT EXISTS (
               SELECT FROM poplar_servers AS server
                WHERE server.project_id = boot.project_id AND server.id = boot.server_id AND server.state <> 'deleted'))
      RETURNING 1
    )
    SELECT count(*) FROM removed
    """,  # noqa: S608  # our own text
    int,
)


async def record_boots(connection: AsyncConnection, boots: Sequence[Boot]) -> None:
    """Write what was read just now, and drop the boots before the last ones of these servers."""
    ordered = sorted(boots, key=lambda each: (each.server_id, each.boot_id))
    values = {name: [getattr(each, name) for each in ordered] for name in Boot._fields}
    await connection.execute(_RECORD, values)
    await connection.execute(_TRIM, {"servers": sorted({each.server_id for each in ordered})})


async def forget_consoles(database: Database, *, kept: float) -> None:
    """Remove boots that were read last more than so many seconds ago, but for those that go on."""
    async with database.begin() as connection:
        await _FORGET.one(connection, {"kept": kept})
