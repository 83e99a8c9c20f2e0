"""What the sweeps found at the sites, how often in a row, and what they repaired: in `site_findings` and `repairs`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.event_payloads.platform import AuditRepair
from ipucloud.contract.event_types.platform import AUDIT_REPAIRED
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record, record_for_operators
from ipucloud.invariants.rules import Finding

SWEEP = "sweep"
"""Who requested the repairs of a sweep, and their request id."""
PAUSE, LONGEST_PAUSE, MEMORY = timedelta(minutes=2), timedelta(hours=1), timedelta(hours=6)


class _Seen(NamedTuple):
    rule: str
    object_id: str
    region: str
    host: str
    sightings: int


class _Ended(NamedTuple):
    project_id: UUID | None
    id: UUID
    rule: str
    region: str | None
    action: str


_NOTE = Query(
    """
    WITH latest AS (
      SELECT * FROM unnest(CAST(:rules AS text[]), CAST(:regions AS text[]), CAST(:objects AS text[]),
                           CAST(:hosts AS text[]), CAST(:projects AS uuid[]), CAST(:details AS text[]))
                    AS latest (rule, region, object_id, host, project_id, detail)
    ), gone AS (
      DELETE FROM site_findings
       WHERE (rule, region, object_id, host) NOT IN (SELECT rule, region, object_id, host FROM latest)
    )
    INSERT INTO site_findings AS known (rule, region, object_id, host, project_id, detail)
    SELECT rule, region, object_id, host, project_id, detail FROM latest
    ON CONFLICT (rule, region, object_id, host) DO UPDATE
       SET detail = excluded.detail, last_seen_at = app_now(), sightings = known.sightings + 1, left_because = NULL
    RETURNING rule, object_id, region, host, sightings
    """,
    _Seen,
)
_LEFT = sa.text(
    """
    UPDATE site_findings SET left_because = :why
     WHERE rule = :rule AND region = :region AND object_id = :object_id AND host = :host
    """
)
_ENDED = Query(
    """
    UPDATE repairs SET state = 'succeeded', finished_at = app_now()
     WHERE requested_by = :sweep AND state = 'running'
       AND (rule, region, object_id) NOT IN (SELECT rule, region, object_id FROM site_findings)
    RETURNING project_id, id, rule, region, action
    """,
    _Ended,
)
_BEGUN = Query(
    """
    SELECT state FROM repairs
     WHERE requested_by = :sweep AND rule = :rule AND region = :region AND object_id = :object_id
       AND (state = 'running' OR started_at > app_now() - interval '1 hour')
     ORDER BY started_at DESC LIMIT 1
    """,
    str,
)
_LATELY = Query(
    """
    SELECT count(*) FROM repairs
     WHERE requested_by = :sweep AND region = :region AND started_at > app_now() - interval '1 hour'
    """,
    int,
)


class Earlier(NamedTuple):
    """What sweeps did about a finding within `MEMORY`: how often, the last time, and whether that still runs."""

    times: int
    last_at: datetime | None
    running: bool
    now: datetime

    @property
    def next_at(self) -> datetime | None:
        """When it is repaired again: after two minutes, then after twice the pause each time, an hour at most.

        None: it was not repaired before.
        """
        return None if self.last_at is None else self.last_at + min(LONGEST_PAUSE, PAUSE * 2 ** (self.times - 1))


_EARLIER = Query(
    """
    SELECT count(*) AS times, max(r.started_at) AS last_at,
           coalesce(bool_or(o.id IS NOT NULL AND o.finished_at IS NULL), false) AS running, app_now() AS now
      FROM repairs AS r LEFT JOIN operations AS o ON (o.project_id, o.id) = (r.project_id, r.operation_id)
     WHERE r.requested_by = :sweep AND r.rule = :rule AND r.region = :region AND r.object_id = :object_id
       AND r.started_at > app_now() - CAST(:memory AS interval)
    """,
    Earlier,
)


async def record_findings(connection: AsyncConnection, findings: Collection[Finding]) -> Mapping[Finding, int]:
    """Record everything that this sweep found, and for each how many sweeps in a row have found it.

    What it does not find any more is forgotten, and the repairs that ended it have succeeded.
    """
    by_key = {each.key: each for each in findings}
    columns = {
        "rules": [each.rule.name for each in by_key.values()],
        "regions": [each.violation.region or "" for each in by_key.values()],
        "objects": [each.violation.object_id for each in by_key.values()],
        "hosts": [each.violation.host or "" for each in by_key.values()],
        "projects": [each.violation.project_id for each in by_key.values()],
        "details": [each.violation.detail for each in by_key.values()],
    }
    rows = await _NOTE.all(connection, columns)
    for ended in await _ENDED.all(connection, {"sweep": SWEEP}):
        done = AuditRepair(rule=ended.rule, action=ended.action)
        if ended.project_id is None:
            await record_for_operators(
                connection,
                AUDIT_REPAIRED,
                region=ended.region,
                subject_type="repair",
                subject_id=ended.id,
                request_id=SWEEP,
                data=done,
            )
        else:
            await record(
                connection,
                AUDIT_REPAIRED,
                project_id=ended.project_id,
                subject_type="project",
                subject_id=ended.project_id,
                request_id=SWEEP,
                data=done,
            )
    return {by_key[each.rule, each.object_id, each.region or None, each.host or None]: each.sightings for each in rows}


async def leave(connection: AsyncConnection, finding: Finding, why: str) -> None:
    """Record why this sweep leaves what it found as it is."""
    await connection.execute(_LEFT, _named(finding) | {"host": finding.violation.host or "", "why": why})


async def begun(connection: Statements, finding: Finding) -> str | None:
    """The state of the sweeps' last repair of it: running, or of the last hour; None: there is none."""
    return await _BEGUN.one_or_none(connection, _named(finding) | {"sweep": SWEEP})


async def earlier(connection: Statements, finding: Finding) -> Earlier:
    """How often sweeps have repaired it, and when they may do so again."""
    return await _EARLIER.one(connection, _named(finding) | {"sweep": SWEEP, "memory": MEMORY})


async def lately(connection: Statements, region: str) -> int:
    """How many repairs sweeps have begun in a region within the last hour."""
    return await _LATELY.one(connection, {"sweep": SWEEP, "region": region})


def _named(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule.name,
        "region": finding.violation.region or "",
        "object_id": finding.violation.object_id,
    }
