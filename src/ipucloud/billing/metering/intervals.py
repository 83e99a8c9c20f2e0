"""Opening and closing usage intervals, in the transaction that changes the billable state."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.kernel.ids import new_id

# No interval begins before the anchor: one that is open since then conflicts, and is to be left as it is. Nor before
# the last one's end, whatever the clock shows, or what waits for this could not end.
_OPEN = sa.text(
    """
    INSERT INTO usage_intervals
           (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at, started_at)
    SELECT :id, c.project_id, c.id, c.flavor, c.sku, c.region, c.currency, c.quantity,
           coalesce(known.anchor_at, start.at), greatest(known.anchor_at, known.ended_at, start.at)
      FROM resources c JOIN cluster_lives life ON (life.project_id, life.id) = (c.project_id, c.id),
           LATERAL (SELECT date_trunc('second', coalesce(CAST(:since AS timestamptz), app_now()), 'UTC') AS at)
             AS start,
           LATERAL (SELECT min(anchor_at) AS anchor_at, max(ended_at) AS ended_at FROM usage_intervals
                     WHERE project_id = c.project_id AND resource_id = c.id) AS known
     WHERE c.project_id = :project_id AND c.id = :cluster_id
       AND (NOT life.reserved OR life.unreserved_at IS NOT NULL)
    ON CONFLICT (resource_id) WHERE ended_at IS NULL DO NOTHING
    """
)
_OPEN_RESERVED = sa.text(
    """
    INSERT INTO usage_intervals
           (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at, started_at)
    SELECT :id, project_id, id, flavor, sku, region, currency, quantity, :since, :since
      FROM resources WHERE project_id = :project_id AND id = :reservation_id
    ON CONFLICT (resource_id) WHERE ended_at IS NULL DO NOTHING
    """
)
_CLOSE_RESERVED = sa.text(
    """
    UPDATE usage_intervals SET ended_at = :until
     WHERE project_id = :project_id AND resource_id = :reservation_id AND ended_at IS NULL
    """
)
_OPEN_STORED = sa.text(
    """
    INSERT INTO usage_intervals
           (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at, started_at)
    SELECT :id, r.project_id, r.id, r.sku, r.sku, r.region, r.currency, r.quantity,
           coalesce((SELECT min(anchor_at) FROM usage_intervals
                      WHERE project_id = r.project_id AND resource_id = r.id), start.at),
           start.at
      FROM resources r,
           LATERAL (SELECT greatest(date_trunc('second', app_now(), 'UTC'),
                                    (SELECT max(ended_at) FROM usage_intervals
                                      WHERE project_id = r.project_id AND resource_id = r.id)) AS at) AS start
     WHERE r.project_id = :project_id AND r.id = :resource_id
    ON CONFLICT (resource_id) WHERE ended_at IS NULL DO NOTHING
    """
)
_CLOSE_STORED = sa.text(
    """
    UPDATE usage_intervals SET ended_at = greatest(started_at, date_trunc('second', app_now(), 'UTC'))
     WHERE project_id = :project_id AND resource_id = :resource_id AND ended_at IS NULL
    """
)
# A cluster in use whose reservation is over, but was not ended by a worker yet, has no interval for the time since.
_CLOSE = sa.text(
    """
    WITH ending AS (
      SELECT c.*, life.unreserved_at, life.ready_at, date_trunc('second', coalesce(
               life.delete_requested_at,
               CASE WHEN life.state IN ('suspending', 'rebuilding', 'resizing') THEN life.state_entered_at END,
               app_now()), 'UTC') AS at
        FROM resources c JOIN cluster_lives life ON (life.project_id, life.id) = (c.project_id, c.id)
       WHERE c.project_id = :project_id AND c.id = :cluster_id
    ), late AS (
      INSERT INTO usage_intervals
             (id, project_id, resource_id, flavor, sku, region, currency, quantity, anchor_at, started_at, ended_at)
      SELECT :id, e.project_id, e.id, e.flavor, e.sku, e.region, e.currency, e.quantity,
             coalesce((SELECT min(anchor_at) FROM usage_intervals
                        WHERE project_id = e.project_id AND resource_id = e.id), e.unreserved_at),
             e.unreserved_at, e.at
        FROM ending e
       WHERE :in_use AND e.unreserved_at < e.at
         AND NOT EXISTS (SELECT FROM usage_intervals
                          WHERE project_id = e.project_id AND resource_id = e.id
                            AND (ended_at IS NULL OR ended_at > e.unreserved_at))
    )
    UPDATE usage_intervals u SET ended_at = CASE WHEN e.ready_at IS NULL THEN u.started_at
                                                 ELSE greatest(u.started_at, e.at) END
      FROM ending e
     WHERE u.project_id = e.project_id AND u.resource_id = e.id
       AND (u.ended_at IS NULL OR e.ready_at IS NULL AND u.ended_at > u.started_at)
    """
)
_END_BUILD = sa.text(
    """
    UPDATE usage_intervals SET ended_at = greatest(started_at, date_trunc('second', CAST(:at AS timestamptz), 'UTC'))
     WHERE project_id = :project_id AND resource_id = :cluster_id AND ended_at IS NULL
    """
)


async def open_interval(
    connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, since: datetime | None = None
) -> None:
    """Start to bill the cluster as it is now: its flavor, machines, SKU, region and currency.

    It starts at `since`, or now, truncated to the second. The first interval's start anchors the minutes of all later
    ones. Open already, or of a reservation that is not over, which is billed itself: nothing happens.
    """
    parameters = {"id": new_id(), "project_id": project_id, "cluster_id": cluster_id, "since": since}
    await connection.execute(_OPEN, parameters)


async def close_interval(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Stop billing at the second of the delete, suspend, repair or resize request, or now.

    It never ends before the interval's start. The request's time counts, not this statement's: waiting for a lock costs
    no additional minute. Without an open interval nothing happens. A cluster that never became ready costs nothing: its
    intervals, with billing from the request, all end where they begin.
    """
    await connection.execute(_CLOSE, _closing(project_id, cluster_id, in_use=False))


