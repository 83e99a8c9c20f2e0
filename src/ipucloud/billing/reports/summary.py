"""A month's cost for a project or an account: accrued, posted and expected, by cluster, flavor, SKU and tag.

All figures of the month are from one statement. The month before, to compare with, is from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, TypeVar
from uuid import UUID

from ipucloud.billing.reports.outlook import OUTLOOK, outlook
from ipucloud.contract.reports import (
    ClusterSpendingOut,
    FlavorSpendingOut,
    PreviousOut,
    SkuSpendingOut,
    SpendingOut,
    TagSpendingOut,
)
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money, total

MAX_CLUSTERS = 1000
"""Clusters that are listed; as many flavors, SKUs and tags."""
Part = TypeVar("Part")

# A cluster with several tags is in the sum of each of them.
_PARTS = """
, part AS (
  SELECT slice.resource_id, live.flavor, live.sku, max(live.begins) AS since, sum(slice.past) AS minutes,
         sum(slice.minutes) AS expected, sum(slice.accrued) AS accrued, sum(slice.cost) AS forecast
    FROM slice JOIN live USING (interval_id)
   WHERE slice.account_id IN (SELECT account_id FROM payer) AND slice.currency = :currency
   GROUP BY slice.resource_id, live.flavor, live.sku
), share AS (
  -- A cluster is called by the last of its flavors in the month.
  SELECT 'cluster' AS kind, resource_id, (array_agg(flavor ORDER BY expected > 0 DESC, since DESC))[1] AS flavor,
         CAST(NULL AS text) AS name, CAST(NULL AS text) AS value, sum(minutes)::bigint AS minutes,
         sum(accrued) AS accrued, sum(forecast) AS forecast
    FROM part GROUP BY resource_id
   UNION ALL
  SELECT 'flavor', NULL, NULL, flavor, NULL, sum(minutes)::bigint, sum(accrued), sum(forecast)
    FROM part WHERE expected > 0 GROUP BY flavor
   UNION ALL
  SELECT 'sku', NULL, NULL, sku, NULL, sum(minutes)::bigint, sum(accrued), sum(forecast) FROM part GROUP BY sku
   UNION ALL
  SELECT 'tag', NULL, NULL, tag.key, tag.value, sum(minutes)::bigint, sum(accrued), sum(forecast)
    FROM part JOIN resources c ON c.id = part.resource_id AND c.project_id IN (SELECT project_id FROM shown)
   CROSS JOIN LATERAL jsonb_each_text(c.tags) AS tag
   GROUP BY tag.key, tag.value
)
"""
# `posted` is by the time of use, as all the rest: what was corrected of the month before is not this month's use.
_SUMMARY = """
, posted AS (
  SELECT c.resource_id, sum(c.cost) AS posted
    FROM usage_charges c, bounds
   WHERE c.account_id IN (SELECT account_id FROM payer) AND c.project_id IN (SELECT project_id FROM chosen)
     AND c.hour >= bounds.begins AND c.hour < bounds.ends AND c.currency = :currency
   GROUP BY c.resource_id
), rate AS (
  SELECT live.resource_id, sum(live.quantity * paid.unit_price) * 60 AS per_hour
    FROM live
    JOIN paid ON (paid.project_id, paid.sku, paid.region, paid.currency)
               = (live.project_id, live.sku, live.region, live.currency)
             AND paid.valid_from <= live.now AND paid.valid_to > live.now
   WHERE live.begins <= live.now AND live.ends > live.now AND live.currency = :currency
     AND paid.account_id IN (SELECT account_id FROM payer)
   GROUP BY live.resource_id
), spent AS (
  SELECT resource_id, c.project_id, c.name, coalesce(used.flavor, c.flavor, c.sku) AS flavor, c.region,
         CASE WHEN c.project_id IN (SELECT project_id FROM shown)
              THEN CASE WHEN c.kind = 'cluster' THEN life.state WHEN c.deleted_at IS NOT NULL THEN 'deleted'
                        WHEN c.kind = 'reservation' THEN 'reserved' ELSE 'stored' END END AS state,
         coalesce(used.minutes, 0) AS minutes, coalesce(used.accrued, 0) AS accrued,
         coalesce(posted.posted, 0) AS posted, coalesce(rate.per_hour, 0) AS per_hour,
         coalesce(used.forecast, 0) AS forecast
    FROM (SELECT resource_id, flavor, minutes, accrued, forecast FROM share WHERE kind = 'cluster') AS used
    FULL JOIN posted USING (resource_id) LEFT JOIN rate USING (resource_id)
    JOIN resources c ON c.id = resource_id
    LEFT JOIN cluster_lives life ON (life.project_id, life.id) = (c.project_id, c.id)
), summed AS (
  SELECT count(*) AS clusters, coalesce(sum(accrued), 0) AS accrued, coalesce(sum(posted), 0) AS posted,
         coalesce(sum(per_hour), 0) AS per_hour, coalesce(sum(forecast), 0) AS forecast
    FROM spent
), listed AS (
  SELECT 'cluster' AS kind, resource_id, project_id, name, NULL AS value, flavor, region, state, minutes, accrued,
         per_hour, forecast
    FROM spent
   UNION ALL
  SELECT kind, NULL, NULL, name, value, NULL, NULL, NULL, minutes, accrued, NULL, forecast
    FROM share WHERE kind <> 'cluster'
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY kind ORDER BY accrued DESC, resource_id, name, value) AS place FROM listed
)
SELECT bounds.now AS observed_at,
       (SELECT max(hour) + interval '1 hour' FROM hour_closes WHERE closed_at IS NOT NULL) AS posted_until,
       coalesce((SELECT sum(minutes) FROM unpriced), 0)::bigint AS unpriced_minutes,
       summed.clusters AS all_clusters, summed.accrued AS all_accrued, summed.posted AS all_posted,
       summed.per_hour AS all_per_hour, summed.forecast AS all_forecast,
       part.kind, part.resource_id, part.project_id, part.name, part.value, part.flavor, part.region, part.state,
       part.minutes, part.accrued, part.per_hour, part.forecast
  FROM bounds CROSS JOIN summed LEFT JOIN ranked AS part ON part.place <= :parts
 ORDER BY part.kind, part.place
