"""Clusters' usage so far, priced on request: in slices, or by `SO_FAR` in statements that list clusters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.contract.charges import ProjectUsageOut, UsageOut, UsageSliceOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import NOT_CONFIGURED, Problem, not_found
from ipucloud.kernel.money import Money

PAID = """
, paid AS MATERIALIZED (
  SELECT article.*, price.unit_price, price.valid_from, price.valid_to
    FROM (SELECT project_id, sku, region, currency FROM page
          UNION
          SELECT i.project_id, i.sku, i.region, i.currency FROM page
            JOIN usage_intervals AS i ON i.project_id = page.project_id AND i.resource_id = page.id) AS article
   CROSS JOIN LATERAL prices_paid(article.project_id, article.sku, article.region, article.currency) AS price
)
"""
"""A CTE after `page`, for `SO_FAR` and `PRICE_NOW`: prices of the clusters' projects, once for all clusters."""

SO_FAR = """
LEFT JOIN LATERAL (
  SELECT min(u.started_at) AS started_at,
         bool_or(u.ended_at IS NULL) AS running,
         coalesce(sum(u.minutes), 0)::bigint AS minutes,
         coalesce(sum(u.minutes) FILTER (WHERE u.credited > 0), 0)::bigint AS credited_minutes,
         coalesce(max(u.credited) FILTER (WHERE u.ended_at IS NULL), 0) AS credited_machines,
         CASE WHEN coalesce(sum(u.minutes), 0) = coalesce(sum(priced.minutes), 0)
              THEN coalesce(sum(priced.cost), 0) END AS cost
    FROM (
      SELECT i.*, present.until, minutes_between(i.anchor_at, i.started_at, present.until) AS minutes
        FROM usage_intervals AS i
       CROSS JOIN LATERAL (
         SELECT coalesce(i.ended_at, date_trunc('second', app_now(), 'UTC')) AS until) AS present
       WHERE i.project_id = page.project_id AND i.resource_id = page.id
      OFFSET 0
    ) AS u
    LEFT JOIN LATERAL (
      SELECT sum(part.minutes) AS minutes, sum(part.cost) AS cost
        FROM paid AS p
       CROSS JOIN LATERAL priced_minutes(u.anchor_at, u.started_at, u.until, p.valid_from, p.valid_to,
                                         u.quantity - u.credited, p.unit_price) AS part
       WHERE p.project_id = page.project_id AND p.sku = u.sku AND p.region = u.region AND p.currency = u.currency
         AND p.valid_from < u.until AND p.valid_to > u.started_at
    ) AS priced ON true
) AS usage ON true
"""
"""A join that gives each cluster of `page` its `usage`; after `PAID`.

started_at, running, minutes, credited_minutes (with any machine credited), credited_machines (now), cost (unrounded).

`cost` is NULL if a minute has no price, so that missing prices are never shown as free. Each minute
has the price of the account that pays for it, as in a close (`hour.RATED`). OFFSET 0 has `until` evaluated once.
"""

PRICE_NOW = """
LEFT JOIN LATERAL (
  SELECT price.unit_price, price.unit_price * page.machines AS per_minute
    FROM paid AS price
   WHERE price.project_id = page.project_id AND price.sku = page.sku AND price.region = page.region
     AND price.currency = page.currency AND price.valid_from <= app_now() AND price.valid_to > app_now()
     AND page.deleted_at IS NULL
) AS price_now ON true
"""
"""A join that gives each undeleted cluster of `page` its `price_now`, of the current payer; after `PAID`.

per_minute for the whole cluster, and unit_price for one of its machines."""


_PARTS = """
SELECT c.id AS resource_id, c.name, c.region, coalesce(c.flavor, c.sku) AS flavor, c.currency, period.until,
       used.since, used.running, part.started_at, part.ended_at, part.minutes, used.flavor AS used_flavor,
       used.quantity AS machines, used.credited, used.sku, part.unit_price, part.cost,
       used.minutes > coalesce(sum(part.minutes) OVER (PARTITION BY used.id), 0) AS unpriced
  FROM (SELECT date_trunc('second', least(CAST(:until AS timestamptz), app_now()), 'UTC') AS until) AS period
 CROSS JOIN resources AS c
  LEFT JOIN LATERAL (
    SELECT i.*, i.ended_at IS NULL AS running, bounds.since, bounds.until,
           minutes_between(i.anchor_at, bounds.since, bounds.until) AS minutes
      FROM usage_intervals AS i
     CROSS JOIN LATERAL (
       SELECT greatest(i.started_at, CAST(:since AS timestamptz)) AS since, least(i.ended_at, period.until) AS until
     ) AS bounds
     WHERE i.project_id = c.project_id AND i.resource_id = c.id
  ) AS used ON true
  LEFT JOIN LATERAL (
    SELECT priced.*, p.unit_price
      FROM prices_paid(used.project_id, used.sku, used.region, used.currency) AS p
     CROSS JOIN LATERAL priced_minutes(used.anchor_at, used.since, used.until, p.valid_from, p.valid_to,
                                       used.quantity - used.credited, p.unit_price) AS priced
     WHERE p.valid_from < used.until AND p.valid_to > used.since AND priced.minutes > 0
  ) AS part ON true
 WHERE c.project_id = :project_id AND c.quantity IS NOT NULL
"""


