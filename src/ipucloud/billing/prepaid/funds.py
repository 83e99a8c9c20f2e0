"""An account's funds: its balances minus unposted usage and holds."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.reports.outlook import outlook
from ipucloud.contract.wallet import FundsOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

# Usage since the last closed hour, in one statement with the balances, so that nothing counts twice.
_LAST_CLOSED = """
coalesce((SELECT max(hour) + interval '1 hour' FROM hour_closes WHERE closed_at IS NOT NULL), '-infinity')
"""
POSTED = """
EXISTS (SELECT FROM usage_charges u
         WHERE u.account_id IN (SELECT a.account_id FROM project_accounts a WHERE a.project_id = h.project_id)
           AND u.hour >= date_trunc('hour', h.created_at, 'UTC') AND u.cluster_id = h.cluster_id)
"""
"""Whether the first hour of a hold `h` was posted."""
GONE = "c.state IN ('error', 'suspending', 'suspended', 'deleting', 'deleted')"
"""Whether a cluster `c` no longer needs its hold: its usage is known."""

FUNDS = clauses(
    "chosen AS (SELECT DISTINCT project_id FROM project_accounts WHERE account_id IN (SELECT account_id FROM payer)),",
    outlook(_LAST_CLOSED, "date_trunc('second', app_now(), 'UTC')"),
    """
    , unposted AS (
      SELECT account_id, currency, cluster_id, sum(accrued) AS cost FROM outlook
       GROUP BY account_id, currency, cluster_id
    ), held AS (
      SELECT h.account_id, h.currency, sum(greatest(0, h.amount - coalesce(a.cost, 0))) AS amount
        FROM create_holds h
        JOIN billed_clusters c ON c.project_id = h.project_id AND c.id = h.cluster_id
        LEFT JOIN unposted a ON (a.account_id, a.currency, a.cluster_id) = (h.account_id, h.currency, h.cluster_id)
       WHERE h.account_id IN (SELECT account_id FROM payer) AND h.released_at IS NULL
    """,
    f"AND NOT {GONE} AND NOT {POSTED} GROUP BY h.account_id, h.currency",
    """
    ), balance AS (
      SELECT owner_id AS account_id, currency, sum(credits - debits) AS net,
             coalesce(sum(credits - debits) FILTER (WHERE code = 'wallet'), 0) AS wallet,
             coalesce(sum(credits - debits) FILTER (WHERE code = 'promo'), 0) AS credit,
             coalesce(sum(debits - credits) FILTER (WHERE code = 'receivable'), 0) AS outstanding,
             coalesce(sum(debits - credits) FILTER (WHERE code = 'unbilled'), 0) AS unbilled
        FROM ledger_accounts
       WHERE owner_id IN (SELECT account_id FROM payer) GROUP BY owner_id, currency
    ), funds AS (
      SELECT payer.account_id, payer.currency, coalesce(b.wallet, 0) AS wallet, coalesce(b.credit, 0) AS credit,
             coalesce(b.outstanding, 0) AS outstanding, coalesce(b.unbilled, 0) AS unbilled,
             coalesce(a.cost, 0) AS unposted, coalesce(held.amount, 0) AS held,
             coalesce(b.net, 0) - coalesce(a.cost, 0) AS left_over
        FROM payer
        LEFT JOIN balance b USING (account_id, currency)
        LEFT JOIN (SELECT account_id, currency, sum(cost) AS cost FROM unposted GROUP BY account_id, currency) a
          USING (account_id, currency)
        LEFT JOIN held USING (account_id, currency)
    )
    """,
)
"""CTEs that follow a CTE `payer` (account_id, currency): `funds` by account; `left_over` is before holds."""


class Parts(NamedTuple):
    """The amounts of which `available` is made."""

    wallet: Decimal
    credit: Decimal
    outstanding: Decimal
    unbilled: Decimal
    unposted: Decimal
    held: Decimal


class _Funds(NamedTuple):
    account_id: UUID
    currency: str
    parts: Parts
    left_over: Decimal
    when_empty: str | None
    state: str | None
    state_entered_at: datetime | None


_OF_ACCOUNT = Query(
    clauses(
        "WITH payer AS (SELECT CAST(:account_id AS uuid) AS account_id, CAST(:currency AS text) AS currency),",
        FUNDS,
        """
        SELECT f.*, p.when_empty, p.state, p.state_entered_at
          FROM funds f LEFT JOIN prepaid_accounts p USING (account_id, currency)
        """,
    ),
    _Funds,
)


async def funds_of(connection: Statements, account_id: UUID, *, currency: str) -> FundsOut:
    """The account's funds at this moment."""
    row = await _OF_ACCOUNT.one(connection, {"account_id": account_id, "currency": currency})
    return FundsOut(
        account_id=row.account_id,
        when_empty=row.when_empty,
        state=row.state,
        state_entered_at=row.state_entered_at,
        **{name: Money.of(amount, currency) for name, amount in row.parts._asdict().items()},
        available=Money.of(row.left_over - row.parts.held, currency),
    )