async def end_build(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID, at: datetime) -> None:
    """End the open interval of a cluster that is still being built. Without one nothing happens."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "at": at}
    await connection.execute(_END_BUILD, values)


async def close_in_use(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """The same for a cluster that was in use: if its reservation is over, it is billed for the time since."""
    await connection.execute(_CLOSE, _closing(project_id, cluster_id, in_use=True))


def _closing(project_id: UUID, cluster_id: UUID, *, in_use: bool) -> dict[str, object]:
    return {"id": new_id(), "project_id": project_id, "cluster_id": cluster_id, "in_use": in_use}


async def open_reserved(
    connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID, since: datetime
) -> None:
    """Start to bill all machines of a reservation, whoever uses them."""
    values = {"id": new_id(), "project_id": project_id, "reservation_id": reservation_id, "since": since}
    await connection.execute(_OPEN_RESERVED, values)


async def close_reserved(
    connection: AsyncConnection, *, project_id: UUID, reservation_id: UUID, until: datetime
) -> None:
    """Stop billing a reservation."""
    values = {"project_id": project_id, "reservation_id": reservation_id, "until": until}
    await connection.execute(_CLOSE_RESERVED, values)


async def open_stored(connection: AsyncConnection, *, project_id: UUID, resource_id: UUID) -> None:
    """Start to bill a volume or snapshot for its present size, or an address. Open already: nothing happens."""
    values = {"id": new_id(), "project_id": project_id, "resource_id": resource_id}
    await connection.execute(_OPEN_STORED, values)


async def close_stored(connection: AsyncConnection, *, project_id: UUID, resource_id: UUID) -> None:
    """Stop billing a volume, snapshot or address. Without an open interval nothing happens."""
    await connection.execute(_CLOSE_STORED, {"project_id": project_id, "resource_id": resource_id})
