"""When a region was read last, by each source, and whether automatic actions are halted there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.health.codes import Source

_COMPLETE = sa.text(
    """
    INSERT INTO observations (region, source, started_at, finished_at, stale_at, objects, answered)
    VALUES (:region, :source, :began, :ended, CAST(:ended AS timestamptz) + make_interval(secs => :expires), :objects,
            :answered)
    ON CONFLICT (region, source) DO UPDATE
       SET started_at = excluded.started_at, finished_at = excluded.finished_at, stale_at = excluded.stale_at,
           objects = excluded.objects, answered = excluded.answered, error = NULL, failed_since = NULL
    """
)
_FAILED = sa.text(
    """
    INSERT INTO observations (region, source, error, failed_since) VALUES (:region, :source, :error, app_now())
    ON CONFLICT (region, source) DO UPDATE
       SET error = excluded.error, failed_since = coalesce(observations.failed_since, excluded.failed_since)
    """
)
_HALT = sa.text(
    """
    INSERT INTO observations (region, source, halted_since) VALUES (:region, 'site', app_now())
    ON CONFLICT (region, source) DO UPDATE SET halted_since = excluded.halted_since
     WHERE observations.halted_since IS NULL
    """
)
_RESUME = sa.text("UPDATE observations SET halted_since = NULL WHERE region = :region AND halted_since IS NOT NULL")
_HALTED = Query(
    "SELECT EXISTS (SELECT FROM observations WHERE region = :region AND halted_since IS NOT NULL) AS halted", bool
)

_RELEASE = sa.text(
    """
    UPDATE vipu_controllers SET version = :version, version_at = app_now()
     WHERE region = :region AND name = :name AND version IS DISTINCT FROM :version
    """
)
_CONTROLLER = sa.text(
    """
    UPDATE vipu_controllers
       SET started_at = :began, finished_at = :ended,
           stale_at = CAST(:ended AS timestamptz) + make_interval(secs => :expires),
           error = NULL, failed_since = NULL
     WHERE region = :region AND name = :name
    """
)
_SILENT = sa.text(
    """
    UPDATE vipu_controllers SET error = :error, failed_since = coalesce(failed_since, app_now())
     WHERE region = :region AND name = :name
    """
)
# One failed reading may be a blip; the second withholds, and a complete one gives back.
_WITHHOLD = Query(
    """
    WITH changed AS (
      UPDATE vipu_controllers SET withheld = CAST(:failed AS boolean)
       WHERE region = :region AND name = :name AND withheld <> :failed AND (NOT :failed OR failed_since IS NOT NULL)
      RETURNING region, name
    )
    SELECT pods.id FROM pods JOIN changed ON pods.region = changed.region AND pods.controller = changed.name
    """,
    UUID,
)


@dataclass(frozen=True, slots=True)
class When:
    """When a region was read, by the clock of the database, and for how many seconds after that it says something.

    Times and no ages: a process that is stopped for a while would write that it read only just now.
    """

    began: datetime
    ended: datetime
    expires: float


@dataclass(frozen=True, slots=True)
class Read:
    """How the reading of one source went. `error` says why it is not complete."""

    source: Source
    objects: int
    answered: int
    error: str | None = None


async def write_reading(connection: AsyncConnection, region: str, read: Read, when: When) -> None:
    """Record a reading. One that failed leaves the times of the last complete one."""
    if read.error is not None:
        await connection.execute(_FAILED, {"region": region, "source": read.source, "error": read.error[:500]})
        return
    answer = {"source": read.source, "objects": read.objects, "answered": read.answered}
    await connection.execute(_COMPLETE, {"region": region} | answer | asdict(when))


async def write_release(connection: AsyncConnection, region: str, controller: str, version: str) -> None:
    """Record what a V-IPU controller says that it runs."""
    await connection.execute(_RELEASE, {"region": region, "name": controller, "version": version})


async def write_controller(
    connection: AsyncConnection, region: str, controller: str, error: str | None, when: When
) -> Sequence[UUID]:
    """Record the reading of one V-IPU controller, as `write_reading` does for a source.

    Returns the pods whose machines are withheld from new clusters from now on, or offered again: settle them.
    """
    key = {"region": region, "name": controller}
    pods = await _WITHHOLD.all(connection, key | {"failed": error is not None})
    if error is not None:
        await connection.execute(_SILENT, key | {"error": error[:500]})
    else:
        await connection.execute(_CONTROLLER, key | asdict(when))
    return pods


async def automation_halted(connection: Statements, region: str) -> bool:
    """Whether too many objects of the region failed at once: nothing may be repaired or moved without a person."""
    return await _HALTED.one(connection, {"region": region})


async def set_halted(connection: AsyncConnection, region: str, *, halted: bool) -> None:
    """Halt automatic actions in a region, or allow them again."""
    await connection.execute(_HALT if halted else _RESUME, {"region": region})