"""
_BEFORE = clauses(
    outlook("CAST(:since AS timestamptz)", "CAST(:until AS timestamptz)", "CAST(:cut AS timestamptz)"),
    _PARTS,
    "SELECT kind, resource_id, name, value, accrued, forecast AS whole FROM share",
)
# `shown`: whose clusters' present state and tags may be seen. A project that went to another payer is none of them.
_PROJECT = """
WITH chosen AS (SELECT CAST(:owner AS uuid) AS project_id), shown AS (SELECT project_id FROM chosen),
payer AS (SELECT DISTINCT account_id FROM project_accounts WHERE project_id = :owner),
"""
_ACCOUNT = """
WITH payer AS (SELECT CAST(:owner AS uuid) AS account_id),
chosen AS (SELECT DISTINCT project_id FROM project_accounts WHERE account_id = :owner),
shown AS (SELECT project_id FROM projects_paid_by(:owner)),
"""


class _Month(NamedTuple):
    since: datetime
    until: datetime


class _Row(NamedTuple):
    """The whole month, and one part of it; in a month without usage one row, whose `kind` is NULL."""

    observed_at: datetime
    posted_until: datetime | None
    unpriced_minutes: int
    all_clusters: int
    all_accrued: Decimal
    all_posted: Decimal
    all_per_hour: Decimal
    all_forecast: Decimal
    kind: str | None
    resource_id: UUID
    project_id: UUID
    name: str
    value: str
    flavor: str
    region: str
    state: str | None
    minutes: int
    accrued: Decimal
    per_hour: Decimal
    forecast: Decimal


class _Before(NamedTuple):
    """The cost of a part in the month before: until the same time of that month, and until its end."""

    kind: str
    resource_id: UUID | None
    name: str | None
    value: str | None
    accrued: Decimal
    whole: Decimal


class _Comparison:
    """The month before, beside the parts of this one."""

    def __init__(self, since: datetime, cut: datetime, rows: Iterable[_Before], currency: str) -> None:
        self._currency = currency
        listed = [*rows]
        self._accrued = {(row.kind, row.resource_id, row.name, row.value): row.accrued for row in listed}
        clusters = [row for row in listed if row.kind == "cluster"]
        self.month = PreviousOut(
            month=f"{since:%Y-%m}",
            until=cut,
            accrued=Money.of(total(row.accrued for row in clusters), currency),
            total=Money.of(total(row.whole for row in clusters), currency),
        )

    def of(self, kind: str, resource: UUID | None = None, name: str | None = None, value: str | None = None) -> Money:
        return Money.of(self._accrued.get((kind, resource, name, value), 0), self._currency)


class _Queries(NamedTuple):
    """The statements of one kind of owner."""

    month: Query[_Row]
    before: Query[_Before]


_OF_PROJECT, _OF_ACCOUNT = (
    _Queries(Query(clauses(of, OUTLOOK, _PARTS, _SUMMARY), _Row), Query(clauses(of, _BEFORE), _Before))
    for of in (_PROJECT, _ACCOUNT)
)
_MONTH = Query(
    """
    SELECT month.begins AT TIME ZONE 'UTC' AS since, (month.begins + interval '1 month') AT TIME ZONE 'UTC' AS until
      FROM (SELECT date_trunc('month', coalesce(CAST(:month AS timestamp), app_now() AT TIME ZONE 'UTC')) AS begins)
           AS month
    """,
    _Month,
)


async def project_spending(
    connection: Statements, project_id: UUID, *, month: date | None = None, currency: str
) -> SpendingOut:
    """Cost of the project's clusters in the month of a day, whichever account pays; default: the current month."""
    return await _spending(connection, _OF_PROJECT, project_id, month, currency)


