"""The current month's forecast of a project or an account: posted, not posted yet, and still to come."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.reports.outlook import OUTLOOK
from ipucloud.contract.reports import ForecastOut
from ipucloud.db.documents import clauses
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

# `posted` is by the time of use, as all the rest: what was corrected of the month before is not this month's use.
_FORECAST = """
, posted AS (
  SELECT coalesce(sum(c.cost), 0) AS cost, max(c.hour) + interval '1 hour' AS until
    FROM usage_charges c, bounds
   WHERE c.account_id IN (SELECT account_id FROM payer) AND c.project_id IN (SELECT project_id FROM chosen)
     AND c.hour >= bounds.begins AND c.hour < bounds.ends AND c.currency = :currency
), summed AS (
  SELECT coalesce(sum(so_far), 0) AS so_far, coalesce(sum(cost), 0) AS cost
    FROM outlook WHERE account_id IN (SELECT account_id FROM payer) AND currency = :currency
)
SELECT bounds.begins AS since, bounds.ends AS until, bounds.now, posted.cost AS posted, summed.so_far, summed.cost,
       coalesce((SELECT sum(minutes) FROM unpriced), 0)::bigint AS unpriced_minutes
  FROM bounds, posted, summed
"""
_PROJECT = """
WITH chosen AS (SELECT CAST(:owner AS uuid) AS project_id),
payer AS (SELECT DISTINCT account_id FROM project_accounts WHERE project_id = :owner),
"""
_ACCOUNT = """
WITH payer AS (SELECT CAST(:owner AS uuid) AS account_id),
chosen AS (SELECT DISTINCT project_id FROM project_accounts WHERE account_id = :owner),
"""
_OF_PROJECT, _OF_ACCOUNT = (sa.text(clauses(of, OUTLOOK, _FORECAST)) for of in (_PROJECT, _ACCOUNT))
_MONTH = sa.text(
    """
    SELECT date_trunc('month', app_now(), 'UTC') AS since,
           (date_trunc('month', app_now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC' AS until
    """
)


async def project_forecast(connection: Statements, project_id: UUID, *, currency: str) -> ForecastOut:
    """Forecast of the project's clusters, whichever account pays."""
    return await _forecast(connection, _OF_PROJECT, project_id, currency)


async def account_forecast(connection: Statements, account_id: UUID, *, currency: str) -> ForecastOut:
    """Forecast of all projects of the account, for the time that it pays for them."""
    return await _forecast(connection, _OF_ACCOUNT, account_id, currency)


async def _forecast(connection: Statements, statement: sa.TextClause, owner: UUID, currency: str) -> ForecastOut:
    month = (await connection.execute(_MONTH)).one()
    parameters = {"owner": owner, "currency": currency, "since": month.since, "until": month.until}
    row = (await connection.execute(statement, parameters)).one()
    so_far, forecast = Money.of(row.so_far, currency), Money.of(row.cost, currency)
    posted = Money.of(row.posted, currency)
    return ForecastOut(
        since=row.since,
        until=row.until,
        now=row.now,
        posted=posted,
        accruing=so_far - posted,
        so_far=so_far,
        to_come=forecast - so_far,
        forecast=forecast,
        unpriced_minutes=row.unpriced_minutes,
    )
