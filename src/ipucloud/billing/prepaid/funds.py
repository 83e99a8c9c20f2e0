"""Prepaid accounts: their policies, and their funds: balances and credits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.tax import Taxpayer, treatment_of
from ipucloud.billing.prepaid.arithmetic import Credit, Standing
from ipucloud.billing.reports.outlook import outlook
from ipucloud.contract.wallet import WARN_HOURS, FundsOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money, places_of, plain

_SET = sa.text(
    """
    INSERT INTO prepaid_accounts AS p (account_id, currency, when_empty, warn_hours)
    VALUES (:account_id, :currency, :when_empty, :warn_hours)
    ON CONFLICT (account_id) DO UPDATE
       SET when_empty = excluded.when_empty, warn_hours = excluded.warn_hours,
           low_hours = CASE WHEN p.warn_hours = excluded.warn_hours THEN p.low_hours END, version = p.version + 1
     WHERE (p.when_empty, p.warn_hours) <> (excluded.when_empty, excluded.warn_hours)
    """
)
_END = sa.text("DELETE FROM prepaid_accounts WHERE account_id = :account_id")


async def set_prepaid(
    connection: AsyncConnection,
    account_id: UUID,
    *,
    currency: str,
    when_empty: str,
    warn_hours: Sequence[int] = WARN_HOURS,
) -> None:
    """Make the account prepaid from now on. Safe to repeat. The account must exist.

    `warn_hours`: funds that last no longer than so many hours are reported.
    """
    values = {"account_id": account_id, "currency": currency, "when_empty": when_empty}
    await connection.execute(_SET, values | {"warn_hours": sorted(warn_hours, reverse=True)})


async def end_prepaid(connection: AsyncConnection, account_id: UUID) -> bool:
    """End the account's prepayment; False if it was not prepaid. Its holds are released later."""
    return (await connection.execute(_END, {"account_id": account_id})).rowcount == 1


# Usage since the last closed hour, in one statement with the balances, so that nothing counts twice.
_LAST_CLOSED = """
coalesce((SELECT max(hour) + interval '1 hour' FROM hour_closes WHERE closed_at IS NOT NULL), '-infinity')
"""
# What is used now needs a moment after it; nothing is counted there.
_SOON = "date_trunc('second', app_now(), 'UTC') + interval '1 hour'"
POSTED = """
EXISTS (SELECT FROM usage_charges u
         WHERE u.account_id IN (SELECT a.account_id FROM project_accounts a WHERE a.project_id = h.project_id)
           AND u.hour >= date_trunc('hour', h.created_at, 'UTC') AND u.resource_id = h.cluster_id)
"""
"""Whether the first hour of a hold `h` was posted."""
GONE = "c.state IN ('error', 'suspending', 'suspended', 'deleting', 'deleted')"
"""Whether a cluster `c` no longer needs its hold: its usage is known."""

