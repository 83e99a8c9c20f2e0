"""Why a charge is what it is: the fact, the price and the formula it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money, plain

MOST_DAYS = 31
_CHARGES = sa.text(
    """
    SELECT c.billing_month, c.hour, c.cluster_id, c.first_minute, c.rev, c.account_id, c.started_at, c.ended_at,
           c.posted_at, c.minutes, c.quantity, c.sku, c.region, c.currency, c.unit_price, c.list_unit_price, c.cost,
           c.price_id, c.interval_id, u.anchor_at, u.started_at AS used_from, u.ended_at AS used_until,
           coalesce(l.valid_from, k.valid_from) AS valid_from, coalesce(l.valid_to, k.valid_to) AS valid_to,
           coalesce(l.source, k.source) AS source, k.id IS NOT NULL AS contract
      FROM usage_charges c
      JOIN usage_intervals u ON u.id = c.interval_id
      LEFT JOIN prices l ON l.id = c.price_id
      LEFT JOIN contract_prices k ON k.id = c.price_id
     WHERE c.cluster_id = :cluster_id AND c.project_id = :project_id
       AND c.hour >= coalesce(CAST(:since AS timestamptz), app_now() - interval '1 day') - interval '1 hour'
       AND c.hour < least(coalesce(CAST(:until AS timestamptz), app_now()),
                          coalesce(CAST(:since AS timestamptz), app_now()) + interval '31 days')
       AND c.ended_at > coalesce(CAST(:since AS timestamptz), app_now() - interval '1 day')
     ORDER BY c.hour, c.first_minute, c.rev
    """
)
_KNOWN = sa.text("SELECT EXISTS (SELECT FROM clusters WHERE project_id = :project_id AND id = :cluster_id)")


@dataclass(frozen=True, slots=True)
class ChargedUsage:
    """The fact: so many machines were in use in [started_at, ended_at); minutes count from `anchor_at`."""

    interval_id: UUID
    anchor_at: datetime
    started_at: datetime
    ended_at: datetime | None
    machines: int


@dataclass(frozen=True, slots=True)
class ChargedPrice:
    """The price in force; `contract`: of this account alone."""

    id: UUID
    sku: str
    region: str
    unit_price: Money
    list_unit_price: Money
    contract: bool
    valid_from: datetime
    valid_to: datetime | None
    source: str


@dataclass(frozen=True, slots=True)
class ExplainedCharge:
    """A charge as it was posted, and what it was made from.

    Minutes `first_minute` to `first_minute + minutes` of the cluster, all of which began in [started_at, ended_at). A
    correction takes back or adds minutes of an hour that was closed before.
    """

    id: str
    billing_month: date
    account_id: UUID
    hour: datetime
    started_at: datetime
    ended_at: datetime
    posted_at: datetime
    correction: bool
    first_minute: int
    minutes: int
    cost: Money
    formula: str
    usage: ChargedUsage
    price: ChargedPrice


async def knows_cluster(connection: Statements, *, project_id: UUID, cluster_id: UUID) -> bool:
    found: bool = (await connection.execute(_KNOWN, {"project_id": project_id, "cluster_id": cluster_id})).scalar_one()
    return found


async def charges_of(
    connection: Statements, *, project_id: UUID, cluster_id: UUID, since: datetime | None, until: datetime | None
) -> Sequence[ExplainedCharge]:
    """The cluster's charges for usage in [since, until), the last day when not given, in order of time."""
    parameters = {"project_id": project_id, "cluster_id": cluster_id, "since": since, "until": until}
    return [_explained(row) for row in await connection.execute(_CHARGES, parameters)]


def _explained(row: sa.Row[Any]) -> ExplainedCharge:
    return ExplainedCharge(
        id=f"{row.hour:%Y%m%dT%H}-{row.cluster_id}-{row.first_minute}-{row.rev}",
        billing_month=row.billing_month,
        account_id=row.account_id,
        hour=row.hour,
        started_at=row.started_at,
        ended_at=row.ended_at,
        posted_at=row.posted_at,
        correction=row.rev > 0,
        first_minute=row.first_minute,
        minutes=row.minutes,
        cost=Money.of(row.cost, row.currency),
        formula=f"{row.minutes} min × {row.quantity} × {plain(row.unit_price)} {row.currency} = {plain(row.cost)}",
        usage=ChargedUsage(row.interval_id, row.anchor_at, row.used_from, row.used_until, row.quantity),
        price=ChargedPrice(
            id=row.price_id,
            sku=row.sku,
            region=row.region,
            unit_price=Money.of(row.unit_price, row.currency),
            list_unit_price=Money.of(row.list_unit_price, row.currency),
            contract=row.contract,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            source=row.source,
        ),
    )
