"""Explains charges by their usage interval, price and formula."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from ipucloud.billing.metering.credits import cited
from ipucloud.db.documents import money, rfc3339, written
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

MAX_DAYS = 31
_CHARGES = Query(
    f"""
    SELECT json_build_object(
             'id', to_char(c.hour AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24')
                   || format('-%s-%s-%s', c.resource_id, c.first_minute, c.rev),
             'billing_month', c.billing_month, 'account_id', c.account_id, 'hour', {rfc3339("c.hour")},
             'started_at', {rfc3339("c.started_at")}, 'ended_at', {rfc3339("c.ended_at")},
             'posted_at', {rfc3339("c.posted_at")}, 'correction', c.rev > 0, 'first_minute', c.first_minute,
             'minutes', c.minutes, 'cost', {money("c.cost", "c.currency")},
             'formula', format('%s min × %s × %s %s = %s', c.minutes,
                               CASE WHEN c.credited = 0 THEN c.quantity::text
                                    ELSE format('(%s − %s credited)', c.quantity + c.credited, c.credited) END,
                               {written("c.unit_price", "c.currency")}, c.currency, {written("c.cost", "c.currency")}),
             'usage', json_build_object(
               'interval_id', u.id, 'anchor_at', {rfc3339("u.anchor_at")}, 'started_at', {rfc3339("u.started_at")},
               'ended_at', {rfc3339("u.ended_at")}, 'flavor', u.flavor, 'machines', c.quantity + c.credited,
               'credited_machines', c.credited, 'credited_for', {cited("c.interval_id", "u.ended_at")}),
             'price', json_build_object(
               'id', c.price_id, 'sku', c.sku, 'region', c.region, 'unit_price', {money("c.unit_price", "c.currency")},
               'list_unit_price', {money("c.list_unit_price", "c.currency")}, 'contract', k.id IS NOT NULL,
               'valid_from', {rfc3339("coalesce(l.valid_from, k.valid_from)")},
               'valid_to', {rfc3339("coalesce(l.valid_to, k.valid_to)")}, 'source', coalesce(l.source, k.source))
           )::text AS document
      FROM usage_charges c
      JOIN usage_intervals u ON u.id = c.interval_id
      LEFT JOIN prices l ON l.id = c.price_id
      LEFT JOIN contract_prices k ON k.id = c.price_id
     WHERE c.resource_id = :cluster_id AND c.project_id = :project_id
       AND c.hour >= coalesce(CAST(:since AS timestamptz), app_now() - interval '1 day') - interval '1 hour'
       AND c.hour < least(coalesce(CAST(:until AS timestamptz), app_now()),
                          coalesce(CAST(:since AS timestamptz), app_now()) + interval '31 days')
       AND c.ended_at > coalesce(CAST(:since AS timestamptz), app_now() - interval '1 day')
     ORDER BY c.hour, c.first_minute, c.rev
    """,  # noqa: S608  # our own text
    str,
)
_KNOWN = Query(
    """
    SELECT EXISTS (SELECT FROM resources
                    WHERE project_id = :project_id AND id = :cluster_id AND quantity IS NOT NULL)
    """,
    bool,
)


async def knows_cluster(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> bool:
    return await _KNOWN.one(connection, {"project_id": project_id, "cluster_id": cluster_id})


async def charges_of(
    connection: Statements, *, project_id: UUID, cluster_id: UUID, since: datetime | None, until: datetime | None
) -> Sequence[str]:
    """The cluster's charges for usage in [since, until), the last day when not given, in order of time: as JSON.

    Each is as posted, with its inputs. A correction adds or reverses minutes of an hour that was already closed.
    """
    parameters = {"project_id": project_id, "cluster_id": cluster_id, "since": since, "until": until}
    return await _CHARGES.all(connection, parameters)