_USAGE = clauses(
    "chosen AS (SELECT DISTINCT project_id FROM project_accounts WHERE account_id IN (SELECT account_id FROM payer)),",
    outlook(_LAST_CLOSED, _SOON),
    """
    , unposted AS (
      SELECT account_id, currency, resource_id, sum(accrued) AS cost FROM outlook
       GROUP BY account_id, currency, resource_id
    ), spent AS (
      SELECT account_id, currency, sum(cost) AS cost FROM unposted GROUP BY account_id, currency
    ), running AS (
      SELECT paid.account_id, live.currency, sum(live.quantity * paid.unit_price) * 60 AS per_hour
        FROM live
        JOIN paid ON (paid.project_id, paid.sku, paid.region, paid.currency)
                   = (live.project_id, live.sku, live.region, live.currency)
                 AND paid.valid_from <= live.now AND paid.valid_to > live.now
       WHERE live.begins <= live.now AND live.ends > live.now GROUP BY paid.account_id, live.currency
    ), held AS (
      SELECT h.account_id, h.currency, sum(greatest(0, h.amount - coalesce(a.cost, 0))) AS amount
        FROM create_holds h
        JOIN cluster_lives c ON c.project_id = h.project_id AND c.id = h.cluster_id
        LEFT JOIN unposted a ON (a.account_id, a.currency, a.resource_id) = (h.account_id, h.currency, h.cluster_id)
       WHERE h.account_id IN (SELECT account_id FROM payer) AND h.released_at IS NULL
    """,
    f"AND NOT {GONE} AND NOT {POSTED} GROUP BY h.account_id, h.currency)",
)
# As `invoices.credits` uses them: by usage that began before the expiry, in months that are not invoiced. The charge of
# an hour is of its beginning, so an hour of usage counts as a whole. Only what has expired needs the charges.
_CREDITS = """
, credit AS (
  SELECT account_id, currency, expires_at, rest,
         CASE WHEN expires_at <= (SELECT now FROM bounds) THEN (
           SELECT coalesce(sum(charged.cost), 0)
             FROM billing_months b
            CROSS JOIN LATERAL (
              SELECT sum(u.cost) AS cost FROM usage_charges u
               WHERE u.billing_month = b.month AND u.account_id = c.account_id AND u.currency = c.currency
                 AND u.hour < c.expires_at AND u.started_at < c.expires_at) AS charged
            WHERE b.month::timestamp AT TIME ZONE 'UTC' < c.expires_at
              AND NOT EXISTS (SELECT FROM invoiced_months i WHERE i.month = b.month)
              AND NOT EXISTS (SELECT FROM invoices i WHERE i.month = b.month AND i.account_id = c.account_id
                                                       AND i.currency = c.currency)
         ) + (
           SELECT coalesce(sum(before.cost), 0)
             FROM live
             JOIN paid ON (paid.project_id, paid.sku, paid.region, paid.currency)
                        = (live.project_id, live.sku, live.region, live.currency)
                      AND paid.valid_from < live.ends AND paid.valid_to > live.begins
            CROSS JOIN LATERAL priced_minutes(
                   live.anchor_at, live.begins,
                   least(live.ends, live.now,
                         date_trunc('hour', c.expires_at - interval '1 microsecond', 'UTC') + interval '1 hour'),
                   paid.valid_from, paid.valid_to, live.quantity, paid.unit_price) AS before
            WHERE paid.account_id = c.account_id AND live.currency = c.currency AND before.started_at < c.expires_at
         ) END AS used_before
    FROM (SELECT p.account_id, p.currency, p.expires_at, p.amount - coalesce((
                   SELECT sum(u.amount) FROM promo_credit_uses u WHERE u.credit_id = p.id), 0) AS rest
            FROM promo_credits p JOIN payer USING (account_id, currency)) AS c
   WHERE rest > 0
), credits AS (
  SELECT account_id, currency, array_agg(expires_at ORDER BY expires_at) AS expiries,
         array_agg(rest ORDER BY expires_at) AS rests, array_agg(used_before ORDER BY expires_at) AS used_before
    FROM credit GROUP BY account_id, currency
), balance AS (
  SELECT owner_id AS account_id, currency,
         coalesce(sum(credits - debits) FILTER (WHERE code = 'wallet'), 0) AS wallet,
         coalesce(sum(debits - credits) FILTER (WHERE code = 'receivable'), 0) AS outstanding,
         coalesce(sum(debits - credits) FILTER (WHERE code = 'unbilled'), 0) AS unbilled
    FROM ledger_accounts WHERE owner_id IN (SELECT account_id FROM payer) GROUP BY owner_id, currency
)
SELECT payer.account_id, payer.currency, (SELECT now FROM bounds) AS now,
       coalesce(balance.wallet, 0) AS wallet, coalesce(balance.outstanding, 0) AS outstanding,
       coalesce(balance.unbilled, 0) AS unbilled, coalesce(spent.cost, 0) AS unposted,
       coalesce(held.amount, 0) AS held, coalesce(running.per_hour, 0) AS per_hour,
       coalesce(credits.expiries, '{}') AS expiries, coalesce(credits.rests, '{}') AS rests,
       coalesce(credits.used_before, '{}') AS used_before,
       a.country, a.tax_id, a.tax_exempt, seller.country AS seller_country,
       (SELECT r.rate FROM tax_rates r
         WHERE r.kind = 'standard' AND r.country = coalesce(a.country, seller.country)
           AND daterange(r.valid_from, r.valid_to) @> (app_now() AT TIME ZONE 'UTC')::date) AS standard_rate,
       p.when_empty, p.state, p.state_entered_at, coalesce(p.warn_hours, '{}') AS warn_hours, p.low_hours
  FROM payer
  LEFT JOIN prepaid_accounts p USING (account_id, currency)
  LEFT JOIN balance USING (account_id, currency)
  LEFT JOIN spent USING (account_id, currency)
  LEFT JOIN held USING (account_id, currency)
  LEFT JOIN running USING (account_id, currency)
  LEFT JOIN credits USING (account_id, currency)
  JOIN billing_accounts a ON a.id = payer.account_id
 CROSS JOIN sellers AS seller
"""


