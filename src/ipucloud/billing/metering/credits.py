"""Machines that do not work as sold are not billed: from the first sight of a fault to the first sight of its end.

A change of their number ends the cluster's usage interval and begins the next one, as a change of its size would. So a
minute is credited by the interval that it starts in, and whatever counts minutes or money needs no other rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

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
       WHERE u.project_id = :project_id AND u.resource_id = :cluster_id AND u.ended_at IS NULL
         AND u.credited <> :machines
      RETURNING u.*
    )
    INSERT INTO usage_intervals
           (id, project_id, resource_id, flavor, sku, region, currency, quantity, credited, anchor_at, started_at)
    SELECT :id, project_id, resource_id, flavor, sku, region, currency, quantity, :machines, anchor_at, ended_at
      FROM ended
    """
)
_CITE = sa.text(
    """
    INSERT INTO usage_credits (project_id, interval_id, report_id)
    SELECT u.project_id, u.id, report_id
      FROM usage_intervals u, unnest(CAST(:report_ids AS uuid[])) AS report_id
     WHERE u.project_id = :project_id AND u.resource_id = :cluster_id AND u.ended_at IS NULL AND u.credited > 0
    ON CONFLICT DO NOTHING
    """
)


async def set_credited(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    cluster_id: UUID,
    machines: int,
    since: datetime,
    report_ids: Sequence[UUID],
) -> None:
    """Bill the cluster without `machines` of its machines from `since` on; 0 bills all of them again.

    `since` is when the change was first seen; it is cut to the second. The change takes effect no earlier than the open
    interval, because intervals that have ended never change, no earlier than the first fault that is cited, and not in
    the future. `report_ids` are the live health reports that are the reason; more of them for as many machines are
    added to the same interval. The caller holds the cluster's lock. Without an open interval, or a change,
    nothing happens.

    Raises ValueError for machines without a report, and sqlalchemy.exc.IntegrityError for more machines than the
    cluster has.
    """
    if machines and not report_ids:
        raise ValueError("a credit cites at least one health report")
    cluster = {"project_id": project_id, "cluster_id": cluster_id, "report_ids": list(report_ids)}
    await connection.execute(_CHANGE, {**cluster, "id": new_id(), "machines": machines, "since": since})
    failpoint("credits.changed")
    await connection.execute(_CITE, cluster)
