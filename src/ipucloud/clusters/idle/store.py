"""What was observed of the use of Poplar servers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import BILLABLE
from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query

IN_USE = ", ".join(f"'{state}'" for state in sorted(BILLABLE))


class Watched(NamedTuple):
    """A Poplar server whose use is observed, because its cluster is suspended when nobody uses it."""

    id: UUID
    project_id: UUID
    name: str
    host: str


class Use(NamedTuple):
    """What a site shows of a server; None: it does not show that. `idle_seconds`: since it was last in use."""

    server: Watched
    sessions: int | None
    attached_ipus: int | None
    idle_seconds: float | None

    @property
    def idle_for(self) -> float | None:
        """Seconds without use; None: it is in use, or nobody knows."""
        return self.idle_seconds if self.sessions == 0 and self.attached_ipus == 0 else None


WATCHED = Query(
    f"""
    SELECT s.id, s.project_id, s.name, h.name AS host FROM clusters AS c
      JOIN poplar_servers AS s ON (s.project_id, s.cluster_id) = (c.project_id, c.id)
      JOIN allocations AS held
        ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
       AND held.host_id IS NOT NULL AND held.released_at IS NULL
      JOIN hosts AS h ON h.id = held.host_id
     WHERE c.region = :region AND c.idle_suspend_minutes IS NOT NULL AND c.deleted_at IS NULL
       AND c.state IN ({IN_USE})
     ORDER BY s.id
    """,  # noqa: S608  # our own text
    Watched,
)
"""The servers of a region whose use is observed."""
SHOWN_IDLE = f"""
LEFT JOIN LATERAL (
  SELECT json_build_object(
           'since', {rfc3339("CASE WHEN count(used.idle_since) = count(*) THEN max(used.idle_since) END")},
           'observed_at', {rfc3339("CASE WHEN count(used.observed_at) = count(*) THEN min(used.observed_at) END")}
         ) AS document
    FROM poplar_servers AS server LEFT JOIN server_uses AS used ON used.server_id = server.id
   WHERE page.idle_suspend_minutes IS NOT NULL AND page.state IN ({IN_USE})
     AND server.project_id = page.project_id AND server.cluster_id = page.id
  HAVING count(*) > 0
) AS idle ON true
"""  # noqa: S608  # our own text
"""A join that adds `idle.document` to a `page` of clusters."""
_RECORD = sa.text(
    """
    INSERT INTO server_uses (server_id, project_id, sessions, attached_ipus, idle_since, observed_at)
    SELECT use.id, use.project_id, use.sessions, use.attached_ipus,
           CAST(:read_at AS timestamptz) - make_interval(secs => use.idle_for), CAST(:read_at AS timestamptz)
      FROM unnest(CAST(:ids AS uuid[]), CAST(:projects AS uuid[]), CAST(:sessions AS integer[]),
                  CAST(:attached AS integer[]), CAST(:idle AS float8[]))
           AS use (id, project_id, sessions, attached_ipus, idle_for)
        ON CONFLICT (server_id) DO UPDATE
       SET sessions = excluded.sessions, attached_ipus = excluded.attached_ipus, idle_since = excluded.idle_since,
           observed_at = excluded.observed_at
    """
)


async def record_uses(connection: AsyncConnection, uses: Sequence[Use], *, read_at: datetime) -> None:
    """Write what was read of these servers at that time, in the order of their ids."""
    await connection.execute(
        _RECORD,
        {
            "ids": [each.server.id for each in uses],
            "projects": [each.server.project_id for each in uses],
            "sessions": [each.sessions for each in uses],
            "attached": [each.attached_ipus for each in uses],
            "idle": [each.idle_for for each in uses],
            "read_at": read_at,
        },
    )
