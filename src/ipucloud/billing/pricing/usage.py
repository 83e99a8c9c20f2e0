"""What clusters used so far, priced when somebody asks.

By the pure arithmetic of `charge` for one answer, by `SO_FAR` inside statements that list many clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.pricing.charge import (
    Charge,
    PriceBook,
    PriceKey,
    PriceMissingError,
    PriceVersion,
    UsageInterval,
    charge,
    cost,
)
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import NOT_CONFIGURED, NOT_FOUND, Problem
from ipucloud.kernel.money import Money

PAID = """
, paid AS MATERIALIZED (
  SELECT article.*, price.unit_price, price.valid_from, price.valid_to
    FROM (SELECT project_id, sku, region, currency FROM page
          UNION
          SELECT i.project_id, i.sku, i.region, i.currency FROM page
            JOIN usage_intervals AS i ON i.project_id = page.project_id AND i.cluster_id = page.id) AS article
   CROSS JOIN LATERAL prices_paid(article.project_id, article.sku, article.region, article.currency) AS price
)
"""
"""A CTE that follows `page`, for `SO_FAR` and `PRICE_NOW`: what its clusters' projects pay, once for all clusters."""

# ceil(seconds since the anchor / 60) is minutes.minutes_before(anchor, instant): all instants are whole seconds.
SO_FAR = """
LEFT JOIN LATERAL (
  SELECT min(u.started_at) AS started_at,
         bool_or(u.ended_at IS NULL) AS running,
         coalesce(sum(u.minutes), 0)::bigint AS minutes,
         CASE WHEN coalesce(sum(u.minutes), 0) = coalesce(sum(priced.minutes), 0)
              THEN coalesce(sum(priced.cost), 0) END AS cost
    FROM (
      SELECT i.sku, i.region, i.currency, i.quantity, i.anchor_at, i.started_at, i.ended_at, present.until,
             greatest(0, ceil(extract(epoch FROM present.until - i.anchor_at) / 60)
                         - ceil(extract(epoch FROM i.started_at - i.anchor_at) / 60)) AS minutes
        FROM usage_intervals AS i
       CROSS JOIN LATERAL (
         SELECT coalesce(i.ended_at, date_trunc('second', app_now(), 'UTC')) AS until) AS present
       WHERE i.project_id = page.project_id AND i.cluster_id = page.id
    ) AS u
    LEFT JOIN LATERAL (
      SELECT sum(slice.minutes) AS minutes, sum(slice.minutes * u.quantity * p.unit_price) AS cost
        FROM paid AS p
       CROSS JOIN LATERAL (
         SELECT greatest(0, ceil(extract(epoch FROM least(u.until, p.valid_to) - u.anchor_at) / 60)
                            - ceil(extract(epoch FROM greatest(u.started_at, p.valid_from) - u.anchor_at) / 60)
                ) AS minutes) AS slice
       WHERE p.project_id = page.project_id AND p.sku = u.sku AND p.region = u.region AND p.currency = u.currency
         AND p.valid_from < u.until AND p.valid_to > u.started_at
    ) AS priced ON true
) AS usage ON true
"""
"""A join that gives each cluster of `page` its `usage`: started_at, running, minutes, cost (unrounded); after `PAID`.

`cost` is NULL when a minute has no price, so that a gap in the prices is never shown as time for free. Each minute
takes the price of the account that pays for it, as in a close (`hour.RATED`). Equal to `charge.charge` up to the
present second.
"""

PRICE_NOW = """
LEFT JOIN LATERAL (
  SELECT price.unit_price * page.machines AS per_minute
    FROM paid AS price
   WHERE price.project_id = page.project_id AND price.sku = page.sku AND price.region = page.region
     AND price.currency = page.currency AND price.valid_from <= app_now() AND price.valid_to > app_now()
     AND page.deleted_at IS NULL
) AS price_now ON true
"""
"""A join that gives each living cluster of `page` its `price_now.per_minute`, of who pays now; after `PAID`."""


@dataclass(frozen=True, slots=True)
class UsageSlice:
    """Minutes of one size under one price, all started in [started_at, ended_at)."""

    started_at: datetime
    ended_at: datetime
    minutes: int
    machines: int
    sku: str
    unit_price: Money
    cost: Money


@dataclass(frozen=True, slots=True)
class ClusterUsage:
    """What one cluster used in [since, until): minutes and their exact cost, in time order by slice.

    `since` is None while nothing is billed yet; `running` says that it is billed now.
    """

    cluster_id: UUID
    name: str
    region: str
    flavor: str
    running: bool
    since: datetime | None
    until: datetime
    minutes: int
    cost: Money
    slices: tuple[UsageSlice, ...]


@dataclass(frozen=True, slots=True)
class ProjectUsage:
    """What a project's clusters used in [since, until), in one currency."""

    since: datetime
    until: datetime
    minutes: int
    cost: Money
    clusters: tuple[ClusterUsage, ...]


_FACTS = """
SELECT c.id AS cluster_id, c.name, c.region, c.flavor, c.currency, app_now() AS now,
       u.id AS interval_id, u.sku, u.quantity, u.anchor_at, u.started_at, u.ended_at,
       p.price_id, p.unit_price, p.valid_from, nullif(p.valid_to, 'infinity') AS valid_to
  FROM clusters AS c
  LEFT JOIN usage_intervals AS u ON u.project_id = c.project_id AND u.cluster_id = c.id
  LEFT JOIN LATERAL prices_paid(u.project_id, u.sku, u.region, u.currency) AS p
         ON p.valid_from < coalesce(u.ended_at, app_now()) AND p.valid_to > u.started_at
 WHERE c.project_id = :project_id
"""


