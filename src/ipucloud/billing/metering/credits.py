"""Machines that do not work as sold are not billed: from the first sight of a fault to the first sight of its end.

A change of their number ends the usage interval of the cluster or reservation and begins the next one, as a change of
its size would. So a minute is credited by the interval that it starts in, and whatever counts minutes or money needs no
other rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id

# What happened may have been recorded late: the end marks closed hours as dirty, and they are corrected.
# Where one fault ends and another begins, the credit of the new number begins with the first fault that it cites.
_CHANGE = sa.text(
    """
    WITH ended AS (
      UPDATE usage_intervals u
         SET ended_at = greatest(u.started_at, date_trunc('second', least(app_now(), greatest(
               CAST(:since AS timestamptz),
               (SELECT min(f.first_seen_at) FROM cited_faults f WHERE f.id = ANY(CAST(:report_ids AS uuid[])))
             )), 'UTC'))
       WHERE u.project_id = :project_id AND u.resource_id = :resource_id AND u.ended_at IS NULL
         AND u.credited <> :machines
      RETURNING u.*
    )
    INSERT INTO usage_intervals
           (id, project_id, resource_id, resource_kind, flavor, sku, region, currency, quantity, credited, anchor_at,
            started_at)
    SELECT :id, project_id, resource_id, resource_kind, flavor, sku, region, currency, quantity, :machines, anchor_at,
           ended_at
      FROM ended
    """
)
_CITE = sa.text(
    """
    INSERT INTO usage_credits (project_id, interval_id, report_id)
    SELECT u.project_id, u.id, report_id
      FROM usage_intervals u, unnest(CAST(:report_ids AS uuid[])) AS report_id
     WHERE u.project_id = :project_id AND u.resource_id = :resource_id AND u.ended_at IS NULL AND u.credited > 0
    ON CONFLICT DO NOTHING
    """
)


class _Cited(NamedTuple):
    """A report for which minutes are credited now, and when its end was first seen."""

    id: UUID
    ended_at: datetime | None


_CITED = Query(
    """
    SELECT f.id, f.ended_at
      FROM usage_intervals u JOIN usage_credits c ON c.interval_id = u.id JOIN cited_faults f ON f.id = c.report_id
     WHERE u.project_id = :project_id AND u.resource_id = :resource_id AND u.ended_at IS NULL
    """,
    _Cited,
)


async def credit(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    resource_id: UUID,
    machines: int,
    reports: Mapping[UUID, datetime],
    now: datetime,
) -> None:
    """Credit so many machines for these live reports, each with the time of its first reading, and for no others.

    The change takes effect when it was first seen: a new report, or the end of one for which minutes are credited.
    Otherwise as `set_credited`.
    """
    mine = {"project_id": project_id, "resource_id": resource_id}
    cited = {report.id: report.ended_at for report in await _CITED.all(connection, mine)}
    changes = [since for report, since in reports.items() if report not in cited]
    changes += [ended_at or now for report, ended_at in cited.items() if report not in reports]
    since = min(changes, default=now)
    await set_credited(connection, **mine, machines=machines, since=min(since, now), report_ids=list(reports))


async def set_credited(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    resource_id: UUID,
    machines: int,
    since: datetime,
    report_ids: Sequence[UUID],
) -> None:
    """Bill the cluster or reservation without `machines` of its machines from `since` on; 0 bills all of them again.

    `since` is when the change was first seen; it is cut to the second. The change takes effect no earlier than the open
    interval, because intervals that have ended never change, no earlier than the first fault that is cited, and not in
    the future. `report_ids` are the live health reports that are the reason; more of them for as many machines are
    added to the same interval. The caller holds the lock of the cluster or reservation. Without an open interval, or a
    change, nothing happens.

    Raises ValueError for machines without a report, and sqlalchemy.exc.IntegrityError for more machines than there
    are.
    """
    if machines and not report_ids:
        raise ValueError("a credit cites at least one health report")
    mine = {"project_id": project_id, "resource_id": resource_id, "report_ids": list(report_ids)}
    await connection.execute(_CHANGE, {**mine, "id": new_id(), "machines": machines, "since": since})
    failpoint("credits.changed")
    await connection.execute(_CITE, mine)