class _Part(NamedTuple):
    """A cluster, and minutes of an interval of its use under one price.

    `unpriced`: the interval has minutes without a price. A cluster never used is there without an interval, and an
    interval without priced minutes without a part: `since` and `running` are NULL then, and all from `started_at` to
    `cost`.
    """

    resource_id: UUID
    name: str
    region: str
    flavor: str
    currency: str
    until: datetime
    since: datetime | None
    running: bool | None
    started_at: datetime
    ended_at: datetime
    minutes: int | None
    used_flavor: str
    machines: int
    credited: int
    sku: str
    unit_price: Decimal
    cost: Decimal
    unpriced: bool | None


class _Window(NamedTuple):
    since: datetime
    until: datetime


_OF_CLUSTER = Query(
    clauses(_PARTS, "AND c.id = :cluster_id ORDER BY used.started_at, part.started_at"),
    _Part,
)
_OF_CLUSTER_SINCE = Query(
    clauses(_PARTS, "AND c.id = :cluster_id AND used.since < used.until ORDER BY used.started_at, part.started_at"),
    _Part,
)
_OF_PROJECT = Query(
    clauses(
        _PARTS,
        """AND used.currency = :currency AND used.since < used.until
        ORDER BY c.created_at, c.id, used.started_at, part.started_at""",
    ),
    _Part,
)
_WINDOW = Query(
    """
    SELECT date_trunc('second', coalesce(CAST(:since AS timestamptz), date_trunc('month', app_now(), 'UTC')), 'UTC')
               AS since,
           date_trunc('second', least(CAST(:until AS timestamptz), app_now()), 'UTC') AS until
        """,
    _Window,
)


async def cluster_usage(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> UsageOut:
    """Everything the cluster used so far. Raises `Problem` not_found, or not_configured while a price is missing."""
    parameters = {"project_id": project_id, "cluster_id": cluster_id, "since": None, "until": None}
    parts = await _OF_CLUSTER.all(connection, parameters)
    if not parts:
        raise not_found()
    return _usage(parts)


async def cost_since(
    connection: Statements, *, project_id: UUID, cluster_id: UUID, currency: str, since: datetime
) -> Money | None:
    """What the cluster cost in the minutes that began at `since` or later; None while one of them has no price."""
    parameters = {"project_id": project_id, "cluster_id": cluster_id, "since": since, "until": None}
    parts = await _OF_CLUSTER_SINCE.all(connection, parameters)
    if any(part.unpriced for part in parts):
        return None
    costs = (Money.of(part.cost, currency) for part in parts if part.minutes)
    return sum(costs, start=Money.of(0, currency))


async def project_usage(
    connection: Statements,
    *,
    project_id: UUID,
    currency: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> ProjectUsageOut:
    """The usage of the project's clusters in a period, by cluster; default: the current UTC month up to now.

    A minute belongs to the period in which it starts. Raises `Problem` not_configured if a price is missing.
    """
    window = await _WINDOW.one(connection, {"since": since, "until": until})
    parameters = {"project_id": project_id, "currency": currency, "since": window.since, "until": window.until}
    by_cluster: dict[UUID, list[_Part]] = {}
    for part in await _OF_PROJECT.all(connection, parameters):
        by_cluster.setdefault(part.resource_id, []).append(part)
    used = [_usage(parts) for parts in by_cluster.values()]
    total = sum((cluster.cost for cluster in used), start=Money.of(0, currency))
    return ProjectUsageOut(
        since=window.since,
        until=window.until,
        minutes=sum(cluster.minutes for cluster in used),
        credited_minutes=sum(cluster.credited_minutes for cluster in used),
        cost=total,
        clusters=used,
    )


def _usage(parts: Sequence[_Part]) -> UsageOut:
    """One cluster's figures from all its parts, which are in time order."""
    if any(part.unpriced for part in parts):
        raise Problem(
            NOT_CONFIGURED,
            "A part of this time has no price. The minutes are recorded; the operator has to add the price that was in "
            "force then.",
        )
    cluster = parts[0]
    slices = [_slice(part, part.minutes) for part in parts if part.minutes]
    return UsageOut(
        cluster_id=cluster.resource_id,
        name=cluster.name,
        region=cluster.region,
        flavor=cluster.flavor,
        running=any(part.running for part in parts),
        since=cluster.since,
        until=cluster.until,
        minutes=sum(each.minutes for each in slices),
        credited_minutes=sum(each.minutes for each in slices if each.credited_machines),
        cost=sum((each.cost for each in slices), start=Money.of(0, cluster.currency)),
        slices=slices,
    )


def _slice(part: _Part, minutes: int) -> UsageSliceOut:
    return UsageSliceOut(
        started_at=part.started_at,
        ended_at=part.ended_at,
        minutes=minutes,
        flavor=part.used_flavor,
        machines=part.machines,
        credited_machines=part.credited,
        sku=part.sku,
        unit_price=Money.of(part.unit_price, part.currency),
        cost=Money.of(part.cost, part.currency),
    )
