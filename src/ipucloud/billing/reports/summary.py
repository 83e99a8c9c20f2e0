"""A month's cost for a project or an account: accrued, posted, and expected at its end, by cluster; one statement."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.reports.outlook import OUTLOOK
from ipucloud.contract.reports import ClusterSpendingOut, SpendingOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

MAX_CLUSTERS = 1000
# `posted` is by the time of use, as all the rest: what was corrected of the month before is not this month's use.
_SUMMARY = """
, posted AS (
  SELECT c.cluster_id, sum(c.cost) AS posted
    FROM usage_charges c, bounds
   WHERE c.account_id IN (SELECT account_id FROM payer) AND c.project_id IN (SELECT project_id FROM chosen)
     AND c.hour >= bounds.begins AND c.hour < bounds.ends AND c.currency = :currency
   GROUP BY c.cluster_id
), used AS (
  SELECT cluster_id, sum(accrued_minutes) AS minutes, sum(accrued) AS accrued, sum(cost) AS forecast
    FROM outlook WHERE account_id IN (SELECT account_id FROM payer) AND currency = :currency
   GROUP BY cluster_id
), rate AS (
  SELECT live.cluster_id, sum(live.quantity * paid.unit_price) * 60 AS per_hour
    FROM live
    JOIN paid ON (paid.project_id, paid.sku, paid.region, paid.currency)
               = (live.project_id, live.sku, live.region, live.currency)
             AND paid.valid_from <= live.now AND paid.valid_to > live.now
   WHERE live.begins <= live.now AND live.ends > live.now AND live.currency = :currency
     AND paid.account_id IN (SELECT account_id FROM payer)
   GROUP BY live.cluster_id
), spent AS (
  SELECT cluster_id, c.project_id, c.name, c.flavor, c.region, c.state,
         coalesce(used.minutes, 0)::bigint AS minutes, coalesce(used.accrued, 0) AS accrued,
         coalesce(posted.posted, 0) AS posted, coalesce(rate.per_hour, 0) AS per_hour,
         coalesce(used.forecast, 0) AS forecast
    FROM used FULL JOIN posted USING (cluster_id) LEFT JOIN rate USING (cluster_id)
    JOIN billed_clusters c ON c.id = cluster_id
), summed AS (
  SELECT count(*) AS clusters, coalesce(sum(accrued), 0) AS accrued, coalesce(sum(posted), 0) AS posted,
         coalesce(sum(per_hour), 0) AS per_hour, coalesce(sum(forecast), 0) AS forecast
    FROM spent
)
SELECT bounds.now AS observed_at,
       (SELECT max(hour) + interval '1 hour' FROM hour_closes WHERE closed_at IS NOT NULL) AS posted_until,
       coalesce((SELECT sum(minutes) FROM unpriced), 0)::bigint AS unpriced_minutes,
       summed.clusters AS all_clusters, summed.accrued AS all_accrued, summed.posted AS all_posted,
       summed.per_hour AS all_per_hour, summed.forecast AS all_forecast,
       spent.cluster_id, spent.project_id, spent.name, spent.flavor, spent.region, spent.state, spent.minutes,
       spent.accrued, spent.per_hour, spent.forecast
  FROM bounds CROSS JOIN summed LEFT JOIN spent ON true
 ORDER BY spent.accrued DESC, spent.cluster_id
 LIMIT :clusters
"""
_PROJECT = """
WITH chosen AS (SELECT CAST(:owner AS uuid) AS project_id),
payer AS (SELECT DISTINCT account_id FROM project_accounts WHERE project_id = :owner),
"""
_ACCOUNT = """
WITH payer AS (SELECT CAST(:owner AS uuid) AS account_id),
chosen AS (SELECT DISTINCT project_id FROM project_accounts WHERE account_id = :owner),
"""


class _Month(NamedTuple):
    since: datetime
    until: datetime


class _Row(NamedTuple):
    """The whole month, and one cluster of it; in a month without usage one row, whose cluster is NULL."""

    observed_at: datetime
    posted_until: datetime | None
    unpriced_minutes: int
    all_clusters: int
    all_accrued: Decimal
    all_posted: Decimal
    all_per_hour: Decimal
    all_forecast: Decimal
    cluster_id: UUID | None
    project_id: UUID
    name: str
    flavor: str
    region: str
    state: str
    minutes: int
    accrued: Decimal
    per_hour: Decimal
    forecast: Decimal


_OF_PROJECT, _OF_ACCOUNT = (Query(clauses(of, OUTLOOK, _SUMMARY), _Row) for of in (_PROJECT, _ACCOUNT))
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
    connection: Statements, query: Query[_Row], owner: UUID, month: date | None, currency: str
) -> SpendingOut:
    since, until = await _MONTH.one(connection, {"month": month})
    parameters = {"owner": owner, "currency": currency, "since": since, "until": until, "clusters": MAX_CLUSTERS}
    rows = await query.all(connection, parameters)
    whole = rows[0]
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
        unpriced_minutes=whole.unpriced_minutes,
        cluster_count=whole.all_clusters,
        clusters=[_cluster(row, row.cluster_id, currency) for row in rows if row.cluster_id is not None],
    )


def _cluster(row: _Row, cluster_id: UUID, currency: str) -> ClusterSpendingOut:
    return ClusterSpendingOut(
        cluster_id=cluster_id,
        project_id=row.project_id,
        name=row.name,
        flavor=row.flavor,
        region=row.region,
        state=row.state,
        minutes=row.minutes,
        accrued=Money.of(row.accrued, currency),
        per_hour=Money.of(row.per_hour, currency),
        forecast=Money.of(row.forecast, currency),
    )