async def account_spending(
    connection: Statements, account_id: UUID, *, month: date | None = None, currency: str
) -> SpendingOut:
    """The same of all projects of the account, for the time that it pays for them."""
    return await _spending(connection, _OF_ACCOUNT, account_id, month, currency)


async def _spending(
    connection: Statements, queries: _Queries, owner: UUID, month: date | None, currency: str
) -> SpendingOut:
    since, until = await _MONTH.one(connection, {"month": month})
    parameters = {"owner": owner, "currency": currency, "since": since, "until": until}
    rows = await queries.month.all(connection, parameters | {"parts": MAX_CLUSTERS})
    whole = rows[0]
    begins, cut = _same_time_before(since, until, whole.observed_at)
    rows_before = await queries.before.all(connection, parameters | {"since": begins, "until": since, "cut": cut})
    before = _Comparison(begins, cut, rows_before, currency)

    def parts(kind: str, part_of: Callable[[_Row, _Comparison, str], Part]) -> list[Part]:
        return [part_of(row, before, currency) for row in rows if row.kind == kind]

    accrued, posted = Money.of(whole.all_accrued, currency), Money.of(whole.all_posted, currency)
    forecast = Money.of(whole.all_forecast, currency)
    return SpendingOut(
        month=f"{since:%Y-%m}",
        since=since,
        until=until,
        observed_at=whole.observed_at,
        posted_until=whole.posted_until,
        accrued=accrued,
        posted=posted,
        unposted=accrued - posted,
        per_hour=Money.of(whole.all_per_hour, currency),
        projected=forecast - accrued,
        forecast=forecast,
        previous=before.month,
        unpriced_minutes=whole.unpriced_minutes,
        cluster_count=whole.all_clusters,
        clusters=parts("cluster", _cluster),
        flavors=parts("flavor", _flavor),
        skus=parts("sku", _sku),
        tags=parts("tag", _tag),
    )


def _same_time_before(since: datetime, until: datetime, now: datetime) -> tuple[datetime, datetime]:
    """The start of the month before, and the time in it that is as far from it as now is from this month's.

    Its end, if this month is over, or it has not as many days.
    """
    begins = (since - timedelta(days=1)).replace(day=1)
    return begins, since if now >= until else min(since, begins + (now - since))


def _cluster(row: _Row, before: _Comparison, currency: str) -> ClusterSpendingOut:
    return ClusterSpendingOut(
        cluster_id=row.resource_id,
        project_id=row.project_id,
        name=row.name,
        flavor=row.flavor,
        region=row.region,
        state=row.state,
        minutes=row.minutes,
        accrued=Money.of(row.accrued, currency),
        per_hour=Money.of(row.per_hour, currency),
        forecast=Money.of(row.forecast, currency),
        previous=before.of("cluster", row.resource_id),
    )


def _flavor(row: _Row, before: _Comparison, currency: str) -> FlavorSpendingOut:
    return FlavorSpendingOut(
        flavor=row.name,
        accrued=Money.of(row.accrued, currency),
        forecast=Money.of(row.forecast, currency),
        previous=before.of("flavor", name=row.name),
    )


def _sku(row: _Row, before: _Comparison, currency: str) -> SkuSpendingOut:
    return SkuSpendingOut(
        sku=row.name,
        accrued=Money.of(row.accrued, currency),
        forecast=Money.of(row.forecast, currency),
        previous=before.of("sku", name=row.name),
    )


def _tag(row: _Row, before: _Comparison, currency: str) -> TagSpendingOut:
    return TagSpendingOut(
        key=row.name,
        value=row.value,
        accrued=Money.of(row.accrued, currency),
        forecast=Money.of(row.forecast, currency),
        previous=before.of("tag", name=row.name, value=row.value),
    )