class _Fact(NamedTuple):
    """A cluster, an interval of its use, and a price within that.

    A cluster never used is there without an interval, and one whose time has no price without a price: what is of these
    is NULL with `interval_id` and `price_id`, and is read only where they are not.
    """

    cluster_id: UUID
    name: str
    region: str
    flavor: str
    currency: str
    now: datetime
    interval_id: UUID | None
    sku: str
    quantity: int
    anchor_at: datetime
    started_at: datetime
    ended_at: datetime | None
    price_id: UUID | None
    unit_price: Decimal
    valid_from: datetime
    valid_to: datetime | None


class _Window(NamedTuple):
    since: datetime
    until: datetime


_CLUSTER_FACTS = Query(
    sa.text(clauses(_FACTS, "AND c.id = :cluster_id ORDER BY u.started_at, p.valid_from")),
    _Fact,
)
_PROJECT_FACTS = Query(
    sa.text(
        clauses(
            _FACTS,
            """AND u.currency = :currency AND u.started_at < CAST(:until AS timestamptz)
            AND (u.ended_at IS NULL OR u.ended_at > CAST(:since AS timestamptz))
            ORDER BY c.created_at, c.id, u.started_at, p.valid_from""",
        )
    ),
    _Fact,
)
_WINDOW = Query(
    sa.text(
        """
    SELECT date_trunc('second', coalesce(CAST(:since AS timestamptz), date_trunc('month', app_now(), 'UTC')), 'UTC')
               AS since,
           date_trunc('second', least(CAST(:until AS timestamptz), app_now()), 'UTC') AS until
        """
    ),
    _Window,
)


async def cluster_usage(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> ClusterUsage:
    """Everything the cluster used so far. Raises `Problem` not_found, or unavailable while a price is missing."""
    rows = await _CLUSTER_FACTS.all(connection, {"project_id": project_id, "cluster_id": cluster_id})
    if not rows:
        raise Problem(NOT_FOUND, "There is no such object, or this token may not know it.")
    return _usage(rows, until=rows[0].now, since=None)


async def project_usage(
    connection: Statements,
    *,
    project_id: UUID,
    currency: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> ProjectUsage:
    """What the project's clusters used in a period, by cluster; without bounds the running UTC month up to now.

    A minute belongs to the period in which it starts. Raises `Problem` unavailable while a price is missing.
    """
    window = await _WINDOW.one(connection, {"since": since, "until": until})
    parameters = {"project_id": project_id, "currency": currency, "since": window.since, "until": window.until}
    by_cluster: dict[UUID, list[_Fact]] = {}
    for row in await _PROJECT_FACTS.all(connection, parameters):
        by_cluster.setdefault(row.cluster_id, []).append(row)
    used = tuple(_usage(rows, until=window.until, since=window.since) for rows in by_cluster.values())
    total = sum((cluster.cost for cluster in used), start=Money.of(0, currency))
    return ProjectUsage(window.since, window.until, sum(cluster.minutes for cluster in used), total, used)


def _usage(rows: Sequence[_Fact], *, until: datetime, since: datetime | None) -> ClusterUsage:
    """One cluster's figures from its facts: a row for each pair of an interval and a price version, in time order."""
    cluster = rows[0]
    intervals = {row.interval_id: _interval(row) for row in rows if row.interval_id is not None}
    charges = _charges(intervals.values(), _book(rows), since=since, until=until)
    first = min((usage.started_at for usage in intervals.values()), default=None)
    return ClusterUsage(
        cluster_id=cluster.cluster_id,
        name=cluster.name,
        region=cluster.region,
        flavor=cluster.flavor,
        running=any(usage.ended_at is None for usage in intervals.values()),
        since=first if since is None or first is None else max(first, since),
        until=until,
        minutes=sum(part.minutes for part in charges),
        cost=Money.of(cost(charges), cluster.currency),
        slices=tuple(_slice(part) for part in charges),
    )


def _charges(
    intervals: Iterable[UsageInterval], book: PriceBook, *, since: datetime | None, until: datetime
) -> list[Charge]:
    cuts = () if since is None else (since,)
    try:
        charges = charge(intervals, book, until=until, cuts=cuts)
    except PriceMissingError as error:
        raise Problem(
            NOT_CONFIGURED,
            "A part of this time has no price. The minutes are recorded; the operator has to add the price that was in "
            "force then.",
        ) from error
    return [part for part in charges if since is None or part.started_at >= since]


def _interval(row: _Fact) -> UsageInterval:
    key = PriceKey(row.sku, row.region, row.currency)
    return UsageInterval(row.anchor_at, key, row.quantity, row.started_at, row.ended_at)


def _book(rows: Sequence[_Fact]) -> PriceBook:
    """What was paid and when; a version that came back with another payer is there for each of its spans."""
    versions = {
        (row.price_id, row.valid_from): PriceVersion(
            id=row.price_id,
            key=PriceKey(row.sku, row.region, row.currency),
            unit_price=row.unit_price,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
        )
        for row in rows
        if row.price_id is not None
    }
    return PriceBook(versions.values())


def _slice(part: Charge) -> UsageSlice:
    key = part.price.key
    return UsageSlice(
        started_at=part.started_at,
        ended_at=part.ended_at,
        minutes=part.minutes,
        machines=part.quantity,
        sku=key.sku,
        unit_price=Money.of(part.unit_price, key.currency),
        cost=Money.of(part.cost, key.currency),
    )
