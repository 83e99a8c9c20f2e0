"""Evidence that machines and hosts were clean before another cluster could get them.

It is written in the transaction of the observation that showed it: the last one of a clean-up, or the one that ends the
isolation of hardware. What an observation shows of a machine: it is off, so that the memory of its IPUs is cleared, and
nothing of its last cluster is left at the site; of a host: its disk was wiped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

Evidence: TypeAlias = Mapping[str, str]
"""What was observed of a machine or host, by subject: `power`, `disk`, `network` …; `none` for what is not there."""

# A clean-up whose hardware could not be exchanged then observes again.
_RECORD = """
INSERT INTO hardware_cleanings (allocation_id, external_name, observed)
SELECT a.id, :external_name, CAST(item.observed AS jsonb)
  FROM unnest(CAST(:objects AS uuid[]), CAST(:observed AS text[])) AS item (object_id, observed)
  JOIN LATERAL (
    SELECT id FROM allocations
     WHERE {whose} AND (machine_id = item.object_id OR host_id = item.object_id)
     ORDER BY created_at DESC LIMIT 1) AS a ON true
ON CONFLICT (allocation_id) DO UPDATE SET observed = excluded.observed, observed_at = app_now()
"""
_RELEASED = sa.text(
    _RECORD.format(
        whose="project_id = :project_id AND cluster_id = :cluster_id AND released_at IS NOT NULL AND freed_at IS NULL"
    )
)
_ISOLATED = sa.text(_RECORD.format(whose="cluster_id = :cluster_id AND freed_at IS NOT NULL"))


async def record_cleanings(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    cluster_id: UUID,
    external_name: str,
    observed: Mapping[UUID, Evidence],
) -> None:
    """Record what was observed of released machines and hosts, by id, which are about to be freed."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "external_name": external_name}
    await _write(connection, _RELEASED, values, observed)


async def record_late_cleaning(
    connection: AsyncConnection, *, cluster_id: UUID, external_name: str, object_id: UUID, observed: Evidence
) -> None:
    """Record what was observed of hardware that a clean-up of the cluster had left."""
    values = {"cluster_id": cluster_id, "external_name": external_name}
    await _write(connection, _ISOLATED, values, {object_id: observed})


async def _write(
    connection: AsyncConnection, statement: sa.TextClause, whose: dict[str, object], observed: Mapping[UUID, Evidence]
) -> None:
    if observed:
        objects = {
            "objects": list(observed),
            "observed": [orjson.dumps(dict(each)).decode() for each in observed.values()],
        }
        await connection.execute(statement, whose | objects)
