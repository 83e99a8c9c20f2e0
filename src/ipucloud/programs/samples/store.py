"""Writing samples, and removing old ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query

MOST_REMOVED = 50_000
"""Rows of one transaction."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one reading of the site showed of a cluster in use; None was not shown. Units: those of the table."""

    project_id: UUID
    cluster_id: UUID
    machines: int
    machines_answered: int
    utilisation: float | None
    power: float | None
    temperature: float | None
    link_errors: int | None
    attached_ipus: int | None
    partitions: int
    partitions_active: int
    cpu: float | None
    memory_used: int | None
    memory: int | None


# A cluster that is no longer in use has no sample: what was read may be another one's by now.
_RECORD = sa.text(
    """
    INSERT INTO cluster_samples AS kept (
      project_id, cluster_id, minute, observed_at, machines, machines_answered, utilisation, power, temperature,
      link_errors, attached_ipus, partitions, partitions_active, cpu, memory_used, memory)
    SELECT sample.project_id, sample.cluster_id, date_trunc('minute', at.read, 'UTC'), at.read, sample.machines,
           sample.machines_answered, sample.utilisation, sample.power, sample.temperature, sample.link_errors,
           sample.attached_ipus, sample.partitions, sample.partitions_active, sample.cpu, sample.memory_used,
           sample.memory
      FROM unnest(CAST(:project_id AS uuid[]), CAST(:cluster_id AS uuid[]), CAST(:machines AS integer[]),
                  CAST(:machines_answered AS integer[]), CAST(:utilisation AS real[]), CAST(:power AS real[]),
                  CAST(:temperature AS real[]), CAST(:link_errors AS bigint[]), CAST(:attached_ipus AS integer[]),
                  CAST(:partitions AS integer[]), CAST(:partitions_active AS integer[]), CAST(:cpu AS real[]),
                  CAST(:memory_used AS bigint[]), CAST(:memory AS bigint[]))
           AS sample (project_id, cluster_id, machines, machines_answered, utilisation, power, temperature, link_errors,
                    attached_ipus, partitions, partitions_active, cpu, memory_used, memory)
      JOIN clusters ON clusters.project_id = sample.project_id AND clusters.id = sample.cluster_id
       AND clusters.state IN ('active', 'degraded')
     CROSS JOIN (SELECT CAST(:read_at AS timestamptz) AS read) AS at
     ORDER BY sample.cluster_id
        ON CONFLICT (project_id, cluster_id, minute) DO UPDATE
       SET observed_at = excluded.observed_at, machines = excluded.machines,
           machines_answered = excluded.machines_answered, utilisation = excluded.utilisation, power = excluded.power,
           temperature = excluded.temperature, link_errors = excluded.link_errors,
           attached_ipus = excluded.attached_ipus, partitions = excluded.partitions,
           partitions_active = excluded.partitions_active, cpu = excluded.cpu, memory_used = excluded.memory_used,
           memory = excluded.memory
     WHERE kept.observed_at < excluded.observed_at
    """
)
_FORGET = Query(
    f"""
    WITH old AS (
      SELECT project_id, cluster_id, minute FROM cluster_samples
       WHERE minute < app_now() - make_interval(secs => :kept) ORDER BY minute LIMIT {MOST_REMOVED}
    ), removed AS (
      DELETE FROM cluster_samples AS sample USING old
       WHERE (sample.project_id, sample.cluster_id, sample.minute) = (old.project_id, old.cluster_id, old.minute)
      RETURNING 1
    )
    SELECT count(*) FROM removed
    """,  # noqa: S608  # our own text
    int,
)


async def record_samples(connection: AsyncConnection, samples: Sequence[Sample], *, read_at: datetime) -> None:
    """Write what was read at that time; of a minute the last reading stays."""
    values = {field.name: [getattr(each, field.name) for each in samples] for field in fields(Sample)}
    await connection.execute(_RECORD, {**values, "read_at": read_at})


async def forget_samples(database: Database, *, kept: float) -> None:
    """Remove what is older than so many seconds, in transactions of bounded size."""
    removed = MOST_REMOVED
    while removed == MOST_REMOVED:
        async with database.begin() as connection:
            removed = await _FORGET.one(connection, {"kept": kept})