class Facts(NamedTuple):
    """An account at `now`: what its funds follow from. `standard_rate` None: no tax rate of its country is in force."""

    account_id: UUID
    currency: str
    now: datetime
    wallet: Decimal
    outstanding: Decimal
    unbilled: Decimal
    unposted: Decimal
    held: Decimal
    per_hour: Decimal
    expiries: list[datetime]
    rests: list[Decimal]
    used_before: list[Decimal | None]
    country: str | None
    tax_id: str | None
    tax_exempt: bool
    seller_country: str
    standard_rate: Decimal | None
    when_empty: str | None
    state: str | None
    state_entered_at: datetime | None
    warn_hours: list[int]
    low_hours: int | None

    @property
    def tax_rate(self) -> Decimal | None:
        """The rate of an invoice of today; None if none is in force."""
        taxpayer = Taxpayer(self.country, self.tax_id, self.tax_exempt)
        return self.standard_rate if treatment_of(taxpayer, self.seller_country) == "standard" else Decimal(0)

    @property
    def standing(self) -> Standing:
        return Standing(
            now=self.now,
            places=places_of(self.currency),
            wallet=self.wallet,
            outstanding=self.outstanding,
            used=self.unbilled + self.unposted,
            held=self.held,
            per_hour=self.per_hour,
            tax_rate=self.tax_rate or Decimal(0),
            credits=[Credit(*each) for each in zip(self.expiries, self.rests, self.used_before, strict=True)],
        )


_OF_ACCOUNT = Query(
    clauses(
        "WITH payer AS (SELECT CAST(:account_id AS uuid) AS account_id, CAST(:currency AS text) AS currency),",
        _USAGE,
        _CREDITS,
    ),
    Facts,
)
# MATERIALIZED: the planner would ask for the accounts once for each of the rows that it joins.
_OF_PREPAID = Query(
    clauses(
        """
        WITH payer AS MATERIALIZED (
          SELECT p.account_id, p.currency FROM prepaid_accounts p
           WHERE (CAST(:suspending AS boolean) IS NULL OR p.when_empty = 'suspend' AND p.state = 'empty')
             AND (CAST(:project_id AS uuid) IS NULL
                  OR p.account_id = (SELECT account_id FROM payer_of(:project_id, app_now())))
        ),
        """,
        _USAGE,
        _CREDITS,
    ),
    Facts,
)


async def facts_of(connection: Statements, account_id: UUID, *, currency: str) -> Facts:
    """The account at this moment; the account must exist."""
    return await _OF_ACCOUNT.one(connection, {"account_id": account_id, "currency": currency})


async def prepaid_facts(
    connection: Statements, *, suspending: bool = False, project_id: UUID | None = None
) -> Sequence[Facts]:
    """Prepaid accounts at this moment: all, or the project's payer; `suspending`: only empty ones that suspend."""
    values = {"suspending": suspending or None, "project_id": project_id}
    return await _OF_PREPAID.all(connection, values)


async def funds_of(connection: Statements, account_id: UUID, *, currency: str, hold_minutes: int = 60) -> FundsOut:
    """The account's funds at this moment, without `top_up`.

    `hold_minutes` are those of a new cluster that funds must suffice for.
    """
    return shown(await facts_of(connection, account_id, currency=currency), hold_minutes)


def shown(facts: Facts, hold_minutes: int) -> FundsOut:
    """The funds as answers have them."""
    standing, until = facts.standing, facts.now + timedelta(minutes=hold_minutes)
    credit = standing.credit(until=until)
    amounts = {
        "wallet": facts.wallet,
        "credit": credit,
        "expiring": standing.credit() - credit,
        "outstanding": facts.outstanding,
        "unbilled": facts.unbilled,
        "unposted": facts.unposted,
        "held": facts.held,
        "tax": standing.tax(standing.used + standing.held, credit),
        "available": standing.available(until=until),
        "per_hour": facts.per_hour,
    }
    return FundsOut(
        account_id=facts.account_id,
        when_empty=facts.when_empty,
        state=None if facts.when_empty is None else standing.state,
        state_entered_at=facts.state_entered_at if facts.state == standing.state else None,
        tax_rate=None if facts.tax_rate is None else plain(facts.tax_rate),
        warn_hours=facts.warn_hours,
        lasts_until=standing.ends_at(),
        top_up=None,
        **{name: Money.of(amount, facts.currency) for name, amount in amounts.items()},
    )
